#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.hpp"
#include "cli/option_values.hpp"
#include "cli/progress_line.hpp"
#include "cli/summary_table.hpp"
#include "gpu/input/bad_input.hpp"
#include "gpu/runs/sampling.hpp"
#include "lab/opened_model.hpp"

namespace tempera::cli {
namespace {

// What a draw's address tells apart (gpu/lottery/draw_address.hpp).
constexpr std::size_t most_rounds = std::size_t{1} << 24;
constexpr std::size_t most_samples = std::size_t{1} << 20;
constexpr std::size_t most_rungs = 65535;

constexpr const char* examples = R"(Examples:
  tempera sample '4+7+9+3?' --model toy_models/worked_sum --horizon 28
  tempera sample --prompt-file question.txt --model Qwen3-0.6B \
    --powers 1,1.6,2.5,4 --horizon 256 --samples 8 --seed 1 --out run
  tempera sample --resume run --summary)";

struct SampleOptions {
  std::string prompt;
  std::string prompt_file;
  std::string schedule = "adj";
  std::string out;
  std::string resume;
  bool prompt_given = false;
  bool json = false;
  bool summary = false;
  gpu::SamplingSettings settings;
};

std::string read_all(std::istream& in) {
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// The prompt and where it comes from, for messages.
std::pair<std::string, std::string> read_prompt(const SampleOptions& options) {
  if (options.prompt_given) return {options.prompt, "prompt"};
  if (!options.prompt_file.empty()) {
    std::ifstream file(options.prompt_file, std::ios::binary);
    if (!file)
      throw gpu::BadInput(options.prompt_file, "cannot be read",
                          "give a file that holds the prompt");
    return {read_all(file), options.prompt_file};
  }
  if (isatty(STDIN_FILENO) == 1)
    throw gpu::BadInput("prompt", "none given",
                        "give it as an argument, with --prompt-file, or on standard input");
  return {read_all(std::cin), "standard input"};
}

void print(const std::vector<gpu::Answer>& answers, const nlohmann::ordered_json& summary,
           const lab::OpenedModel& model, const SampleOptions& options) {
  if (options.json) {
    nlohmann::ordered_json json{{"settings", options.settings.to_json()}};
    for (const gpu::Answer& answer : answers)
      json["answers"].push_back({{"tokens", answer.tokens},
                                 {"text", model.decode(answer.tokens)},
                                 {"log_p0", answer.log_p0},
                                 {"terminated", answer.terminated}});
    json["summary"] = summary;
    std::cout << json.dump() << '\n';
    return;
  }
  for (const gpu::Answer& answer : answers) {
    std::span<const gpu::TokenId> shown = answer.tokens;
    if (answer.terminated) shown = shown.first(shown.size() - 1);
    std::cout << model.decode(shown) << '\n';
  }
  if (options.summary) std::cout << '\n' << summary_table(summary);
}

void run_sample(SampleOptions options) {
  std::optional<gpu::RunFolder> folder;
  if (!options.resume.empty()) {
    folder = gpu::RunFolder::open(options.resume);
    options.settings =
        gpu::SamplingSettings::from_json(folder->config(), options.resume + "/config.json");
  }
  const lab::OpenedModel model = lab::OpenedModel::open(options.settings.model);
  if (options.resume.empty()) {
    const auto [prompt, where] = read_prompt(options);
    gpu::SamplingSettings& settings = options.settings;
    settings.prompt = model.encode(prompt, where);
    settings.terminal = model.terminal();
    settings.schedule = options.schedule == "deo" ? gpu::Schedule::deo : gpu::Schedule::adj;
    if (settings.output == 0) settings.output = settings.powers.size();
    if (settings.block == 0) settings.block = std::max<std::size_t>(1, (settings.horizon + 3) / 4);
    settings.plan();
    model.check_prompt(settings.prompt, settings.horizon, where);
    if (!options.out.empty()) folder = gpu::RunFolder::create(options.out, settings.to_json());
  }
  std::vector<gpu::Answer> answers;
  nlohmann::ordered_json summary;
  {
    ProgressLine line;
    gpu::Sampling sampling(
        model.model(), options.settings,
        [&](std::span<const gpu::TokenId> tokens) { return model.decode(tokens); },
        folder ? &*folder : nullptr,
        [&](const gpu::SamplingProgress& progress) { line.show(progress); });
    answers = sampling.run();
    summary = sampling.summary();
  }
  print(answers, summary, model, options);
}

}  // namespace

void add_sample(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "sample", "Draw answers with Parallel Power Tempering (Algorithm 1 of the paper)");
  auto options = std::make_shared<SampleOptions>();
  gpu::SamplingSettings& settings = options->settings;
  settings.powers = {1.0, 2.0, 4.0};
  settings.horizon = 64;
  settings.rounds = {4};
  settings.local_moves = {1};
  settings.sweeps = {1};
  CLI::Option* prompt = command->add_option("PROMPT", options->prompt,
                                            "The prompt; else --prompt-file; else standard input");
  CLI::Option* prompt_file = add_text(*command, "--prompt-file", options->prompt_file, "FILE",
                                      "File with the prompt; one newline at its end is left out");
  CLI::Option* model = add_text(*command, "--model", settings.model, "MODEL",
                                "Hugging Face folder (Qwen3), or finite model (JSON)");
  add_powers(*command, "--powers", settings.powers,
             "Powers of the rungs, strictly increasing; one power is a single chain (default: "
             "1,2,4)");
  add_whole_number(*command, "--horizon", settings.horizon, {1, gpu::longest_horizon},
                   "Horizon T: the longest answer, in tokens (default: 64)");
  add_whole_number(*command, "--block", settings.block, {1, gpu::longest_horizon},
                   "Block width B of the stages (default: T/4)");
  add_whole_numbers(*command, "--rounds", settings.rounds, {0, most_rounds},
                    "Rounds N_m: one number, or one for each stage (default: 4)");
  add_whole_numbers(*command, "--local-moves", settings.local_moves, {0, most_rounds},
                    "Local moves of each rung in a round, n_local: one number, or one for each "
                    "stage (default: 1)");
  add_whole_numbers(*command, "--sweeps", settings.sweeps, {0, most_rounds},
                    "Sweeps in a round, n_sweep: one number, or one for each stage (default: 1)");
  add_choice(*command, "--schedule", options->schedule, {"adj", "deo"},
             "adj: ordered sweeps over all edges; deo: even and odd edges in turn (default: adj)");
  add_whole_number(*command, "--output-rung", settings.output, {1, most_rungs},
                   "Rung whose record is the answer, from 1 (default: the last)");
  add_whole_number(*command, "--samples", settings.samples, {1, most_samples},
                   "Independent answers to draw (default: 1)");
  add_seed(*command, settings.seed,
           "The same seed gives the same answers, from 0 to 2^64 - 1 (default: 0)");
  add_text(*command, "--out", options->out, "FOLDER",
           "Run folder to make: config, events, samples, summary, checkpoint");
  CLI::Option* resume =
      add_text(*command, "--resume", options->resume, "FOLDER",
               "Run folder of a run that was cut short: goes on to the same bits; its config.json "
               "decides everything, so no option but --json and --summary goes with it");
  CLI::Option* json =
      command->add_flag("--json", options->json, "Print settings, answers and summary as JSON");
  CLI::Option* summary = command->add_flag("--summary", options->summary,
                                           "After the answers, print acceptance of each rung and "
                                           "pair, round trips and log Z as a table");
  command->footer(examples);
  command->callback([=] {
    for (const CLI::Option* option : command->get_options())
      if (option != resume && option != json && option != summary)
        refuse_beside(*option, *resume, "leave it out: the run folder's config.json decides");
    refuse_beside(*prompt_file, *prompt, "give the prompt once");
    refuse_beside(*summary, *json, "leave it out: --json holds the summary");
    if (resume->count() == 0)
      require(*model, "give --model MODEL, a Hugging Face folder or a finite model (JSON)");
    options->prompt_given = prompt->count() > 0;
    run_sample(*options);
  });
}

}  // namespace tempera::cli
