#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/compare_exactly.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "gpu/device/device_system.hpp"
#include "runs/ladders/sampler_comparison.hpp"

namespace tempera::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> models;
  gpu::ComparisonWish wish;
  std::string device;
  std::optional<gpu::RopeFactors> rope_factors;
  bool json = false;
};

constexpr std::size_t bar_columns = 24;

/// The interval as a line, the share as a mark.
std::string picture(const gpu::ComparisonRow& row) {
  const auto column = [](double share) {
    return static_cast<std::size_t>(std::lround(share * static_cast<double>(bar_columns - 1)));
  };
  const auto [low, high] = row.interval();
  std::string bar(bar_columns, ' ');
  for (std::size_t i = column(low); i <= column(high); ++i) bar[i] = '-';
  bar[column(row.accuracy())] = '#';
  return bar;
}

void print(const gpu::ComparisonRow& row) {
  const auto [low, high] = row.interval();
  std::printf(
      "  %-30s %5.1f %%  [%5.1f, %5.1f]  |%s| %7.1f %5zu\n", fitted(row.sampler, 30).c_str(),
      100.0 * row.accuracy(), 100.0 * low, 100.0 * high, picture(row).c_str(),
      static_cast<double>(row.decode_tokens) / static_cast<double>(row.problems), row.unfinished);
  flush_output();
}

nlohmann::ordered_json to_json(const gpu::ComparisonRow& row) {
  const auto [low, high] = row.interval();
  return {{"sampler", row.sampler},       {"problems", row.problems},
          {"solved", row.solved},         {"accuracy", row.accuracy()},
          {"interval95", {low, high}},    {"decode_tokens", row.decode_tokens},
          {"unfinished", row.unfinished}, {"seconds", row.seconds}};
}

void run_compare(const CompareOptions& options) {
  const gpu::CurrentDevice here(gpu::require_device(options.device));
  const gpu::ComparisonSettings settings =
      gpu::resolve_comparison(options.wish, gpu::Spelling::flags);
  const gpu::SamplerSettings& tempering = settings.tempering();
  const std::string& name = options.wish.model;
  const gpu::OpenedModel model = open_model(name, settings.arithmetic, options.rope_factors);
  gpu::check_problems(model, settings);
  if (!options.json) {
    std::string powers;
    for (const double power : tempering.powers)
      powers += (powers.empty() ? "" : ", ") + decimal_of(power);
    const std::string title =
        std::to_string(settings.problems.size()) + " held-out problems of " + one_line(name) +
        ", one answer each, seed " + std::to_string(tempering.seed) + "; horizon " +
        std::to_string(tempering.horizon) + ", block " + std::to_string(tempering.block) + ", " +
        std::to_string(tempering.rounds.front()) + " rounds a stage, powers " + powers +
        (model.arithmetic() ? "; " + std::string(name_of(*model.arithmetic())) : "");
    std::printf("%s\n", wrapped(title, table_columns, 2).c_str());
    std::printf("  %-30s %7s  %-14s  %-26s %7s %5s\n", "sampler", "solved", "95 %", " 0 % to 100 %",
                "tokens", "open");
  }
  ProgressLine line;
  const gpu::ComparisonWatcher watcher{
      [&](const std::string& sampler, const gpu::SamplingProgress& progress) {
        line.show(progress, sampler);
      },
      [&](const gpu::ComparisonRow& row) {
        line.clear();
        line.restart_clock();
        if (!options.json) print(row);
      }};
  const auto rows = gpu::compare_samplers(model, settings, watcher);
  line.clear();
  if (options.json) {
    nlohmann::ordered_json json;
    for (const gpu::ComparisonRow& row : rows) json["samplers"].push_back(to_json(row));
    json["seed"] = tempering.seed;
    if (model.arithmetic()) json["arithmetic"] = name_of(*model.arithmetic());
    if (model.rope_factors()) json["rope_factors"] = name_of(*model.rope_factors());
    std::cout << json.dump() << '\n';
  } else {
    std::printf("  tokens: decode tokens per problem; open: answers without a terminal token\n");
  }
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare",
      "The samplers that the paper compares: on checked problems, or exactly on finite models");
  auto options = std::make_shared<CompareOptions>();
  auto exact = std::make_shared<ExactCompareOptions>();
  CLI::Option* model = command->add_option("MODEL", options->models,
                                           "A Hugging Face folder with problems, a GGUF file or a "
                                           "name of tempera models (with --problems "
                                           "and --settings), or finite models (JSON)");
  CLI::Option* problems =
      add_text(*command, "--problems", options->wish.problems, "FILE",
               "JSONL of {\"prompt\", \"answer\"} (default: held_out.jsonl of the model)");
  CLI::Option* settings =
      add_text(*command, "--settings", options->wish.settings, "FILE",
               "JSON of horizon, block, powers, rounds and so on (default: comparison.json of the "
               "model)");
  CLI::Option* most = add_whole_number(*command, "--most", options->wish.most, {1, 1'000'000'000},
                                       "Use the first problems only (default: all)");
  CLI::Option* device = add_device(*command, options->device);
  CLI::Option* arithmetic = add_arithmetic(*command, options->wish.arithmetic,
                                           "default: what the settings name, else float32");
  CLI::Option* rope_factors = add_rope_factors(*command, options->rope_factors);
  CLI::Option* seed = add_seed(*command, options->wish.seed,
                               "Seed, from 0 to 2^64 - 1" + default_text(options->wish.seed));
  const std::vector<CLI::Option*> of_exact = add_exact_compare_options(*command, *exact);
  command->add_flag("--json", options->json, "Print the table as JSON");
  command->footer(
      "Examples:\n  tempera compare toy_models/worked_sum --most 20\n"
      "  tempera compare toy_models/worked_sum --json >comparison.json\n"
      "  tempera compare toy_models/*.json\n"
      "  tempera compare toy_models/bimodal.json --horizon 3 --rounds 2 --json\n"
      "  tempera compare toy_models/bimodal.json toy_models/ties.json --plot curves.svg");
  command->callback([=] {
    require(*model,
            "name a Hugging Face folder with held_out.jsonl and comparison.json, or finite models");
    for (const std::string& name : options->models)
      if (name.empty()) throw BadInput("MODEL", "\"\" is empty", "give MODEL, or leave it out");
    const bool finite = names_finite_model(options->models.front());
    const std::string what = finite ? "is for a folder with problems" : "is for finite models";
    for (const CLI::Option* option :
         finite ? std::vector<CLI::Option*>{problems, settings, most, device, arithmetic,
                                            rope_factors, seed}
                : of_exact)
      if (option->count() > 0) throw BadInput(option->get_name(), what, "leave it out");
    if (exact->ablations && !exact->plot.empty())
      throw BadInput("--plot", "has no effect beside --ablations", "leave one of them out");
    if (finite) return run_exact_compare(options->models, *exact, options->json);
    if (options->models.size() > 1)
      throw BadInput(one_line(options->models[1]), "is one folder too many",
                     "compare one folder at a time");
    options->wish.model = options->models.front();
    gpu::require_device(options->device);
    run_compare(*options);
  });
}

}  // namespace tempera::cli
