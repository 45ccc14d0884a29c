#include "lab/judge/program_kernel.hpp"

#include <algorithm>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "lab/judge/shrink.hpp"

namespace tempera::lab {
namespace {

using reference::Power;
using reference::Rational;

constexpr std::chrono::milliseconds between_reports{200};
constexpr std::size_t most_printed_lines = 1000;

[[noreturn]] void refuse_other_law(const ChildProgram& program, const JudgedCase& judged,
                                   const JudgedState& from) {
  program.refuse("is not deterministic given its draws: run twice from (" + judged.name(from) +
                     "), its law is not the same",
                 "keep nothing from one step to the next");
}

/// A subtree that no process has taken, or that two have, would be a wrong law and no failure.
void check_sum(const ChildProgram& program, const KernelRow& law) {
  Rational sum = 0;
  for (const auto& [state, probability] : law) sum += probability;
  if (sum != 1)
    program.refuse("writes paths whose probabilities sum to " + reference::to_string(sum),
                   "write each subtree once, and skip in one process what another one takes");
}

}  // namespace

struct ProgramKernel::Process {
  std::unique_ptr<ChildProgram> program;
  bool takes_cases = false;

  /// The end of a case, for a program that takes another one; whether this process does. One that
  /// had nothing to walk says so only now.
  bool next_case(const std::string& greeting) {
    program->send(R"({"done": true})");
    for (;;) {
      const std::string line = program->receive();
      if (line.find("ready") != std::string::npos) break;
      takes_cases = takes_cases || line.find("\"case\"") != std::string::npos;
      if (!takes_cases) return false;
    }
    program->send(greeting);
    return true;
  }
};

ProgramKernel::ProgramKernel(std::string command, const Limits& limits)
    : command_(std::move(command)), limits_(limits) {}

ProgramKernel::~ProgramKernel() = default;

/// Here and not in the threads that work: a program dies with the thread that has started it.
void ProgramKernel::start(const JudgedCase& judged, const std::vector<Power>& powers, bool is_whole,
                          std::size_t processes) {
  const std::string greeting = greeting_of(judged, powers, is_whole, cut_below(limits_.within));
  std::string of_case = greeting + model_json(judged.model());
  for (const auto& [tokens, probability] : judged.target().law.value_or(TargetLaw()))
    of_case += judged.name({tokens}) + reference::to_string(probability);
  if (of_case != of_case_) {
    rows_.clear();
    passes_ = 0;
    const auto takes_cases = [](const auto& process) { return process->takes_cases; };
    if (!std::any_of(processes_.begin(), processes_.end(), takes_cases) ||
        !std::all_of(processes_.begin(), processes_.end(),
                     [&](const auto& process) { return process->next_case(greeting); }))
      stop();
  }
  of_case_ = std::move(of_case);
  records_ = is_whole ? 1 : judged.rungs();
  while (processes_.size() < std::max<std::size_t>(1, processes)) {
    processes_.push_back(std::make_unique<Process>());
    processes_.back()->program = std::make_unique<ChildProgram>(command_, limits_.timeout);
    processes_.back()->program->send(greeting);
  }
}

void ProgramKernel::stop() {
  printed();
  processes_.clear();
}

bool ProgramKernel::is_over() const {
  return is_stopped_ || (limits_.until && std::chrono::steady_clock::now() > *limits_.until);
}

const std::vector<std::string>& ProgramKernel::printed() {
  for (const auto& process : processes_) {
    std::istringstream text(process->program->said());
    for (std::string line; std::getline(text, line);)
      if (!line.empty() && printed_.size() < most_printed_lines && known_lines_.insert(line).second)
        printed_.push_back(line);
  }
  return printed_;
}

/// Every process takes the next task until there is none; what one throws is thrown once all have
/// stopped.
void ProgramKernel::work(const std::vector<std::function<void(Process&)>>& tasks,
                         std::size_t states, const std::function<double()>& share) {
  std::atomic<std::size_t> next = 0, running = processes_.size();
  std::exception_ptr thrown;
  std::mutex mutex;
  is_stopped_ = false;
  done_ = 0;
  const auto run = [&](Process& process) {
    try {
      for (std::size_t task; !is_stopped_ && (task = next++) < tasks.size(); ++done_)
        tasks[task](process);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!thrown) thrown = std::current_exception();
      is_stopped_ = true;
    }
    --running;
  };
  {
    std::vector<std::jthread> threads;
    for (const auto& process : processes_) threads.emplace_back(run, std::ref(*process));
    for (auto shown = std::chrono::steady_clock::now(); running > 0;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!report_ || std::chrono::steady_clock::now() - shown < between_reports) continue;
      shown = std::chrono::steady_clock::now();
      report_({done_, states, paths_, share()});
    }
  }
  is_stopped_ = false;
  for (const auto& process : processes_)
    if (!thrown && process->program->was_restarted()) process->program->restart();
  if (!thrown) return;
  stop();  // nothing of it is left running, and the next case starts it anew
  of_case_.clear();
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted&) {
    throw TimeIsOver();
  } catch (ProgramFailure& failure) {
    failure.had_printed(printed_);
    throw;
  }
}

