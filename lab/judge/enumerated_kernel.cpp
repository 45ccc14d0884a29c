#include "lab/judge/enumerated_kernel.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "lab/judge/program_step.hpp"

namespace tempera::lab {

using reference::Rational;

KernelLottery::KernelLottery(std::string kernel, WalkOrder order, const Rational& cut)
    : kernel_(std::move(kernel)),
      walk_(kernel_ + " is no function of its draws: the same draws led to other weights", order),
      cut_(cut.convert_to<double>()) {}

void KernelLottery::refuse(const std::string& what, const std::string& remedy) const {
  throw BadInput(kernel_, what + (winners_.empty() ? "" : " after the draws " + draws()), remedy);
}

std::string KernelLottery::draws() const {
  constexpr std::size_t shown = 20;
  const std::size_t first = winners_.size() - std::min(winners_.size(), shown);
  std::string text = first > 0 ? "…, " : "";
  for (std::size_t i = first; i < winners_.size(); ++i)
    text += (i > first ? ", " : "") + std::to_string(winners_[i]);
  return text;
}

std::size_t KernelLottery::draw(const std::vector<Rational>& weights) {
  if (std::ranges::any_of(weights, [](const Rational& weight) { return weight < 0; }))
    refuse("draws with a weight below 0", "give weights that are at least 0");
  if (std::ranges::none_of(weights, [](const Rational& weight) { return weight > 0; }))
    refuse("draws where no weight is above 0", "give one of them a weight above 0");
  const bool is_endless = winners_.size() == most_kernel_draws;
  if (is_endless && cut_ == 0.0)
    refuse("draws without end: " + std::to_string(most_kernel_draws) + " draws on one path",
           "let a step end, or say by within what may be lost");
  if (is_lost_ || is_endless || (winners_.size() > draws_before_cut && so_far_ < cut_)) {
    is_lost_ = true;
    throw PathLost{};
  }
  winners_.push_back(walk_.choose(weights));
  if (cut_ > 0.0)
    so_far_ *= Rational(weights[winners_.back()] /
                        std::accumulate(weights.begin(), weights.end(), Rational(0)))
                   .convert_to<double>();
  return winners_.back();
}

bool KernelLottery::happens(const Rational& probability) {
  if (probability < 0 || probability > 1)
    refuse("asks whether an event of probability " + reference::to_string(probability) + " happens",
           "give a probability from 0 to 1");
  if (probability == 1 || probability == 0) return probability == 1;
  return draw({probability, Rational(1 - probability)}) == 0;
}

bool KernelLottery::next_path() {
  if (!walk_.is_at_end())
    throw NotEnumerable(kernel_ + " is no function of its draws: after the draws " + draws() +
                        " it drew more, and then no more");
  winners_.clear();
  so_far_ = 1.0;
  is_lost_ = false;
  return walk_.next_path();
}

void enumerate_exactly(const std::function<void(KernelLottery&)>& program,
                       const std::function<void(const Rational&)>& outcome) {
  KernelLottery lottery("the program", WalkOrder::forwards);
  do {
    program(lottery);
    outcome(lottery.probability());
  } while (lottery.next_path());
}

KernelRow row_of(const JudgedCase& judged, const std::string& kernel,
                 const std::function<JudgedState(KernelLottery&)>& step, const Rational& within) {
  const auto end_of = [&](KernelLottery& lottery) {
    try {
      JudgedState to = step(lottery);
      return lottery.is_lost() ? lost_state : to;
    } catch (const KernelLottery::PathLost&) {
      return lost_state;
    }
  };
  const std::string chance = kernel + " is no function of its draws: ";
  KernelRow row;
  struct Path {
    const JudgedState* end;
    std::size_t draws;
  };
  std::vector<Path> paths;
  KernelLottery first(kernel, WalkOrder::forwards, cut_below(within));
  std::size_t lost_paths = 0;
  do {
    const JudgedState to = end_of(first);
    if (first.is_lost() && ++lost_paths > most_lost_paths)
      throw BadInput(kernel,
                     "draws without end on more than " + std::to_string(most_lost_paths) +
                         " paths, after the draws " + first.draws(),
                     "let a step end, let a try fail in one way, or raise within");
    const auto entry = row.try_emplace(to, 0).first;
    entry->second += first.probability();
    paths.push_back({&entry->first, first.depth()});
  } while (first.next_path());
  if (const auto lost = row.find(lost_state); lost != row.end() && lost->second > within)
    throw BadInput(kernel,
                   "draws without end on paths of probability " +
                       Notation({lost->second}).text_of(lost->second),
                   "let a step end, or raise within to what may be lost");

  std::size_t runs = paths.size();
  for (WalkOrder order = WalkOrder::backwards; runs < fewest_kernel_runs || runs == paths.size();
       order = order == WalkOrder::forwards ? WalkOrder::backwards : WalkOrder::forwards) {
    KernelLottery again(kernel, order, cut_below(within));
    KernelRow now;
    std::size_t run = 0;
    do {
      const JudgedState to = end_of(again);
      now[to] += again.probability();
      if (run == paths.size()) throw NotEnumerable(chance + "it has more paths than before");
      const Path& before = paths[order == WalkOrder::forwards ? run : paths.size() - 1 - run];
      if (to != *before.end)
        throw NotEnumerable(chance + "after the draws " + again.draws() + " it ends at (" +
                            judged.name(*before.end) + ") and then at (" + judged.name(to) + ")");
      if (again.depth() != before.draws)
        throw NotEnumerable(chance + "after the draws " + again.draws() + " it has drawn " +
                            std::to_string(before.draws) + " times and then " +
                            std::to_string(again.depth()) + " times");
      ++run;
    } while (again.next_path());
    if (run != paths.size()) throw NotEnumerable(chance + "it has fewer paths than before");
    if (now != row) throw NotEnumerable(chance + "the same draws led to other weights");
    runs += run;
  }
  return row;
}

JudgedKernel enumerated(KernelStep step) {
  return [step = std::move(step)](const JudgedCase& judged, const JudgedState& from) {
    return row_of(judged, "the step from (" + judged.name(from) + ")",
                  [&](KernelLottery& lottery) { return step(judged, from, lottery); });
  };
}

}  // namespace tempera::lab
