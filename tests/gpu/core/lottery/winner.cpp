#include "gpu/core/lottery/winner.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <numeric>
#include <vector>

#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera::gpu;
using boost::multiprecision::cpp_int;

TEST_CASE("the threshold is floor(word · W / 2^128)") {
  law("against big integers", [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d,
                                 std::uint64_t spread, std::uint8_t shift) {
    // Small and large totals alike, and words at the top of their range.
    const std::uint64_t total = (spread >> (shift % 64)) | 1U;
    const Word word = shift % 3 == 0 ? Word{{~0U, ~0U, ~0U, ~0U}} : Word{{a, ~b, c, ~d}};
    cpp_int exact = 0;
    for (int i = 3; i >= 0; --i) exact = (exact << 32) + word.limb[i];
    exact = exact * total >> 128;
    RC_ASSERT(cpp_int(threshold_of(word, total)) == exact);
    RC_ASSERT(threshold_of(word, total) < total);
  });
}

TEST_CASE("a winner's law is its share of the tickets, exactly") {
  law("of the thresholds 0 … W − 1, tickets[i] make i the winner",
      [](const std::vector<std::uint8_t>& generated) {
        const std::vector<std::uint64_t> tickets(generated.begin(), generated.end());
        const std::uint64_t total =
            std::accumulate(tickets.begin(), tickets.end(), std::uint64_t{0});
        std::vector<std::uint64_t> wins(tickets.size());
        for (std::uint64_t threshold = 0; threshold < total; ++threshold)
          ++wins.at(winner_of(tickets.data(), tickets.size(), threshold));
        RC_ASSERT(wins == tickets);
      });
}
