#include "gpu/core/lottery/lottery.hpp"

#include <numeric>
#include <string>

#include "base/error.hpp"
#include "gpu/core/lottery/selecting_word.hpp"
#include "gpu/core/lottery/winner.hpp"

namespace tempera::gpu {
namespace {

const char* name_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::extension_token:
      return "extension token";
    case Purpose::restart_position:
      return "restart position";
    case Purpose::proposal_token:
      return "proposal token";
    case Purpose::accept:
      return "accept";
    case Purpose::swap:
      return "swap";
    case Purpose::resample:
      return "resampling";
    case Purpose::final_particle:
      return "final particle";
    case Purpose::survival:
      return "survival";
  }
  return "draw";
}

std::string description_of(const DrawAddress& at) {
  return std::string(name_of(at.purpose)) + " of prompt " + std::to_string(at.prompt_index) +
         ", sample " + std::to_string(at.sample_index) + ", rung " + std::to_string(at.rung) +
         ", turn " + std::to_string(at.turn) + ", position " + std::to_string(at.position);
}

}  // namespace

std::uint64_t total_of(std::span<const std::uint64_t> tickets) {
  const std::uint64_t total = std::accumulate(tickets.begin(), tickets.end(), std::uint64_t{0});
  if (total == 0) throw Bug("a lottery without tickets: no outcome is allowed");
  return total;
}

std::size_t Lottery::draw(std::span<const std::uint64_t> tickets, const Draw& draw) {
  const std::uint64_t total = total_of(tickets);
  const Word selecting = word(tickets, draw);
  const std::size_t winner =
      winner_of(tickets.data(), tickets.size(), threshold_of(selecting, total));
  won(draw, winner);
  return winner;
}

std::size_t Lottery::redraw_conditioned(std::span<const std::uint64_t> tickets,
                                        std::size_t possible, const Draw& draw) {
  const std::uint64_t total = total_of(tickets);
  const Word selecting = conditioned_word(tickets, possible, draw);
  const std::size_t winner =
      winner_of(tickets.data(), tickets.size(), threshold_of(selecting, total));
  won(draw, winner);
  return winner;
}

Word PhiloxLottery::word(std::span<const std::uint64_t>, const Draw& draw) {
  return philox(counter_of(draw.address), draw.seed);
}

Word ChoosingLottery::word(std::span<const std::uint64_t> tickets, const Draw& draw) {
  return conditioned_word(tickets, tickets.size(), draw);
}

Word ChoosingLottery::conditioned_word(std::span<const std::uint64_t> tickets, std::size_t possible,
                                       const Draw& draw) {
  const std::uint64_t total = total_of(tickets);
  const std::size_t winner = choose(tickets.first(possible), draw);
  if (winner >= tickets.size() || tickets[winner] == 0)
    throw Bug("the winner is to be index " + std::to_string(winner) + ", which holds no tickets");
  chosen_.push_back(winner);
  const auto first = tickets.begin() + static_cast<std::ptrdiff_t>(winner);
  const std::uint64_t before = std::accumulate(tickets.begin(), first, std::uint64_t{0});
  const std::uint64_t number = words_++;
  switch (number % 3) {
    case 0:
      return least_word(before, total);
    case 1:
      return largest_word(before + tickets[winner] - 1, total);
    default:
      return word_between(least_word(before, total),
                          largest_word(before + tickets[winner] - 1, total), number);
  }
}

void ChoosingLottery::won(const Draw& draw, std::size_t winner) {
  if (chosen_.empty())
    throw Bug("a draw ends whose word was not asked for: " + description_of(draw.address));
  const std::size_t chosen = chosen_.front();
  chosen_.pop_front();
  if (winner != chosen)
    throw Bug("the draw of the " + description_of(draw.address) + " ended at index " +
              std::to_string(winner) + ", and its word selects index " + std::to_string(chosen));
}

std::size_t TapeLottery::choose(std::span<const std::uint64_t>, const Draw&) {
  if (at_end()) throw Bug("the tape ends before the run does");
  return winners_[next_++];
}

}  // namespace tempera::gpu
