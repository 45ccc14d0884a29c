#include "gpu/lottery/lottery.hpp"

#include <stdexcept>
#include <string>

#include "gpu/lottery/winner.hpp"

namespace tempera::gpu {

std::uint64_t total_of(std::span<const std::uint64_t> tickets) {
  std::uint64_t total = 0;
  for (const std::uint64_t t : tickets) total += t;
  if (total == 0) throw std::domain_error("a lottery without tickets: no outcome is allowed");
  return total;
}

std::size_t PhiloxLottery::draw(std::span<const std::uint64_t> tickets, const Draw& draw) {
  const Word word = philox(counter_of(draw.address), draw.seed);
  return winner_of(tickets.data(), tickets.size(), threshold_of(word, total_of(tickets)));
}

std::size_t TapeLottery::draw(std::span<const std::uint64_t> tickets, const Draw&) {
  if (at_end()) throw std::out_of_range("the tape ends before the run does");
  const std::size_t winner = winners_[next_++];
  if (winner >= tickets.size() || tickets[winner] == 0)
    throw std::out_of_range("the tape names index " + std::to_string(winner) +
                            ", which holds no tickets");
  return winner;
}

}  // namespace tempera::gpu
