#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/enumerate/not_enumerable.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {

/// A depth-first walk over every path of a program's decisions: the program is run again and again,
/// and each run takes the next path. The probability of a path is the exact product of
/// tickets / Σ tickets along it.
///
/// Ticket: of production's draws std::uint64_t, of a program's outside reference::Rational. No
/// ticket is below 0.
template <class Ticket>
class DecisionWalk {
 public:
  /// @param other_tickets what NotEnumerable says of a program that is not deterministic
  explicit DecisionWalk(std::string other_tickets) : other_tickets_(std::move(other_tickets)) {}

  /// The winner that the present path has at the next draw.
  /// @pre one ticket is above 0, and their sum is a Ticket
  /// @throw NotEnumerable if other tickets are shown than after the same decisions before
  std::size_t choose(std::span<const Ticket> tickets) {
    if (depth_ == path_.size()) {
      path_.push_back({{tickets.begin(), tickets.end()},
                       std::accumulate(tickets.begin(), tickets.end(), Ticket(0)),
                       0});
      path_.back().winner = first_with_tickets(path_.back(), 0);
    } else if (!std::ranges::equal(tickets, path_[depth_].tickets)) {
      throw NotEnumerable(other_tickets_);
    }
    return path_[depth_++].winner;
  }

  /// The probability of the present path, as far as it has been run.
  reference::Rational probability() const {
    Product numerator = 1;
    Product denominator = 1;
    for (const Node& node : path_) {
      numerator *= node.tickets[node.winner];
      denominator *= node.total;
    }
    return reference::Rational(numerator) / denominator;
  }

  /// Takes the present path once more from its beginning.
  void replay() { depth_ = 0; }

  /// Goes to where the present path branches for the first time, as choose() would with the tickets
  /// that were shown on the way.
  void skip_known() { depth_ = path_.size(); }
  /// Decisions of the present path.
  std::size_t decisions() const { return path_.size(); }
  /// The winner of decision i of the present path, and its probability there.
  std::size_t winner(std::size_t i) const { return path_[i].winner; }
  reference::Rational share(std::size_t i) const {
    return reference::Rational(Product(path_[i].tickets[path_[i].winner])) /
           Product(path_[i].total);
  }

  /// Moves to the next path; false when all have been run.
  bool next_path() {
    depth_ = 0;
    while (!path_.empty()) {
      Node& last = path_.back();
      last.winner = first_with_tickets(last, last.winner + 1);
      if (last.winner < last.tickets.size()) return true;
      path_.pop_back();
    }
    return false;
  }

 private:
  /// Whole tickets have whole products, which need no lowest terms before the end.
  using Product =
      std::conditional_t<std::is_integral_v<Ticket>, reference::Integer, reference::Rational>;
  struct Node {
    std::vector<Ticket> tickets;
    Ticket total;
    std::size_t winner;
  };

  static std::size_t first_with_tickets(const Node& node, std::size_t from) {
    while (from < node.tickets.size() && node.tickets[from] == 0) ++from;
    return from;
  }

  std::string other_tickets_;
  std::vector<Node> path_;
  std::size_t depth_ = 0;
};

}  // namespace tempera::lab
