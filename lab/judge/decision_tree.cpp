#include "lab/judge/decision_tree.hpp"

#include "base/error.hpp"

namespace tempera::lab {
namespace {

using reference::Rational;

std::size_t first_with_tickets(const std::vector<Rational>& tickets, std::size_t from) {
  while (from < tickets.size() && tickets[from] == 0) ++from;
  return from;
}

}  // namespace

std::size_t DecisionTree::choose(const std::vector<Rational>& tickets) {
  if (depth_ == path_.size()) {
    Rational total = 0;
    for (const Rational& ticket : tickets) total += ticket;
    path_.push_back({tickets, total, first_with_tickets(tickets, 0)});
  } else if (path_[depth_].tickets != tickets) {
    throw NotEnumerable("the same decisions led to other tickets");
  }
  return path_[depth_++].winner;
}

Rational DecisionTree::probability() const {
  Rational probability = 1;
  for (const Node& node : path_) probability *= node.tickets[node.winner] / node.total;
  return probability;
}

bool DecisionTree::next_path() {
  depth_ = 0;
  while (!path_.empty()) {
    Node& last = path_.back();
    last.winner = first_with_tickets(last.tickets, last.winner + 1);
    if (last.winner < last.tickets.size()) return true;
    path_.pop_back();
  }
  return false;
}

}  // namespace tempera::lab