ProgramStep::Settings ProgramKernel::settings_of(std::size_t records, bool is_pure,
                                                 std::function<void(double)> one_path) {
  ProgramStep::Settings settings;
  settings.requests = limits_.requests;
  settings.records = records;
  settings.is_pure = is_pure;
  settings.is_every_path = limits_.is_every_path;
  settings.pass = passes_;
  settings.within = limits_.within;
  settings.is_over = [this] { return is_over(); };
  settings.one_path = std::move(one_path);
  settings.seeded = [this](const std::string& seed) {
    const std::scoped_lock lock(mutex_);
    seeds_.insert(seed);
  };
  return settings;
}

void ProgramKernel::note_loss(const JudgedCase& judged, const JudgedState& from,
                              const std::optional<LostPath>& path) {
  const std::scoped_lock lock(mutex_);
  if (path && (!loss_ || path->probability > loss_->path.probability))
    loss_ = Loss{judged.name(from), judged.model().name(), judged.horizon(), *path};
}

/// What follows a merge may be lost for more than the path that was walked.
void ProgramKernel::check_loss(const JudgedCase& judged, const JudgedState& from,
                               const KernelRow& law) const {
  const auto lost = law.find(lost_state);
  if (lost == law.end() || lost->second <= limits_.within) return;
  processes_.front()->program->refuse(
      "has paths that end at no state, of probability " +
          Notation({lost->second}).text_of(lost->second) + " from (" + judged.name(from) +
          ") of model " + judged.model().name() + ", horizon " + std::to_string(judged.horizon()) +
          (loss_ ? "; the likeliest " + text_of(loss_->path) : std::string()),
      "mend the program, or leave so much out by --within");
}

/// What one run from a state came to.
struct ProgramKernel::Walked {
  PathEnds ends;
  bool has_merged = false;
};

ProgramKernel::Walked ProgramKernel::walked_from(Process& process, const JudgedCase& judged,
                                                 const JudgedState& from, MergedPaths& merged) {
  const auto settings = settings_of(records_, limits_.is_pure, [&](double) { ++paths_; });
  const auto run = [&](ProgramStep& step) {
    PathTree tree(merged, true, true);
    step.run(from, {}, tree);
    note_loss(judged, from, tree.lost());
    return tree.ends();
  };
  ProgramStep first(*process.program, judged, settings);
  Walked walked{run(first), first.has_merged()};
  process.takes_cases = process.takes_cases || first.takes_cases();
  // What follows a merge is written once, so that a second run writes other lines: rows_of() has
  // it.
  if (limits_.is_pure || walked.has_merged || first.transcript().empty()) return walked;
  ProgramStep second(*process.program, judged, settings);
  second.hold_against(first.transcript());
  if (run(second).ends != walked.ends.ends) refuse_other_law(*process.program, judged, from);
  return walked;
}

