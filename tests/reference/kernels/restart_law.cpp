#include "reference/kernels/restart_law.hpp"

#include "base/error.hpp"
#include "tests/catch.hpp"

using namespace tempera::reference;

TEST_CASE("a restart law covers 1..T and sums to one") {
  CHECK(RestartLaw::uniform(4)(4) == Rational(1, 4));
  const RestartLaw law = parse_restart_law("1/2,0.25,1/4", 3, "--restart");
  CHECK(law.horizon() == 3);
  CHECK(law(1) == Rational(1, 2));
  CHECK_THROWS_WITH(parse_restart_law("1/2,1/2", 3, "--restart"),
                    Catch::Contains("has 2 weights; give one for each of the 3 positions"));
  CHECK_THROWS_WITH(parse_restart_law("1/2,1/3", 2, "--restart"), Catch::Contains("sum to 5/6"));
  CHECK_THROWS_WITH(parse_restart_law("3/2,-1/2", 2, "--restart"), Catch::Contains("negative"));
}
