#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpu/lottery/lottery.hpp"
#include "lab/enumerate/not_enumerable.hpp"
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
  /// Of the path just run.
  Rational probability() const;
  /// Moves to the next path; false when all have been run.
  /// @throw NotEnumerable if the path has asked for a word and not told the winner
  bool next_path();

 private:
  /// @throw NotEnumerable if other tickets are shown than after the same decisions before
  std::size_t choose(std::span<const std::uint64_t> tickets, const gpu::Draw&) override;

  struct Node {
    std::vector<std::uint64_t> tickets;
    std::uint64_t total;
    std::size_t winner;
  };
  std::vector<Node> path_;
  std::size_t depth_ = 0;
};

/// Runs `program` once for each path, and after each hands its exact probability to `outcome`.
/// Returns the number of paths. The probabilities sum to 1.
std::size_t enumerate(const std::function<void(gpu::Lottery&)>& program,
                      const std::function<void(const Rational&)>& outcome);

}  // namespace tempera::lab
