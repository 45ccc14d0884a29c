#include "gpu/core/lottery/accept_tickets.hpp"

#include <limits>

#include "base/error.hpp"
#include "tests/catch.hpp"

using tempera::gpu::accept_tickets;

TEST_CASE("acceptance as tickets") {
  constexpr std::uint64_t all = std::uint64_t{1} << 62;
  CHECK(accept_tickets(0.0) == std::array<std::uint64_t, 2>{all, 0});
  CHECK(accept_tickets(12.5) == std::array<std::uint64_t, 2>{all, 0});
  CHECK(accept_tickets(std::numeric_limits<double>::infinity()) ==
        std::array<std::uint64_t, 2>{all, 0});
  CHECK(accept_tickets(-std::numeric_limits<double>::infinity()) ==
        std::array<std::uint64_t, 2>{0, all});
  // exp(−ln 2) is 1/2 to one unit in the last place, 2^-53 of it.
  const auto half = accept_tickets(-0x1.62e42fefa39efp-1);
  CHECK(half[0] + half[1] == all);
  CHECK(half[0] >= all / 2 - (all >> 54));
  CHECK(half[0] <= all / 2 + (all >> 54));
}

TEST_CASE("an acceptance of 2^-40 keeps its tickets") {
  // 40 ln 2 rounded to double errs by 2^-48 and less of 2^22 tickets; the floor takes one more.
  const auto rare = accept_tickets(-40 * 0x1.62e42fefa39efp-1);
  CHECK(rare[0] >= (std::uint64_t{1} << 22) - 1);
  CHECK(rare[0] <= std::uint64_t{1} << 22);
}

TEST_CASE("NaN is an error, never a rejection") {
  CHECK_THROWS_AS(accept_tickets(std::numeric_limits<double>::quiet_NaN()), tempera::ModelError);
}
