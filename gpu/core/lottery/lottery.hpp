#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gpu/core/lottery/draw_address.hpp"

namespace tempera::gpu {

class Lottery;

/// Draws that wait for their words, in the memory of a host or a device. A lottery says where the
/// words come from, by one call of Lottery::decide.
class OpenDraws {
 public:
  virtual ~OpenDraws() = default;
  /// The word of every draw is Philox's of its address and seed, so that a device computes it.
  virtual void by_address() = 0;
  /// `lottery` is shown the tickets of each draw, asked for its word, and told its winner.
  virtual void by_word(Lottery& lottery) = 0;
};

/// The only source of chance: every random decision of tempera is the winner that a word of 128
/// bits selects among tickets. Lotteries differ in where the word comes from, and in nothing else:
/// whatever the lottery, the code that turns a word into a winner is production's.
class Lottery {
 public:
  virtual ~Lottery() = default;
  /// Index i wins with probability tickets[i] / Σ tickets, exactly: the first i whose prefix sum
  /// exceeds floor(word · Σ tickets / 2^128).
  /// Range: 0 < Σ tickets < 2^64.
  /// @throw Bug if no ticket was sold
  std::size_t draw(std::span<const std::uint64_t> tickets, const Draw& draw);
  /// Evaluates the word of a draw again, against other tickets of the same total, given that the
  /// winner is among the first `possible`, as an earlier look at the word has shown.
  ///
  /// What a word selects is monotone: if the first `possible` tickets, taken as one, have won, then
  /// the word's threshold is below their sum, and index i < possible wins with probability
  /// tickets[i] / Σ_{j < possible} tickets[j].
  std::size_t redraw_conditioned(std::span<const std::uint64_t> tickets, std::size_t possible,
                                 const Draw& draw);

  /// The word that decides a draw. Range: as for draw.
  virtual Word word(std::span<const std::uint64_t> tickets, const Draw& draw) = 0;
  /// The same word again, for redraw_conditioned.
  virtual Word conditioned_word(std::span<const std::uint64_t> tickets, std::size_t /*possible*/,
                                const Draw& draw) {
    return word(tickets, draw);
  }
  /// Is told the winner of each draw, in the order in which the words were asked for. A batch of
  /// rows asks for the words of all of them before it has the first winner.
  virtual void won(const Draw& /*draw*/, std::size_t /*winner*/) {}
  /// Says where the words of a batch of draws come from: OpenDraws::by_word, unless a lottery has
  /// another way.
  virtual void decide(OpenDraws& draws) { draws.by_word(*this); }
};

/// Σ tickets.
/// @throw Bug if it is zero
std::uint64_t total_of(std::span<const std::uint64_t> tickets);

/// Production: the word of a draw is Philox4x32-10 of its address under its seed.
class PhiloxLottery final : public Lottery {
 public:
  Word word(std::span<const std::uint64_t> tickets, const Draw& draw) override;
  void decide(OpenDraws& draws) override { draws.by_address(); }
};

/// A lottery that chooses the winner and answers with a word that selects it: in turn the least
/// such word, the largest, and one inside. The least and the largest are next to the words of the
/// neighbouring outcomes, so that a threshold that is off by one, or loses a carry, ends at another
/// index than the chosen one; that is an error.
class ChoosingLottery : public Lottery {
 public:
  /// @throw Bug if no ticket was sold
  /// @throw Bug if the chosen index holds no ticket
  Word word(std::span<const std::uint64_t> tickets, const Draw& draw) final;
  /// @throw as word
  Word conditioned_word(std::span<const std::uint64_t> tickets, std::size_t possible,
                        const Draw& draw) final;
  /// @throw Bug naming the draw if it ended at another index than the chosen one
  void won(const Draw& draw, std::size_t winner) final;

 protected:
  /// Whether every draw whose word was asked for has told its winner.
  bool all_drawn() const { return chosen_.empty(); }
  /// Forgets the draws that have not told their winner: the program that made them is over.
  void abandon() { chosen_.clear(); }

 private:
  virtual std::size_t choose(std::span<const std::uint64_t> tickets, const Draw& draw) = 0;

  std::deque<std::size_t> chosen_;  // of the draws that have not told their winner
  std::uint64_t words_ = 0;
};

/// Replay: the winners are read from a tape, in the order of the draws.
class TapeLottery final : public ChoosingLottery {
 public:
  explicit TapeLottery(std::vector<std::size_t> winners) : winners_(std::move(winners)) {}
  bool at_end() const { return next_ == winners_.size(); }

 private:
  /// @throw Bug if the tape is at its end
  std::size_t choose(std::span<const std::uint64_t> tickets, const Draw& draw) override;

  std::vector<std::size_t> winners_;
  std::size_t next_ = 0;
};

}  // namespace tempera::gpu
