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

/// The order in which a walk takes the winners of a draw.
enum class WalkOrder { forwards, backwards };

/// A depth-first walk over every path of a program's decisions: the program is run again and again,
/// and each run takes the next path. A walk backwards takes the paths in the reverse order. The
/// probability of a path is the exact product of tickets / Σ tickets along it.
///
/// Ticket: of production's draws std::uint64_t, of a program's outside reference::Rational. No
/// ticket is below 0.
template <class Ticket>
class DecisionWalk {
 public:
  /// @param other_tickets what NotEnumerable says of a program that is not deterministic
  explicit DecisionWalk(std::string other_tickets, WalkOrder order = WalkOrder::forwards)
      : other_tickets_(std::move(other_tickets)), order_(order) {}

  /// The winner that the present path has at the next draw.
  /// @pre one ticket is above 0, and their sum is a Ticket
  /// @throw NotEnumerable if other tickets are shown than after the same decisions before
  std::size_t choose(std::span<const Ticket> tickets) {
    if (depth_ == path_.size()) {
      path_.push_back({{tickets.begin(), tickets.end()},
                       std::accumulate(tickets.begin(), tickets.end(), Ticket(0)),
                       0,
                       0});
      path_.back().winner = with_tickets(path_.back(), 0);
    } else if (!std::ranges::equal(tickets, path_[depth_].tickets)) {
      throw NotEnumerable(other_tickets_);
    }
    return path_[depth_++].winner;
  }

  /// Draws of the present path, as far as it has been run.
  std::size_t depth() const { return depth_; }
  /// Whether the present path has run as far as it went before.
  bool is_at_end() const { return depth_ == path_.size(); }

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
      last.winner = with_tickets(last, last.tried + 1);
      if (last.tried < last.tickets.size()) return true;
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
    std::size_t tried;  // winners passed, in the walk's order
    std::size_t winner;
  };

  /// The next winner that has tickets.
  std::size_t with_tickets(Node& node, std::size_t from) const {
    const std::size_t n = node.tickets.size();
    const auto index = [&](std::size_t i) { return order_ == WalkOrder::forwards ? i : n - 1 - i; };
    while (from < n && node.tickets[index(from)] == 0) ++from;
    node.tried = from;
    return index(from);
  }

  std::string other_tickets_;
  WalkOrder order_;
  std::vector<Node> path_;
  std::size_t depth_ = 0;
};

}  // namespace tempera::lab
