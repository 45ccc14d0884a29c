#include "lab/judge/enumerated_kernel.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "lab/judge/path_tree.hpp"
#include "lab/judge/program_step.hpp"

namespace tempera::lab {

using reference::Rational;

namespace {

std::string chance_of(const std::string& kernel) {
  return kernel + " is not a function of its draws: ";
}

}  // namespace

KernelLottery::KernelLottery(std::string kernel, WalkOrder order, const Rational& cut,
                             WayToMerge to)
    : kernel_(std::move(kernel)),
      walk_(chance_of(kernel_) + "the same draws led to other weights", order),
      cut_(cut.convert_to<double>()),
      to_(std::move(to)) {}

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
  if (merged_) throw PathMerged{};
  if (passed_ < to_.winners.size()) {
    const std::size_t winner = to_.winners[passed_++];
    if (winner >= weights.size() || weights[winner] == 0)
      throw NotEnumerable(kernel_ +
                          " is not a function of its draws: before a merge the same draws "
                          "led to other weights");
    return winner;
  }
  if (merges_ < to_.merges)
    throw NotEnumerable(chance_of(kernel_) + "it has not come to a merge again");
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

void KernelLottery::merge(const std::string& key) {
  if (merged_) throw PathMerged{};
  if (++merges_ <= to_.merges) return;
  merged_ = key;
  throw PathMerged{};
}

WayToMerge KernelLottery::way() const {
  WayToMerge way{to_.winners, merges_};
  way.winners.insert(way.winners.end(), winners_.begin(), winners_.end());
  return way;
}

bool KernelLottery::next_path() {
  if (!walk_.is_at_end())
    throw NotEnumerable(chance_of(kernel_) + "after the draws " + draws() +
                        " it drew more, and then no more");
  winners_.clear();
  so_far_ = 1.0;
  is_lost_ = false;
  passed_ = merges_ = 0;
  merged_.reset();
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

namespace {

/// Where a path ends: at a state, or at the key of a merge.
struct PathEnd {
  JudgedState state;
  std::optional<std::string> merge;
  bool operator==(const PathEnd&) const = default;
};

/// Where the paths of a walk end, and the ways to the merges that they come to.
struct KernelPaths {
  PathEnds ends;
  std::map<std::string, WayToMerge> ways;
};

/// Walks every path from the beginning, or from a merge.
class KernelWalk {
 public:
  KernelWalk(const JudgedCase& judged, const std::string& kernel,
             const std::function<JudgedState(KernelLottery&)>& step, const Rational& within,
             WayToMerge from)
      : judged_(judged), kernel_(kernel), step_(step), within_(within), from_(std::move(from)) {}

  KernelPaths operator()() {
    KernelPaths walked = first();
    std::size_t runs = paths_.size();
    for (WalkOrder order = WalkOrder::backwards; runs < fewest_kernel_runs || runs == paths_.size();
         order = order == WalkOrder::forwards ? WalkOrder::backwards : WalkOrder::forwards) {
      again(order, walked.ends);
      runs += paths_.size();
    }
    return walked;
  }

 private:
  struct Path {
    PathEnd end;
    std::size_t draws;
  };

  KernelLottery lottery(WalkOrder order) const {
    return {kernel_, order, cut_below(within_), from_};
  }
  PathEnd end_of(KernelLottery& lottery) const {
    JudgedState to = lost_state;
    try {
      to = step_(lottery);
    } catch (...) {  // whatever another language has made of PathLost and PathMerged
      if (!lottery.is_lost() && !lottery.merged()) throw;
    }
    if (lottery.merged()) return {{}, lottery.merged()};
    return {lottery.is_lost() ? lost_state : to, {}};
  }
  static void add(PathEnds& ends, const PathEnd& end, const Rational& probability) {
    (end.merge ? ends.merges[*end.merge] : ends.ends[end.state]) += probability;
  }
  std::string name(const PathEnd& end) const {
    return end.merge ? "the merge " + in_quotes(*end.merge) : "(" + judged_.name(end.state) + ")";
  }

  KernelPaths first() {
    KernelPaths walked;
    KernelLottery first = lottery(WalkOrder::forwards);
    std::size_t lost_paths = 0;
    do {
      PathEnd end = end_of(first);
      if (first.is_lost() && ++lost_paths > most_lost_paths)
        throw BadInput(kernel_,
                       "draws without end on more than " + std::to_string(most_lost_paths) +
                           " paths, after the draws " + first.draws(),
                       "let a step end, merge each try with the next, or raise within");
      add(walked.ends, end, first.probability());
      if (end.merge) walked.ways.try_emplace(*end.merge, first.way());
      paths_.push_back({std::move(end), first.depth()});
    } while (first.next_path());
    return walked;
  }

  /// Walks all paths once more. @throw NotEnumerable if one ends elsewhere
  void again(WalkOrder order, const PathEnds& before_all) const {
    const std::string chance = chance_of(kernel_);
    KernelLottery again = lottery(order);
    PathEnds now;
    std::size_t run = 0;
    do {
      const PathEnd end = end_of(again);
      add(now, end, again.probability());
      if (run == paths_.size()) throw NotEnumerable(chance + "it has more paths than before");
      const Path& before = paths_[order == WalkOrder::forwards ? run : paths_.size() - 1 - run];
      if (end != before.end)
        throw NotEnumerable(chance + "after the draws " + again.draws() + " it ends at " +
                            name(before.end) + " and then at " + name(end));
      if (again.depth() != before.draws)
        throw NotEnumerable(chance + "after the draws " + again.draws() + " it has drawn " +
                            std::to_string(before.draws) + " times and then " +
                            std::to_string(again.depth()) + " times");
      ++run;
    } while (again.next_path());
    if (run != paths_.size()) throw NotEnumerable(chance + "it has fewer paths than before");
    if (now.ends != before_all.ends || now.merges != before_all.merges)
      throw NotEnumerable(chance + "the same draws led to other weights");
  }

  const JudgedCase& judged_;
  const std::string& kernel_;
  const std::function<JudgedState(KernelLottery&)>& step_;
  const Rational& within_;
  WayToMerge from_;
  std::vector<Path> paths_;
};

}  // namespace

KernelRow row_of(const JudgedCase& judged, const std::string& kernel,
                 const std::function<JudgedState(KernelLottery&)>& step, const Rational& within) {
  const auto walked_from = [&](WayToMerge way) {
    return KernelWalk(judged, kernel, step, within, std::move(way))();
  };
  const KernelPaths whole = walked_from({});
  MergedPaths merged;
  std::map<std::string, WayToMerge> to_walk = whole.ways;
  while (!to_walk.empty()) {
    const auto next = to_walk.extract(to_walk.begin());
    if (!merged.enter(next.key())) continue;
    const KernelPaths walked = walked_from(next.mapped());
    merged.add(next.key(), walked.ends);
    for (const auto& [key, way] : walked.ways) to_walk.try_emplace(key, way);
  }
  KernelRow row = merged.resolved(whole.ends);
  if (const auto lost = row.find(lost_state); lost != row.end() && lost->second > within)
    throw BadInput(kernel,
                   "draws without end on paths of probability " +
                       Notation({lost->second}).text_of(lost->second),
                   "let a step end, or raise within to what may be lost");
  return row;
}

JudgedKernel enumerated(KernelStep step) {
  return [step = std::move(step)](const JudgedCase& judged, const JudgedState& from) {
    return row_of(judged, "the step from (" + judged.name(from) + ")",
                  [&](KernelLottery& lottery) { return step(judged, from, lottery); });
  };
}

}  // namespace tempera::lab
