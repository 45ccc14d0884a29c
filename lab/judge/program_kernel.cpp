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

}  // namespace

struct ProgramKernel::Process {
  std::unique_ptr<ChildProgram> program;
  bool takes_cases = false;

  /// The end of a case, for a program that takes another one.
  void next_case(const std::string& greeting) {
    program->send(R"({"done": true})");
    while (program->receive().find("ready") == std::string::npos) {
    }
    program->send(greeting);
  }
};

ProgramKernel::ProgramKernel(std::string command, const Limits& limits)
    : command_(std::move(command)), limits_(limits) {}

ProgramKernel::~ProgramKernel() = default;

/// Here and not in the threads that work: a program dies with the thread that has started it.
void ProgramKernel::start(const JudgedCase& judged, const std::vector<Power>& powers, bool is_whole,
                          std::size_t processes) {
  const std::string greeting = greeting_of(judged, powers, is_whole);
  std::string of_case = greeting + model_json(judged.model());
  for (const auto& [tokens, probability] : judged.target().law.value_or(TargetLaw()))
    of_case += judged.name({tokens}) + reference::to_string(probability);
  if (of_case != of_case_) {
    rows_.clear();
    if (!processes_.empty() &&
        std::all_of(processes_.begin(), processes_.end(),
                    [](const auto& process) { return process->takes_cases; }))
      for (const auto& process : processes_) process->next_case(greeting);
    else
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

KernelRow ProgramKernel::row_of(Process& process, const JudgedCase& judged,
                                const JudgedState& from) {
  const ProgramStep::Settings settings{limits_.requests, records_, limits_.is_pure,
                                       [&] { return is_over(); }, [&](double) { ++paths_; }};
  const auto run = [&](ProgramStep& step) {
    MergedPaths merged;
    PathTree tree(merged);
    step.run(from, {}, tree);
    return merged.resolved(tree.ends());
  };
  ProgramStep first(*process.program, judged, settings);
  KernelRow row = run(first);
  process.takes_cases = process.takes_cases || first.takes_cases();
  if (limits_.is_pure || first.transcript().empty()) return row;
  ProgramStep second(*process.program, judged, settings);
  second.hold_against(first.transcript());
  if (run(second) != row)
    process.program->refuse("is not deterministic given its draws: run twice from (" +
                                judged.name(from) + "), its law is not the same",
                            "keep nothing from one step to the next");
  return row;
}

KernelRow ProgramKernel::row(const JudgedCase& judged, const JudgedState& from) {
  start(judged, judged.target().powers, false, limits_.processes);
  if (rows_.empty()) {
    std::map<JudgedState, KernelRow> rows;
    std::mutex mutex;
    std::vector<std::function<void(Process&)>> tasks;
    for (std::size_t x = 0; x < judged.size(); ++x)
      tasks.emplace_back([&, x](Process& process) {
        const JudgedState state = judged.state(x);
        KernelRow row = row_of(process, judged, state);
        const std::scoped_lock lock(mutex);
        rows[state] = std::move(row);
      });
    work(tasks, judged.size(),
         [&] { return static_cast<double>(done_) / static_cast<double>(judged.size()); });
    rows_ = std::move(rows);
  }
  return rows_.at(from);
}

PathEnds ProgramKernel::share_of(Process& process, const JudgedCase& judged,
                                 const ProgramStep::Share& share, MergedPaths& merged,
                                 std::atomic<double>& walked) {
  const ProgramStep::Settings settings{limits_.requests, 1, limits_.is_pure,
                                       [&] { return is_over(); },
                                       [&](double now) {
                                         ++paths_;
                                         walked = now;
                                       }};
  PathTree tree(merged, share.mine == 0);
  ProgramStep step(*process.program, judged, settings);
  step.run({{}}, share, tree);
  process.takes_cases = process.takes_cases || step.takes_cases();
  return tree.ends();
}

KernelRow ProgramKernel::law(const JudgedCase& judged, const std::vector<Power>& powers) {
  start(judged, powers, true, limits_.processes);
  const std::size_t runs = limits_.is_pure ? 1 : 2;
  const auto run = [&](std::size_t number) {
    const std::size_t of = processes_.size();
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
  const KernelRow law = run(0);
  if (!limits_.is_pure && run(1) != law)
    processes_.front()->program->refuse(
        "is not deterministic given its draws: run twice, its law is not the same",
        "keep nothing from one run to the next");
  return law;
}

std::optional<ProgramPath> ProgramKernel::path(const JudgedCase& judged, const JudgedState& from,
                                               const JudgedState& to) {
  start(judged, judged.target().powers, false, 1);
  std::optional<ProgramPath> path;
  const ProgramStep::Settings settings{limits_.requests, records_, true, [&] { return is_over(); },
                                       [&](double) { ++paths_; }};
  MergedPaths merged;
  PathTree tree(merged);
  tree.look_for(to);
  ProgramStep(*processes_.front()->program, judged, settings).run(from, {}, tree);
  return tree.path_to();
}

std::optional<ProgramPath> ProgramKernel::path_to(const JudgedCase& judged,
                                                  const JudgedState& answer) {
  const ProgramStep::Settings settings{limits_.requests, 1, true, [&] { return is_over(); },
                                       [&](double) { ++paths_; }};
  MergedPaths merged;
  PathTree tree(merged);
  tree.look_for(answer);
  ProgramStep(*processes_.front()->program, judged, settings).run({{}}, {}, tree);
  return tree.path_to();
}

}  // namespace tempera::lab
