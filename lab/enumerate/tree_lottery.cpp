#include "lab/enumerate/tree_lottery.hpp"

#include "base/error.hpp"

namespace tempera::lab {
namespace {

std::size_t first_with_tickets(const std::vector<std::uint64_t>& tickets, std::size_t from) {
  while (from < tickets.size() && tickets[from] == 0) ++from;
  return from;
}

}  // namespace

std::size_t TreeLottery::choose(std::span<const std::uint64_t> tickets, const gpu::Draw&) {
  if (depth_ == path_.size()) {
    Node node{{tickets.begin(), tickets.end()}, gpu::total_of(tickets), 0};
    node.winner = first_with_tickets(node.tickets, 0);
    path_.push_back(std::move(node));
  } else if (path_[depth_].tickets.size() != tickets.size() ||
             !std::equal(tickets.begin(), tickets.end(), path_[depth_].tickets.begin())) {
    throw NotEnumerable(
        "the program is not deterministic: the same decisions led to other tickets");
  }
  return path_[depth_++].winner;
}

Rational TreeLottery::probability() const {
  reference::Integer numerator = 1;
  reference::Integer denominator = 1;
  for (const Node& node : path_) {
    numerator *= node.tickets[node.winner];
    denominator *= node.total;
  }
  return Rational(numerator, denominator);
}

bool TreeLottery::next_path() {
  if (!all_drawn())
    throw NotEnumerable("the program has asked for a word and drawn nothing with it");
  depth_ = 0;
  while (!path_.empty()) {
    Node& last = path_.back();
    last.winner = first_with_tickets(last.tickets, last.winner + 1);
    if (last.winner < last.tickets.size()) return true;
    path_.pop_back();
  }
  return false;
}

std::size_t enumerate(const std::function<void(gpu::Lottery&)>& program,
                      const std::function<void(const Rational&)>& outcome) {
  TreeLottery lottery;
  std::size_t paths = 0;
  do {
    program(lottery);
    outcome(lottery.probability());
    ++paths;
  } while (lottery.next_path());
  return paths;
}

}  // namespace tempera::lab
