#include "reference/kernels/record_agreement.hpp"

#include "tests/catch.hpp"

using namespace tempera::reference;

TEST_CASE("records share restarts up to their first difference, padding included") {
  const Record e{{1}, true}, a_e{{0, 1}, true}, a_a{{0, 0}, false};
  CHECK(last_shared_restart(e, a_e) == 1);
  CHECK(last_shared_restart(a_e, a_a) == 2);
  CHECK(last_shared_restart(a_a, a_e) == 2);
  CHECK(last_shared_restart({{0, 1}, true}, {{0, 0, 0}, false}) == 2);
}
