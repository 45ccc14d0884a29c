#include "runs/ladders/sampler_comparison.hpp"

#include <chrono>
#include <cmath>

#include "gpu/session/draw_answers.hpp"

namespace tempera::gpu {
namespace {

/// Counts what the runs of one sampler do, marks their answers, and says how far they are.
class Marker final : public DrawListener {
 public:
  Marker(const OpenedModel& model, const std::vector<Problem>& problems,
         const Contestant& contestant, const DrawSettings& settings,
         const ComparisonWatcher& watcher)
      : model_(model),
        problems_(problems),
        contestant_(contestant),
        settings_(settings),
        watcher_(watcher),
        statistics_(problems.size(), TemperingStatistics(settings.ladder)),
        shares_(problems.size(), 0.0) {}

  void round_ended(RequestId run_index, std::size_t, const Progress& progress,
                   std::span<const Event> events) override {
    statistics_[run_index].count(events);
    shares_[run_index] = share_done(settings_.plan, progress);
    report();
  }
  // The truncating sampler may end before its last stage.
  void answered(RequestId run_index, std::size_t, const Answer&) override {
    shares_[run_index] = 1.0;
  }
  void drawn(std::size_t run_index, const Answer& answer) override {
    if (!answer.terminated) ++unfinished;
    if (is_solved(model_, answer.tokens, answer.terminated, problems_[run_index].answer)) ++solved;
  }

  std::size_t solved = 0;
  std::size_t unfinished = 0;

 private:
  void report() {
    if (!watcher_.progress || !clock_.due()) return;
    TemperingStatistics sum(settings_.ladder);
    double done = 0.0;
    for (const TemperingStatistics& statistics : statistics_) sum.add(statistics);
    for (const double share : shares_) done += share;
    watcher_.progress(
        contestant_.name,
        sampling_progress(done / static_cast<double>(problems_.size()), sum.decode_tokens(), sum));
  }

  const OpenedModel& model_;
  const std::vector<Problem>& problems_;
  const Contestant& contestant_;
  const DrawSettings& settings_;
  const ComparisonWatcher& watcher_;
  std::vector<TemperingStatistics> statistics_;
  std::vector<double> shares_;
  ReportClock clock_;
};

ComparisonRow run(const OpenedModel& model, const std::vector<Problem>& problems,
                  const Contestant& contestant, const ComparisonWatcher& watcher) {
  const auto begin = std::chrono::steady_clock::now();
  const SamplerSettings& sampler = contestant.settings;
  DrawSettings settings{Ladder(sampler.powers), sampler.plan(), model.terminal()};
  settings.seed = sampler.seed;
  std::vector<Prompt> prompts;
  for (const Problem& problem : problems)
    prompts.push_back(
        {model.encode(problem.prompt, "prompt"), {static_cast<std::uint32_t>(prompts.size()), 0}});
  Marker marker(model, problems, contestant, settings, watcher);
  const SessionTotals totals = draw_answers(
      model.model(), prompts, sampler_named(sampler.sampler, "sampler").program, settings, marker);
  ComparisonRow row{contestant.name, problems.size(), marker.solved, marker.unfinished};
  row.decode_tokens = totals.decode_tokens;
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return row;
}

}  // namespace

double ComparisonRow::accuracy() const {
  return static_cast<double>(solved) / static_cast<double>(problems);
}

std::pair<double, double> ComparisonRow::interval() const {
  const double z = 1.959963984540054;  // the 97.5 % point of the standard normal law
  const auto n = static_cast<double>(problems);
  const double p = accuracy();
  const double centre = p + z * z / (2 * n);
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  return {(centre - half) / scale, (centre + half) / scale};
}

void check_problems(const OpenedModel& model, const ComparisonSettings& settings) {
  for (std::size_t i = 0; i < settings.problems.size(); ++i) {
    const std::string where = settings.problems_file + ", problem " + std::to_string(i + 1);
    model.check_prompt(model.encode(settings.problems[i].prompt, where),
                       settings.tempering().horizon, where);
  }
}

bool is_solved(const OpenedModel& model, std::span<const TokenId> tokens, bool terminated,
               const std::string& answer) {
  if (!terminated) return false;
  const std::string text = model.decode(tokens.first(tokens.size() - 1));
  const std::size_t equals = text.rfind('=');
  return equals != std::string::npos && text.substr(equals + 1) == answer;
}

std::vector<ComparisonRow> compare_samplers(const OpenedModel& model,
                                            const ComparisonSettings& settings,
                                            const ComparisonWatcher& watcher) {
  std::vector<ComparisonRow> rows;
  for (const Contestant& contestant : settings.contestants) {
    rows.push_back(run(model, settings.problems, contestant, watcher));
    if (watcher.done) watcher.done(rows.back());
  }
  return rows;
}

}  // namespace tempera::gpu
