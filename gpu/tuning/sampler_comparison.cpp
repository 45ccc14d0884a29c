#include "gpu/tuning/sampler_comparison.hpp"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "gpu/session/draw_answers.hpp"
#include "gpu/session/read_arithmetic.hpp"

namespace tempera::gpu {
namespace {

/// A sampler of the comparison: its ladder, its stages, and which of the two algorithms it is.
struct Contestant {
  std::string name;
  std::vector<double> powers;
  std::vector<Stage> stages;
  bool truncating = false;
};

std::vector<Contestant> contestants(const ComparisonSettings& settings) {
  const double sharpest = settings.powers.back();
  const auto stages = [&](std::size_t rounds, std::size_t sweeps) {
    return make_stages(settings.horizon, settings.block, {rounds}, {settings.local_moves},
                       {sweeps});
  };
  char temperature[48];
  std::snprintf(temperature, sizeof temperature, "tokenwise temperature 1/%g", sharpest);
  const std::string k = std::to_string(settings.powers.size());
  return {
      {"base sampling", {1.0}, stages(0, 0)},
      {temperature, {sharpest}, stages(0, 0)},
      {"truncating power sampling", {sharpest}, stages(settings.truncating_rounds, 0), true},
      {"fixed horizon, K = 1", {sharpest}, stages(settings.rounds, 0)},
      {"fixed horizon, K = 1, matched", {sharpest}, stages(settings.matched_rounds, 0)},
      {"K = " + k + " without swaps", settings.powers, stages(settings.rounds, 0)},
      {"PPT, K = " + k, settings.powers, stages(settings.rounds, settings.sweeps)},
  };
}

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
                  const Contestant& contestant, std::uint64_t seed,
                  const ComparisonWatcher& watcher) {
  const auto begin = std::chrono::steady_clock::now();
  const Ladder ladder(contestant.powers);
  DrawSettings settings{
      ladder, {contestant.stages, Schedule::adj, ladder.rungs() - 1}, model.terminal()};
  settings.seed = seed;
  std::vector<Prompt> prompts;
  for (const Problem& problem : problems)
    prompts.push_back(
        {model.encode(problem.prompt, "prompt"), {static_cast<std::uint32_t>(prompts.size()), 0}});
  Marker marker(model, problems, contestant, settings, watcher);
  const SessionTotals totals =
      draw_answers(model.model(), prompts,
                   contestant.truncating ? truncating_power_sampling : parallel_power_tempering,
                   settings, marker);
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

std::vector<Problem> read_problems(const std::string& file) {
  std::istringstream lines(read_text_file(file, "give a file of problems, one a line"));
  std::vector<Problem> problems;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = file + ", line " + std::to_string(++number);
    if (line.empty()) continue;
    const nlohmann::json json = parse_json(line, where);
    const JsonObject problem(json, where);
    problem.only({"prompt", "answer"});
    problems.push_back({problem.text("prompt"), problem.text("answer")});
  }
  if (problems.empty()) throw BadInput(file, "holds no problem", "give at least one");
  return problems;
}

ComparisonSettings read_comparison(const std::string& file) {
  const nlohmann::json json =
      parse_json(read_text_file(file, "put a comparison.json beside the model"), file);
  const JsonObject object(json, file);
  object.only({"arithmetic", "horizon", "block", "powers", "rounds", "local_moves", "sweeps",
               "truncating_rounds", "matched_rounds"});
  constexpr std::uint64_t most = addressable_turns;
  ComparisonSettings settings;
  settings.arithmetic = read_arithmetic(object);
  settings.horizon = object.whole_number("horizon", 0, longest_horizon);
  settings.block = object.whole_number("block", 1, longest_horizon);
  settings.powers = object.positive_numbers("powers");
  settings.rounds = object.whole_number("rounds", 0, most);
  settings.local_moves = object.whole_number("local_moves", 0, most);
  settings.sweeps = object.whole_number("sweeps", 0, most);
  settings.truncating_rounds = object.whole_number("truncating_rounds", 0, most);
  settings.matched_rounds = object.whole_number("matched_rounds", 0, most);
  try {
    const Ladder ladder(settings.powers);
    contestants(settings);
  } catch (const BadInput& error) {
    throw BadInput(file, error.what(), "see toy_models/worked_sum/comparison.json");
  }
  return settings;
}

void check_problems(const OpenedModel& model, const std::vector<Problem>& problems,
                    std::size_t horizon, const std::string& file) {
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const std::string where = file + ", problem " + std::to_string(i + 1);
    model.check_prompt(model.encode(problems[i].prompt, where), horizon, where);
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
                                            const std::vector<Problem>& problems,
                                            const ComparisonSettings& settings, std::uint64_t seed,
                                            const ComparisonWatcher& watcher) {
  std::vector<ComparisonRow> rows;
  for (const Contestant& contestant : contestants(settings)) {
    rows.push_back(run(model, problems, contestant, seed, watcher));
    if (watcher.done) watcher.done(rows.back());
  }
  return rows;
}

}  // namespace tempera::gpu
