#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/judge/path_tree.hpp"
#include "lab/judge/program_step.hpp"
#include "lab/judge/shrink.hpp"

namespace tempera::lab {

class ChildProgram;

/// A sampler that is a program in any language (docs/howto/check_protocol.md): a kernel, of which
/// it is asked one step from each state, or a whole program, from the prompt to an answer. Every
/// decision is taken; the states, or the subtrees of a whole program, are shared out over several
/// processes of it. Each state is run twice, so that a program that is no function of the state and
/// its draws is noticed.
class ProgramKernel {
 public:
  struct Limits {
    std::chrono::duration<double> timeout = std::chrono::seconds(60);  ///< for each line
    std::size_t requests = 10'000;                                     ///< of one path
    std::size_t processes = 1;
    bool is_pure = false;        ///< asserted: a step is a function of its state, and is run once
    bool is_every_path = false;  ///< nothing is merged that the program does not declare
    reference::Rational within = 0;  ///< what may be lost on paths without an end
    /// When TimeIsOver is thrown; nothing for never.
    std::optional<std::chrono::steady_clock::time_point> until = std::nullopt;
  };
  struct Progress {
    std::size_t done = 0, states = 0;  ///< of the case that is walked
    std::size_t paths = 0;             ///< of all cases
    double share = 0.0;                ///< of the case, from 0 to 1, as far as is known
  };
  /// What was left out of a case.
  struct Loss {
    std::string from, model;
    std::size_t horizon = 0;
    LostPath path;  ///< the likeliest
  };
  ProgramKernel(std::string command, const Limits& limits);
  ~ProgramKernel();

  /// One row of the kernel; the first that is asked for of a case computes all of them.
  /// @throw BadInput naming the program for a hang, a crash (ProgramFailure), what is no
  /// request, a draw with no tickets, a step without end, and other answers to the same draws
  /// @throw TimeIsOver
  KernelRow row(const JudgedCase& judged, const JudgedState& from);
  /// The law of the answers of a whole program that is told of these powers.
  /// @throw as row()
  KernelRow law(const JudgedCase& judged, const std::vector<reference::Power>& powers);
  /// The likeliest path of draws from a state to another; nothing if there is none, or if the
  /// program draws without forking.
  std::optional<ProgramPath> path(const JudgedCase& judged, const JudgedState& from,
                                  const JudgedState& to);
  /// path(), of the case that law() was last asked of.
  std::optional<ProgramPath> path_to(const JudgedCase& judged, const JudgedState& answer);

  /// Paths that have been run.
  std::size_t paths() const { return paths_; }
  /// Called some times a second by the thread that waits.
  void on_progress(std::function<void(const Progress&)> report) { report_ = std::move(report); }
  /// Lines that the program has printed, each once, in the order of their first printing.
  const std::vector<std::string>& printed();
  /// Seeds that the program has given to its generators, each with its place.
  const std::set<std::string>& seeds() const { return seeds_; }
  /// The likeliest path without an end that was left out.
  const std::optional<Loss>& loss() const { return loss_; }
  Limits& limits() { return limits_; }

 private:
  struct Process;
  ProgramStep::Settings settings_of(std::size_t records, bool is_pure,
                                    std::function<void(double)> one_path);
  void note_loss(const JudgedCase& judged, const JudgedState& from,
                 const std::optional<LostPath>& path);
  void check_loss(const JudgedCase& judged, const JudgedState& from, const KernelRow& law) const;
  void start(const JudgedCase& judged, const std::vector<reference::Power>& powers, bool is_whole,
             std::size_t processes);
  void stop();
  bool is_over() const;
  void work(const std::vector<std::function<void(Process&)>>& tasks, std::size_t states,
            const std::function<double()>& share);
  struct Walked;
  Walked walked_from(Process& process, const JudgedCase& judged, const JudgedState& from,
                     MergedPaths& merged);
  std::map<JudgedState, KernelRow> rows_of(const JudgedCase& judged);
  PathEnds share_of(Process& process, const JudgedCase& judged, const ProgramStep::Share& share,
                    MergedPaths& merged, std::atomic<double>& walked);

  std::string command_;
  Limits limits_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::string of_case_;  // what tells the case that the program has been told of from others
  std::vector<reference::Power> powers_;
  std::size_t records_ = 1;
  std::size_t passes_ = 0;  // over the states of the case
  std::map<JudgedState, KernelRow> rows_;
  std::atomic<std::size_t> paths_ = 0, done_ = 0;
  std::atomic<bool> is_stopped_ = false;
  std::function<void(const Progress&)> report_;
  std::vector<std::string> printed_;
  std::set<std::string> known_lines_;
  std::mutex mutex_;  // of what the threads that work note
  std::set<std::string> seeds_;
  std::optional<Loss> loss_;
};

}  // namespace tempera::lab
