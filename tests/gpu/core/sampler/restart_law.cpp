#include "gpu/core/sampler/restart_law.hpp"

#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu {

TEST_CASE("the uniform restart law gives every position of the horizon one ticket") {
  const auto law = RestartLaw::uniform(5);
  CHECK(std::vector<std::uint64_t>(law.tickets().begin(), law.tickets().end()) ==
        std::vector<std::uint64_t>{1, 1, 1, 1, 1});
}

TEST_CASE("a restart law keeps the tickets that it is given") {
  const RestartLaw law({3, 0, 2});
  CHECK(std::vector<std::uint64_t>(law.tickets().begin(), law.tickets().end()) ==
        std::vector<std::uint64_t>{3, 0, 2});
}

TEST_CASE("restart weights are those of equal parts of the positions, and totals go up to each") {
  const auto of = [](const std::vector<std::uint64_t>& weights, std::size_t horizon) {
    const RestartLaw law = RestartLaw::in_parts(weights, horizon);
    const auto tickets = law.tickets();
    return std::vector<std::uint64_t>(tickets.begin(), tickets.end());
  };
  CHECK(of({3, 1}, 4) == std::vector<std::uint64_t>{3, 3, 1, 1});
  CHECK(of({3, 1}, 3) == std::vector<std::uint64_t>{3, 3, 1});
  CHECK(of({4, 0, 1}, 5) == std::vector<std::uint64_t>{4, 4, 0, 0, 1});
  CHECK(of({}, 3) == std::vector<std::uint64_t>{1, 1, 1});
  const RestartLaw law({4, 0, 2});
  CHECK(law.total(1) == 4);
  CHECK(law.total(2) == 4);
  CHECK(law.total(3) == 6);
}

// ω(r) = tickets[r − 1] / Σ: what is drawn is a position from 1 on, and never one without tickets.
// With 8 draws of each of 2 possible positions a sound law misses one of them once in 2^15 runs;
// the draws are pinned by their addresses, so this run is always the same.
TEST_CASE("a position without tickets is never drawn, and every other one is") {
  TableModel model = scattered_table(3, 1);
  const Context context{{2}, {0}};
  PhiloxLottery lottery;
  SmallRun small(model, context, {1.0}, lottery, 5);
  const RestartLaw law({0, 1, 0, 1});
  std::vector<int> drawn(4);
  for (std::size_t number = 0; number < 16; ++number) {
    Turn turn = small.turn(0, number);
    const std::size_t r = turn.draw(law);
    REQUIRE(r >= 1);
    REQUIRE(r <= 4);
    ++drawn[r - 1];
  }
  CHECK(drawn[0] == 0);
  CHECK(drawn[2] == 0);
  CHECK(drawn[1] > 0);
  CHECK(drawn[3] > 0);
}

}  // namespace tempera::gpu
