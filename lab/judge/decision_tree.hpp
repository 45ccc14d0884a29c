#pragma once

#include <cstddef>
#include <vector>

#include "lab/enumerate/not_enumerable.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {

/// Every decision of a program that runs outside and draws with tickets of any size: run it again
/// and again, and each run takes the next path, depth first. The probability of a path is the exact
/// product of tickets / Σ tickets. TreeLottery does the same for code of production, behind its
/// door.
class DecisionTree {
 public:
  /// The winner that the present path has at the next draw.
  /// Range: tickets are at least 0, one above 0.
  /// @throw NotEnumerable if other tickets are shown than after the same decisions before
  std::size_t choose(const std::vector<reference::Rational>& tickets);
  /// Of the path so far.
  reference::Rational probability() const;
  /// Takes the present path once more from its beginning.
  void replay() { depth_ = 0; }
  /// Moves to the next path; false when all have been run.
  bool next_path();

 private:
  struct Node {
    std::vector<reference::Rational> tickets;
    reference::Rational total;
    std::size_t winner;
  };
  std::vector<Node> path_;
  std::size_t depth_ = 0;
};

}  // namespace tempera::lab
