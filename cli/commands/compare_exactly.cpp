// `tempera compare` on finite models: expected decode tokens, distance and likelihood, exactly.
#include "cli/commands/compare_exactly.hpp"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/commands/compare_ablations.hpp"
#include "cli/commands/exact_rows.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "lab/drawing/comparison_plot.hpp"
#include "settings/defaults.hpp"

namespace tempera::cli {

using nlohmann::ordered_json;

namespace {

const char* const by_eval =
    "to compare samplers on problems, use tempera eval run --task own --data FILE --grader "
    "worked-sum --model MODEL";

/// How far curves go, in rounds of ppt for each that the table has.
constexpr std::size_t curve_multiple = 4;

/// The probability of the answer set as a cell; nothing if there is none.
std::string answer_cell(const std::optional<reference::Rational>& probability) {
  return probability ? "   " + reference::to_decimal(*probability, 6) : "";
}

void print(const lab::ExactRow& row) {
  std::printf("  %-31s %-10s %10s %11s %11s%s%s\n", row.sampler.c_str(), row.effort.c_str(),
              reference::to_decimal(row.decode_tokens, 3).c_str(),
              reference::to_decimal(row.tv, 8).c_str(), decimals(row.log_likelihood, 6).c_str(),
              answer_cell(row.answer_probability).c_str(),
              row.effort.empty() || row.matched ? "" : "  less");
}

void print(const std::string& file, const std::string& answers,
           const lab::ExactComparison& comparison, const std::string& powers) {
  const std::string title = file + ": " + std::to_string(comparison.records) +
                            " records of horizon " + std::to_string(comparison.horizon) +
                            ", block " + std::to_string(comparison.block) + ", powers " + powers +
                            (answers.empty() ? "" : "; answers " + in_quotes(answers));
  std::printf("%s\n", wrapped(title, table_columns, 2).c_str());
  std::printf("  %-31s %-10s %10s %11s %11s%s\n", "sampler", "effort", "tokens", "TV", "E log p0",
              answers.empty() ? "" : "     answer");
  std::printf("  %-31s %-10s %10s %11s %11s%s\n", "the target itself", "", "", "",
              decimals(comparison.target.log_likelihood, 6).c_str(),
              answer_cell(comparison.target.answer_probability).c_str());
  for (const lab::ExactRow& row : comparison.rows) print(row);
  flush_output();
}

ordered_json to_json(const std::string& file, const reference::FiniteModel& model,
                     const lab::ExactComparison& comparison, const std::string& powers) {
  auto answers = ordered_json::array();
  for (const auto& answer : model.answers()) answers.push_back(model.text(answer));
  ordered_json json{
      {"model", file},
      {"horizon", comparison.horizon},
      {"block", comparison.block},
      {"powers", powers},
      {"records", comparison.records},
      {"answers", answers},
      {"target_log_likelihood", decimals(comparison.target.log_likelihood, 12)},
      {"target_answer_probability", probability_to_json(comparison.target.answer_probability)},
      {"samplers", ordered_json::array()}};
  for (const lab::ExactRow& row : comparison.rows) json["samplers"].push_back(row_json(row));
  return json;
}

/// Whether this is a file of a finite model by its name, NAME.json.
bool names_finite_model(const std::string& path) {
  return std::filesystem::path(path).extension() == ".json";
}

using LoadedModels = std::vector<std::pair<std::string, reference::FiniteModel>>;

LoadedModels load(const std::vector<std::string>& models, const std::string& answers) {
  LoadedModels loaded;
  for (const std::string& model : models) {
    if (!names_finite_model(model))
      throw BadInput(one_line(model), "is not a finite model (NAME.json)", by_eval);
    if (std::filesystem::path(model).filename() == "models.json") continue;
    const auto read = reference::load_finite_model(model);
    loaded.emplace_back(one_line(model),
                        answers.empty() ? read : read.with_answers(answers, "--answers"));
  }
  if (loaded.empty())
    throw BadInput(one_line(models.front()), "is the list of the models, and none of them",
                   "name the models themselves");
  return loaded;
}

/// "1,2,4".
std::string default_powers(bool of_ablations) {
  const auto& powers = of_ablations ? gpu::defaults::ablation_powers : gpu::defaults::powers;
  return decimals_of({powers.begin(), powers.end()});
}

lab::ExactComparisonSettings settings_of(const ExactCompareOptions& options,
                                         const std::string& powers) {
  lab::ExactComparisonSettings settings = options.settings;
  settings.ladder = reference::parse_ladder(powers, "--powers");
  settings.curve_multiple = options.plot.empty() ? 0 : curve_multiple;
  return settings;
}

}  // namespace

void add_exact_compare_options(CLI::App& command, ExactCompareOptions& options) {
  command.add_flag("--ablations", options.ablations,
                   "The paper's ablations instead, one table each: single chain, uncoupled "
                   "ladder, schedule, replicas, refinement, ladder design, truncation");
  lab::ExactComparisonSettings& settings = options.settings;
  add_whole_number(command, "--horizon", settings.horizon, {1, 128},
                   "Horizon T (default: the longest up to 4 that is small)");
  add_whole_number(command, "--block", settings.block, {1, 128}, "Block width B (default: T/2)");
  add_text(command, "--powers", options.powers, "A[,A...]",
           "Powers of the ladder; the last is the target's (default: " + default_powers(false) +
               "; of ablations " + default_powers(true) + ")");
  add_whole_number(command, "--rounds", settings.rounds, {0, 64},
                   "PPT's rounds in each stage" + default_text(settings.rounds));
  add_whole_number(command, "--local-moves", settings.local_moves, {0, 64},
                   "Local moves of each rung in a round" + default_text(settings.local_moves));
  add_whole_number(command, "--sweeps", settings.sweeps, {0, 64},
                   "Sweeps in a round" + default_text(settings.sweeps));
  add_text(command, "--answers", options.answers, "ANSWER[|ANSWER...]",
           "How right records begin, tokens joined by one space (default: "
           "what the file names)");
  add_text(command, "--plot", options.plot, "FILE",
           "Also draw TV against expected decode tokens, as an SVG picture");
}

void run_exact_compare(const std::vector<std::string>& models, const ExactCompareOptions& options,
                       bool json) {
  // Now, and not after all comparisons.
  if (!options.plot.empty()) Disk::real().require_replaceable(options.plot);
  const std::string powers =
      !options.powers.empty() ? options.powers : default_powers(options.ablations);
  const LoadedModels loaded = load(models, options.answers);
  const auto settings = settings_of(options, powers);
  if (options.ablations) return run_ablations(loaded, settings, powers, json);
  std::vector<lab::ExactComparison> comparisons;
  ProgressLine line;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    const auto& [file, model] = loaded[i];
    comparisons.push_back(lab::compare_exactly(model, settings, [&](const lab::ExactRow& row) {
      line.show_step(i, loaded.size(), file + ", " + row.sampler);
    }));
  }
  line.clear();
  if (!options.plot.empty()) Disk::real().replace(options.plot, lab::comparison_plot(comparisons));
  // Printed when all are there, so that a model that is refused leaves no half of the tables.
  ordered_json report{{"models", ordered_json::array()}};
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    if (json)
      report["models"].push_back(
          to_json(loaded[i].first, loaded[i].second, comparisons[i], powers));
    else
      print(loaded[i].first, answers_of(loaded[i].second), comparisons[i], powers);
  }
  if (json)
    std::cout << report.dump() << '\n';
  else
    std::printf(
        "  tokens: expected decode tokens of one answer, proposals included; TV: of the answer's "
        "law from\n  the target, the power distribution at the last power; answer: the probability "
        "of the answer set.\n  Efforts are the least with ppt's tokens; less: the most that is "
        "enumerated takes fewer, or the\n  schedule of ppt does.\n");
}

}  // namespace tempera::cli
