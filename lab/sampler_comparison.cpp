#include "lab/sampler_comparison.hpp"

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gpu/input/bad_input.hpp"
#include "gpu/sampler/parallel_power_tempering.hpp"

namespace tempera::lab {
namespace {

/// A sampler of the comparison: its ladder, its stages, and which of the two algorithms it is.
struct Contestant {
  std::string name;
  std::vector<double> powers;
  std::vector<gpu::Stage> stages;
  bool truncating = false;
};

std::vector<Contestant> contestants(const ComparisonSettings& settings) {
  const double sharpest = settings.powers.back();
  const auto stages = [&](std::size_t rounds, std::size_t sweeps) {
    return gpu::make_stages(settings.horizon, settings.block, {rounds}, {settings.local_moves},
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

/// Counts what one problem's run does, and hands on how far all of them are.
class Counter final : public gpu::Observer {
 public:
  Counter(const gpu::Ladder& ladder, const std::function<void()>& report)
      : statistics(ladder), report_(report) {}
  void advanced(const gpu::Progress&, std::span<const gpu::Event> events) override {
    statistics.count(events);
    report_();
  }

  gpu::TemperingStatistics statistics;

 private:
  const std::function<void()>& report_;
};

ComparisonRow run(const OpenedModel& model, const std::vector<Problem>& problems,
                  const Contestant& contestant, std::uint64_t seed,
                  const ComparisonWatcher& watcher) {
  const auto begin = std::chrono::steady_clock::now();
  const gpu::Ladder ladder(contestant.powers);
  const auto rows = gpu::make_device_row_lottery();
  gpu::PhiloxLottery lottery;
  gpu::Engine engine(model.model(), *rows, lottery);
  const gpu::Plan plan{contestant.stages, gpu::Schedule::adj, ladder.rungs() - 1};
  std::vector<gpu::Context> contexts;
  contexts.reserve(problems.size());
  for (const Problem& problem : problems)
    contexts.push_back({model.encode(problem.prompt, "prompt"), model.terminal()});
  std::vector<gpu::Run> runs;
  std::vector<gpu::Progress> progress(problems.size());
  std::vector<gpu::Task> tasks;
  std::vector<Counter> counters;
  gpu::ReportClock clock;
  const std::function<void()> report = [&] {
    if (!watcher.progress || !clock.due()) return;
    gpu::TemperingStatistics sum(ladder);
    double done = 0.0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      sum.add(counters[i].statistics);
      // The truncating sampler may end before its last stage.
      done += tasks[i].done() ? 1.0 : gpu::share_done(plan, progress[i]);
    }
    watcher.progress(contestant.name,
                     gpu::sampling_progress(done / static_cast<double>(problems.size()),
                                            engine.decode_tokens(), sum));
  };
  runs.reserve(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) counters.emplace_back(ladder, report);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    runs.push_back({engine, contexts[i], ladder, seed, static_cast<std::uint32_t>(i)});
    tasks.push_back(contestant.truncating
                        ? gpu::truncating_power_sampling(runs[i], plan, progress[i], &counters[i])
                        : gpu::parallel_power_tempering(runs[i], plan, progress[i], &counters[i]));
  }
  engine.run(tasks);
  ComparisonRow row{contestant.name, problems.size()};
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const gpu::Record& record = progress[i].replicas[plan.output];
    if (!record.terminated()) ++row.unfinished;
    if (is_solved(model, record.token_ids(), record.terminated(), problems[i].answer)) ++row.solved;
  }
  row.decode_tokens = engine.decode_tokens();
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
  std::ifstream in(file);
  if (!in) throw gpu::BadInput(file, "cannot be read", "give a file of problems, one a line");
  std::vector<Problem> problems;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty()) continue;
    try {
      const auto json = nlohmann::json::parse(line);
      problems.push_back({json.at("prompt"), json.at("answer")});
    } catch (const nlohmann::json::exception&) {
      throw gpu::BadInput(file + ", line " + std::to_string(number), "is no problem",
                          "write {\"prompt\": \"…\", \"answer\": \"…\"} on each line");
    }
  }
  if (problems.empty()) throw gpu::BadInput(file, "holds no problem", "give at least one");
  return problems;
}

ComparisonSettings read_comparison(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw gpu::BadInput(file, "cannot be read", "put a comparison.json beside the model");
  ComparisonSettings settings;
  try {
    const auto json = nlohmann::json::parse(in);
    json.at("horizon").get_to(settings.horizon);
    json.at("block").get_to(settings.block);
    json.at("powers").get_to(settings.powers);
    json.at("rounds").get_to(settings.rounds);
    json.at("local_moves").get_to(settings.local_moves);
    json.at("sweeps").get_to(settings.sweeps);
    json.at("truncating_rounds").get_to(settings.truncating_rounds);
    json.at("matched_rounds").get_to(settings.matched_rounds);
  } catch (const nlohmann::json::exception& error) {
    throw gpu::BadInput(file, error.what(), "see toy_models/worked_sum/comparison.json");
  }
  try {
    const gpu::Ladder ladder(settings.powers);
    contestants(settings);
  } catch (const gpu::BadInput& error) {
    throw gpu::BadInput(file, error.what(), "see toy_models/worked_sum/comparison.json");
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

bool is_solved(const OpenedModel& model, std::span<const gpu::TokenId> tokens, bool terminated,
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

}  // namespace tempera::lab
