#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/enumerate/decision_walk.hpp"
#include "lab/judge/judged_case.hpp"
#include "lab/judge/lost_paths.hpp"

namespace tempera::lab {

/// The most draws on one path of a kernel in C++; one that draws more is taken to draw for ever.
inline constexpr std::size_t most_kernel_draws = 1000;
/// The most paths from a state, or from a merge, that may be lost: where each try can fail in
/// several ways and none is merged, the paths of a sampler that tries on and on grow by that factor
/// with each.
inline constexpr std::size_t most_lost_paths = 2000;
/// How often a row of a kernel is walked, at least twice, until its paths have been run this often
/// altogether: chance that decides on few paths shows in few runs.
inline constexpr std::size_t fewest_kernel_runs = 64;

/// The way to a merge: the winners of the draws before it, and how many merges are passed.
struct WayToMerge {
  std::vector<std::size_t> winners;
  std::size_t merges = 0;
};

/// Where a kernel in C++ draws while its paths are walked, with fractions of any size.
class KernelLottery {
 public:
  /// Ends a path whose mass is lost.
  struct PathLost {};
  /// Ends a path that comes to a merge.
  struct PathMerged {};
  /// @param kernel names it in messages
  /// @param cut the probability below which a path that draws on and on is lost; 0 for never
  /// @param to where the walk begins: each path goes this way first
  KernelLottery(std::string kernel, WalkOrder order, const reference::Rational& cut = 0,
                WayToMerge to = {});
  /// Index i with probability weights[i] / Σ weights.
  /// @throw BadInput if a weight is below 0, none is above 0, or the path draws without end and
  /// none may be lost
  /// @throw PathLost if this path is lost
  /// @throw NotEnumerable if the same draws led to other weights before
  std::size_t draw(const std::vector<reference::Rational>& weights);
  /// Whether an event happens. @throw BadInput if the probability is not from 0 to 1
  bool happens(const reference::Rational& probability);
  /// Says that what follows is a function of `key` and of later draws.
  /// @throw PathMerged: what follows a key is walked by itself, once
  void merge(const std::string& key);

  /// The merge at which the path just run ended, also if its kernel caught that.
  const std::optional<std::string>& merged() const { return merged_; }
  /// The way to that merge.
  WayToMerge way() const;

  /// The probability of the path just run, from where the walk begins.
  reference::Rational probability() const { return walk_.probability(); }
  std::size_t depth() const { return walk_.depth(); }
  /// True if the path just run is lost, also if its kernel caught that.
  bool is_lost() const { return is_lost_; }
  /// Moves to the next path; false when all have been run.
  /// @throw NotEnumerable if the path has drawn less than the same draws did before
  bool next_path();
  /// The winners of the path just run, in order: "1, 0, 2".
  std::string draws() const;

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy) const;

  std::string kernel_;
  DecisionWalk<reference::Rational> walk_;
  double cut_;
  std::vector<std::size_t> winners_;
  /// The probability of the path as far as it has been run, rounded: it decides where a path is cut
  /// off, alike in every order of the walk. The mass that is lost so is counted exactly.
  double so_far_ = 1.0;
  bool is_lost_ = false;
  WayToMerge to_;
  std::size_t passed_ = 0;  ///< winners of to_ that the path has had
  std::size_t merges_ = 0;  ///< that the path has come to
  std::optional<std::string> merged_;
};

/// Runs `program` once for each path, and after each hands its exact probability to `outcome`.
void enumerate_exactly(const std::function<void(KernelLottery&)>& program,
                       const std::function<void(const reference::Rational&)>& outcome);

/// Where a step goes: every path is run, forwards and backwards in turn, so that none of them has
/// the same path before it twice. Paths after a merge are walked once for each key, and where they
/// go round by merges the law is solved for.
/// @param judged names the states of messages
/// @param kernel "the step from (a e)", in messages
/// @param within what may be lost on paths that draw without end: it is the row's at lost_state
/// @throw BadInput if more is lost
/// @throw NotEnumerable if it is no function of its draws: a path ends elsewhere, or there are
/// other paths, than before
/// @throw as KernelLottery::draw
KernelRow row_of(const JudgedCase& judged, const std::string& kernel,
                 const std::function<JudgedState(KernelLottery&)>& step,
                 const reference::Rational& within = 0);

/// A kernel in C++: one step from a state, every decision drawn through the lottery. It must be a
/// function of the state and its draws.
using KernelStep =
    std::function<JudgedState(const JudgedCase&, const JudgedState&, KernelLottery&)>;

/// Its rows, every decision taken: what judge_kernel and shrink take. They throw as row_of.
JudgedKernel enumerated(KernelStep step);

}  // namespace tempera::lab
