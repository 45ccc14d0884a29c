#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "gpu/core/lottery/lottery.hpp"
#include "lab/enumerate/decision_walk.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {

using reference::Rational;

/// Enumerates every decision of a program that draws through the lottery: run the program again and
/// again, and each run takes the next path of its decision tree, depth first. The probability of a
/// path is the exact product of tickets / Σ tickets along it.
///
/// The program must be deterministic but for its draws. It draws as in production, by words that
/// select the winner of its path; each word's 2^-128 grain is left out of the probabilities.
class TreeLottery final : public gpu::ChoosingLottery {
 public:
  /// The probability of the path just run.
  Rational probability() const { return walk_.probability(); }
  /// Moves to the next path; false when all have been run.
  /// @throw NotEnumerable if the path has asked for a word and not told the winner
  bool next_path();

 private:
  /// @throw NotEnumerable if other tickets are shown than after the same decisions before
  std::size_t choose(std::span<const std::uint64_t> tickets, const gpu::Draw&) override;

  DecisionWalk<std::uint64_t> walk_{
      "the program is not deterministic: the same decisions led to other tickets"};
};

/// Runs `program` once for each path, and after each hands its exact probability to `outcome`.
/// Returns the number of paths. The probabilities sum to 1.
std::size_t enumerate(const std::function<void(gpu::Lottery&)>& program,
                      const std::function<void(const Rational&)>& outcome);

}  // namespace tempera::lab