/// A program that merges is run a second time from all states, in the other order: what follows a
/// merge is then walked from another state, and is another law if it is no function of the key.
std::map<JudgedState, KernelRow> ProgramKernel::rows_of(const JudgedCase& judged) {
  std::vector<JudgedState> states;
  for (std::size_t x = 0; x < judged.size(); ++x) states.push_back(judged.state(x));
  std::map<JudgedState, KernelRow> rows;
  std::atomic<bool> has_merged = false;
  for (const bool is_second : {false, true}) {
    ++passes_;
    MergedPaths merged;
    std::vector<PathEnds> ends(states.size());
    std::vector<std::function<void(Process&)>> tasks;
    for (std::size_t x = 0; x < states.size(); ++x)
      tasks.emplace_back([&, x](Process& process) {
        Walked walked = walked_from(process, judged, states[x], merged);
        if (walked.has_merged) has_merged = true;
        ends[x] = std::move(walked.ends);
      });
    work(tasks, states.size(), [&] {
      const double share = static_cast<double>(done_) / static_cast<double>(states.size());
      if (limits_.is_pure || !has_merged) return share;
      return (share + (is_second ? 1.0 : 0.0)) / 2;
    });
    for (std::size_t x = 0; x < states.size(); ++x) {
      KernelRow row = merged.resolved(ends[x]);
      check_sum(*processes_.front()->program, row);
      check_loss(judged, states[x], row);
      if (is_second && row != rows[states[x]])
        refuse_other_law(*processes_.front()->program, judged, states[x]);
      rows[states[x]] = std::move(row);
    }
    if (limits_.is_pure || !has_merged) break;
    std::reverse(states.begin(), states.end());
  }
  return rows;
}

KernelRow ProgramKernel::row(const JudgedCase& judged, const JudgedState& from) {
  start(judged, judged.target().powers, false, limits_.processes);
  if (rows_.empty()) rows_ = rows_of(judged);
  return rows_.at(from);
}

PathEnds ProgramKernel::share_of(Process& process, const JudgedCase& judged,
                                 const ProgramStep::Share& share, MergedPaths& merged,
                                 std::atomic<double>& walked) {
  const auto settings = settings_of(1, limits_.is_pure, [&](double now) {
    ++paths_;
    walked = now;
  });
  PathTree tree(merged, share.mine == 0);
  ProgramStep step(*process.program, judged, settings);
  step.run({{}}, share, tree);
  process.takes_cases = process.takes_cases || step.takes_cases();
  note_loss(judged, {{}}, tree.lost());
  return tree.ends();
}

KernelRow ProgramKernel::law(const JudgedCase& judged, const std::vector<Power>& powers) {
  start(judged, powers, true, limits_.processes);
  const std::size_t runs = limits_.is_pure ? 1 : 2;
  const auto run = [&](std::size_t number) {
    const std::size_t of = processes_.size();
    ++passes_;
    MergedPaths merged;
    std::vector<std::atomic<double>> walked(of);
    std::vector<PathEnds> parts(of);
    std::vector<std::function<void(Process&)>> tasks;
    for (std::size_t i = 0; i < of; ++i)
      tasks.emplace_back([&, i](Process& process) {
        parts[i] = share_of(process, judged, {i, of}, merged, walked[i]);
      });
    work(tasks, of, [&] {
      double sum = 0.0;
      for (const auto& one : walked) sum += one;
      return (static_cast<double>(number) + sum / static_cast<double>(of)) /
             static_cast<double>(runs);
    });
    PathEnds all;
    for (const PathEnds& part : parts) all.add(part);
    return merged.resolved(all);
  };
  KernelRow law = run(0);
  check_sum(*processes_.front()->program, law);
  check_loss(judged, {{}}, law);
  const bool is_same = limits_.is_pure || run(1) == law;
  if (!is_same)
    processes_.front()->program->refuse(
        "is not deterministic given its draws: run twice, its law is not the same",
        "keep nothing from one run to the next");
  return law;
}

std::optional<ProgramPath> ProgramKernel::path(const JudgedCase& judged, const JudgedState& from,
                                               const JudgedState& to) {
  start(judged, judged.target().powers, false, 1);
  std::optional<ProgramPath> path;
  auto settings = settings_of(records_, true, [&](double) { ++paths_; });
  settings.is_every_path = true;
  MergedPaths merged;
  PathTree tree(merged);
  tree.look_for(to);
  ProgramStep(*processes_.front()->program, judged, settings).run(from, {}, tree);
  return tree.path_to();
}

std::optional<ProgramPath> ProgramKernel::path_to(const JudgedCase& judged,
                                                  const JudgedState& answer) {
  auto settings = settings_of(1, true, [&](double) { ++paths_; });
  settings.is_every_path = true;
  MergedPaths merged;
  PathTree tree(merged);
  tree.look_for(answer);
  ProgramStep(*processes_.front()->program, judged, settings).run({{}}, {}, tree);
  return tree.path_to();
}

}  // namespace tempera::lab
