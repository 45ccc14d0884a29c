#include "lab/enumerate/tree_lottery.hpp"

namespace tempera::lab {

std::size_t TreeLottery::choose(std::span<const std::uint64_t> tickets, const gpu::Draw&) {
  return walk_.choose(tickets);
}

bool TreeLottery::next_path() {
  if (!all_drawn())
    throw NotEnumerable("the program has asked for a word and drawn nothing with it");
  return walk_.next_path();
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
