#include "gpu/core/lottery/lottery.hpp"

#include <stdexcept>

#include "gpu/core/lottery/winner.hpp"
#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera::gpu;

namespace {

/// Keeps what it is told, and draws with the words of another.
class WinnerListener final : public Lottery {
 public:
  explicit WinnerListener(Lottery& source) : source_(source) {}
  Word word(std::span<const std::uint64_t> tickets, const Draw& draw) override {
    return source_.word(tickets, draw);
  }
  void won(const Draw& draw, std::size_t winner) override {
    told.emplace_back(draw.address.turn, winner);
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> told;

 private:
  Lottery& source_;
};

}  // namespace

TEST_CASE("a draw is a function of seed and address") {
  law("the same again, and from another object", [](std::uint64_t seed, std::uint32_t turn) {
    const std::vector<std::uint64_t> tickets{3, 0, 5, 1, 90};
    const Draw draw{seed, {1, 6, 2, turn % 1000, 4, Purpose::accept}};
    PhiloxLottery one;
    const std::size_t first = one.draw(tickets, draw);
    one.draw(tickets, {seed, {7, 7, 7, 7, 7, Purpose::swap}});
    one.draw(tickets, {seed + 1, draw.address});
    RC_ASSERT(one.draw(tickets, draw) == first);
    RC_ASSERT(PhiloxLottery().draw(tickets, draw) == first);
    RC_ASSERT(tickets[first] > 0);
  });
}

// False-alarm rate 1e-9 (the seed is fixed, so the verdict never changes): with n = 200,000 draws
// the count of an outcome of probability q is within 6.2 standard deviations, sqrt(n q (1−q))
// each. A shift of an outcome's probability by 0.01 is seen with power above 0.99: it is 0.01·n =
// 2000 against 6.2·224 = 1387, 2.7 deviations further.
TEST_CASE("Philox draws with the frequencies of the tickets") {
  const std::vector<std::uint64_t> tickets{1, 2, 3, 0, 4};
  std::vector<double> counts(tickets.size());
  PhiloxLottery lottery;
  constexpr int n = 200000;
  for (int i = 0; i < n; ++i)
    counts[lottery.draw(
        tickets, {20261121, {0, 0, 0, static_cast<std::uint32_t>(i), 0, Purpose::accept}})] += 1;
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    const double q = static_cast<double>(tickets[i]) / 10.0;
    CHECK(std::abs(counts[i] - n * q) <= 6.2 * std::sqrt(n * q * (1 - q)));
  }
}

TEST_CASE("a lottery without tickets is an error") {
  PhiloxLottery lottery;
  const std::vector<std::uint64_t> none{0, 0};
  CHECK_THROWS_AS(lottery.draw(none, {}), tempera::Bug);
}

TEST_CASE("a tape replays its winners and refuses what cannot win") {
  TapeLottery tape({1, 0, 1});
  const std::vector<std::uint64_t> tickets{2, 1};
  const std::vector<std::uint64_t> only_first{2, 0};
  CHECK(tape.draw(tickets, {}) == 1);
  CHECK(tape.draw(tickets, {}) == 0);
  CHECK_THROWS_AS(tape.draw(only_first, {}), tempera::Bug);
  CHECK(tape.at_end());
  CHECK_THROWS_AS(tape.draw(tickets, {}), tempera::Bug);
}

TEST_CASE("every outcome that a lottery chooses is drawn, at both ends of its words and inside") {
  law("any tickets", [](const std::vector<std::uint64_t>& generated) {
    std::vector<std::uint64_t> tickets{1};
    for (const std::uint64_t t : generated) tickets.push_back(t % (std::uint64_t{1} << 40));
    std::vector<std::size_t> winners;
    for (std::size_t i = 0; i < tickets.size(); ++i)
      if (tickets[i] > 0) winners.insert(winners.end(), 3, i);  // the three words in turn
    TapeLottery tape(winners);
    for (const std::size_t winner : winners) RC_ASSERT(tape.draw(tickets, {}) == winner);
    RC_ASSERT(tape.at_end());
  });
}

TEST_CASE("a lottery that looks again chooses among what is possible still") {
  struct Asked final : ChoosingLottery {
    std::size_t choose(std::span<const std::uint64_t> tickets, const Draw&) override {
      asked.emplace_back(tickets.begin(), tickets.end());
      return 1;
    }
    std::vector<std::vector<std::uint64_t>> asked;
  };
  Asked lottery;
  const std::vector<std::uint64_t> tickets{3, 4, 5};
  CHECK(lottery.draw(tickets, {}) == 1);
  CHECK(lottery.redraw_conditioned(tickets, 2, {}) == 1);
  CHECK(lottery.asked == std::vector<std::vector<std::uint64_t>>{{3, 4, 5}, {3, 4}});
}

TEST_CASE("the words of one outcome are its least, its largest and one inside") {
  TapeLottery tape({1, 1, 1, 1});
  const std::vector<std::uint64_t> tickets{1, 2, 1};
  const auto upper = [&] { return tape.word(tickets, {}).limb[3]; };
  CHECK(upper() == 0x40000000U);
  CHECK(upper() == 0xBFFFFFFFU);
  const std::uint32_t inside = upper();
  CHECK(inside > 0x40000000U);
  CHECK(inside < 0xBFFFFFFFU);
  CHECK(upper() == 0x40000000U);
}

TEST_CASE("a draw that ends elsewhere than was chosen is an error that names the draw") {
  TapeLottery tape({1, 2});
  const std::vector<std::uint64_t> tickets{3, 4, 5};
  const Draw first{0, {3, 5, 1, 70, 9, Purpose::proposal_token}};
  tape.word(tickets, first);
  tape.word(tickets, {});
  CHECK_THROWS_WITH(
      tape.won(first, 2),
      Catch::Contains("proposal token of prompt 3, sample 5, rung 1, turn 70, position 9") &&
          Catch::Contains("ended at index 2") && Catch::Contains("selects index 1"));
  CHECK_NOTHROW(tape.won({}, 2));
  CHECK_THROWS_AS(tape.won({}, 2), tempera::Bug);  // nothing was asked for
}

TEST_CASE("a lottery is told the winner of each draw, by its address") {
  PhiloxLottery philox_lottery;
  WinnerListener listener(philox_lottery);
  const std::vector<std::uint64_t> tickets{3, 0, 5, 1, 90};
  for (const std::uint32_t turn : {4U, 2U}) {
    const Draw draw{8, {.turn = turn}};
    const std::size_t winner = listener.draw(tickets, draw);
    CHECK(listener.told.back() == std::make_pair(turn, winner));
    CHECK(winner == philox_lottery.draw(tickets, draw));
  }
  CHECK(listener.told.size() == 2);
}
