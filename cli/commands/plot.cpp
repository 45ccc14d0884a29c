#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/regular_file.hpp"
#include "cli/commands/command.hpp"
#include "cli/terminal/option_values.hpp"
#include "lab/drawing/run_plot.hpp"
#include "runs/run_diagnostics.hpp"
#include "runs/run_speed.hpp"

namespace tempera::cli {
namespace {

constexpr const char* plot_examples = R"(Examples:
  tempera plot run
  tempera plot run --id q17 --sample 2 --out q17.svg
  tempera plot run --csv tables)";

struct PlotOptions {
  std::string run;
  std::string out;
  std::string csv;
  std::string id;
  std::size_t sample = 0;
  bool json = false;
};

nlohmann::ordered_json read_json(const std::filesystem::path& file) {
  auto json = nlohmann::ordered_json::parse(read_whole(file), nullptr, false);
  if (json.is_discarded())
    throw BadInput(file.string(), "is not JSON", "run tempera sample --resume on the folder");
  return json;
}

/// The figures of speed.json; none if it is missing or damaged, which is said.
nlohmann::ordered_json speed_of(const std::filesystem::path& run) {
  const auto file = run / "speed.json";
  auto none = nlohmann::ordered_json::object();
  if (!is_there(file)) return none;
  require_no_special_file(file);
  try {
    const std::string text = read_whole(file);
    gpu::RunSpeed::from_json(parse_json(text, file.string()), file.string());
    return nlohmann::ordered_json::parse(text);
  } catch (const BadInput& damage) {
    std::cerr << "tempera: the speed of the run is left out: " << damage.what() << '\n';
    return none;
  }
}

std::size_t prompt_of(const gpu::SamplingSettings& settings, const PlotOptions& options) {
  for (std::size_t p = 0; p < settings.prompts.size(); ++p)
    if (options.id.empty() || settings.prompts[p].id == options.id) return p;
  throw BadInput("--id", "the run has no prompt " + in_quotes(options.id),
                 "give one of those in its config.json");
}

void run_plot(const PlotOptions& options) {
  const std::filesystem::path run = options.run;
  std::vector<gpu::RoundTrace> traces;
  std::string rounds = gpu::rounds_csv_header();
  std::vector<gpu::RoundTrace> all;
  gpu::ChainCollector chains;
  const gpu::RunTraces read = gpu::read_traces(run, [&](const gpu::RoundTrace& trace) {
    all.push_back(trace);
    chains.take(trace);
  });
  const std::size_t prompt = prompt_of(read.settings, options);
  for (const gpu::RoundTrace& trace : all) {
    if (trace.prompt == prompt && trace.sample == options.sample) traces.push_back(trace);
    if (!options.csv.empty()) rounds += gpu::rounds_csv_lines(read.settings, trace);
  }
  if (traces.empty())
    throw BadInput(options.run,
                   "has no round of sample " + std::to_string(options.sample) +
                       (options.id.empty() ? "" : " of prompt " + in_quotes(options.id)),
                   "give another --id or --sample, or resume the run");
  const auto& id = read.settings.prompts[prompt].id;
  const std::string title = read.settings.model + (id ? ", prompt " + *id : "") + ", sample " +
                            std::to_string(options.sample);
  const std::filesystem::path picture =
      options.out.empty() ? run / "plot.svg" : std::filesystem::path(options.out);
  nlohmann::ordered_json written{{"svg", picture.string()}};
  Disk& disk = Disk::real();
  const std::vector<gpu::RungDiagnostics> figures = chains.diagnose();
  std::vector<gpu::RungDiagnostics> of_prompt;
  for (const auto& at : figures)
    if (at.prompt == prompt) of_prompt.push_back(at);
  disk.replace(picture, gpu::run_plot(read, traces, of_prompt, title));
  if (!options.csv.empty()) {
    const std::filesystem::path tables = options.csv;
    if (!is_there(tables)) disk.make_folder(tables);
    disk.replace(tables / "rounds.csv", rounds);
    written["rounds"] = (tables / "rounds.csv").string();
    disk.replace(tables / "diagnostics.csv", gpu::diagnostics_csv(read.settings, figures));
    written["diagnostics"] = (tables / "diagnostics.csv").string();
    if (is_there(run / "summary.json")) {
      const auto speed = speed_of(run);
      const auto summary = read_json(run / "summary.json");
      try {
        disk.replace(tables / "figures.csv", gpu::figures_csv(summary, speed));
      } catch (const nlohmann::json::exception&) {
        throw BadInput((run / "summary.json").string(), "is not as tempera writes it",
                       "give a run folder of this version");
      }
      written["figures"] = (tables / "figures.csv").string();
    }
  }
  if (options.json) {
    std::cout << written.dump() << '\n';
    return;
  }
  for (const auto& [name, path] : written.items()) std::cout << path.get<std::string>() << '\n';
}

}  // namespace

void add_plot(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "plot",
      "Draw a run folder's index process, acceptances and log-likelihoods as an SVG picture");
  auto options = std::make_shared<PlotOptions>();
  CLI::Option* run = command->add_option("RUN", options->run, "Run folder of tempera sample --out");
  add_text(*command, "--out", options->out, "FILE",
           "The picture (default: plot.svg in the folder)");
  add_text(*command, "--csv", options->csv, "FOLDER",
           "Also write rounds.csv there, one line for each round and rung, diagnostics.csv, the "
           "effective sample sizes and R-hat of each rung, and of a finished run figures.csv, "
           "every number of its summary");
  add_text(*command, "--id", options->id, "ID",
           "The prompt whose sample is drawn (default: the first)");
  add_whole_number(*command, "--sample", options->sample, {0, gpu::addressable_samples - 1},
                   "The sample of that prompt, from 0" + default_text(options->sample));
  command->add_flag(
      "--json", options->json,
      "Print the files that were written as {\"svg\", \"rounds\", \"diagnostics\", \"figures\"}");
  command->footer(plot_examples);
  command->callback([=] {
    require(*run, "give the run folder: tempera plot RUN");
    run_plot(*options);
  });
}

}  // namespace tempera::cli
