#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.hpp"
#include "cli/interruption.hpp"
#include "cli/progress_line.hpp"
#include "cli/summary_table.hpp"
#include "cli/whole_number.hpp"
#include "gpu/input/bad_input.hpp"
#include "gpu/runs/prompt_file.hpp"
#include "gpu/runs/sampling.hpp"
#include "lab/finite_model_file.hpp"

namespace tempera::cli {
namespace {

struct SampleOptions {
  std::string prompt;
  std::string prompt_file;
  std::string prompts;
  std::string schedule = "adj";
  std::string out;
  std::string resume;
  bool prompt_given = false;
  bool horizon_given = false;
  bool json = false;
  bool summary = false;
  gpu::SamplingSettings settings;
};

std::string read_all(std::istream& in) {
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// The one prompt and where it comes from, for messages.
gpu::PromptLine read_prompt(const SampleOptions& options) {
  if (options.prompt_given) return {"", options.prompt, "prompt"};
  if (!options.prompt_file.empty()) {
    std::error_code error;
    std::ifstream file(options.prompt_file, std::ios::binary);
    if (!file || std::filesystem::is_directory(options.prompt_file, error))
      throw gpu::BadInput(options.prompt_file, "cannot be read",
                          "give a file that holds the prompt");
    return {"", read_all(file), options.prompt_file};
  }
  if (isatty(STDIN_FILENO) == 1)
    throw gpu::BadInput("prompt", "none given",
                        "give it as an argument, with --prompt-file or --prompts, or on standard "
                        "input");
  return {"", read_all(std::cin), "standard input"};
}

std::vector<gpu::PromptLine> read_prompts(const SampleOptions& options) {
  if (options.prompts.empty()) return {read_prompt(options)};
  if (options.prompts == "-") return gpu::read_prompts(std::cin, "standard input");
  return gpu::read_prompt_file(options.prompts);
}

/// Prints the answers as they come: for people their text, one after the other; of a file of
/// prompts, one JSON object a line; with --json, one JSON document with a line for each.
class AnswerPrinter {
 public:
  AnswerPrinter(const SampleOptions& options, ProgressLine& line)
      : options_(options), line_(line) {}

  void print(const gpu::SampledAnswer& sampled) {
    const WholeLines whole;
    line_.clear();
    begin();
    if (options_.json)
      std::cout << (printed_++ == 0 ? "\n" : ",\n") << document_of(sampled).dump();
    else if (sampled.prompt.id)
      std::cout << line_of(sampled).dump() << '\n';
    else
      std::cout << sampled.shown << '\n';
    std::cout.flush();
  }

  void end(const nlohmann::ordered_json& summary) {
    const WholeLines whole;
    line_.clear();
    begin();
    if (options_.json)
      std::cout << "\n],\"summary\":" << summary.dump() << "}\n";
    else if (options_.summary)
      std::cout << '\n' << summary_table(summary);
    std::cout.flush();
  }

 private:
  void begin() {
    if (options_.json && !begun_)
      std::cout << "{\"settings\":" << options_.settings.to_json().dump() << ",\"answers\":[";
    begun_ = true;
  }
  static nlohmann::ordered_json line_of(const gpu::SampledAnswer& sampled) {
    return {{"id", *sampled.prompt.id},
            {"sample", sampled.sample},
            {"answer", sampled.shown},
            {"log_p0", sampled.answer.log_p0},
            {"terminated", sampled.answer.terminated}};
  }
  static nlohmann::ordered_json document_of(const gpu::SampledAnswer& sampled) {
    nlohmann::ordered_json json;
    if (sampled.prompt.id) json = {{"id", *sampled.prompt.id}, {"sample", sampled.sample}};
    json["tokens"] = sampled.answer.tokens;
    json["text"] = sampled.text;
    json["log_p0"] = sampled.answer.log_p0;
    json["terminated"] = sampled.answer.terminated;
    return json;
  }

  const SampleOptions& options_;
  ProgressLine& line_;
  bool begun_ = false;
  std::size_t printed_ = 0;
};

std::string way_to_resume(const std::string& folder) {
  return "tempera: interrupted; go on with: tempera sample --resume " + folder;
}

/// Fills in what the user left open, and checks that the run can be made.
void resolve(SampleOptions& options, const gpu::OpenedModel& model) {
  gpu::SamplingSettings& settings = options.settings;
  const auto prompts = read_prompts(options);
  for (const gpu::PromptLine& prompt : prompts) {
    gpu::SamplePrompt& encoded = settings.prompts.emplace_back();
    if (!options.prompts.empty()) encoded.id = prompt.id;
    encoded.tokens = model.encode(prompt.text, prompt.where);
    if (!options.horizon_given)
      settings.horizon = model.horizon_behind(encoded.tokens.size(), settings.horizon);
  }
  std::error_code error;
  const auto path = std::filesystem::absolute(settings.model, error);
  settings.model_path = error ? settings.model : path.lexically_normal().string();
  settings.terminal = model.terminal();
  settings.schedule = options.schedule == "deo" ? gpu::Schedule::deo : gpu::Schedule::adj;
  if (settings.output == 0) settings.output = settings.powers.size();
  if (settings.block == 0) settings.block = std::max<std::size_t>(1, (settings.horizon + 3) / 4);
  settings.plan();
  settings.numbered_prompts();
  for (std::size_t i = 0; i < prompts.size(); ++i)
    model.check_prompt(settings.prompts[i].tokens, settings.horizon, prompts[i].where);
}

void run_sample(SampleOptions options) {
  end_on_interrupt(options.resume.empty() ? "" : way_to_resume(options.resume));
  ProgressLine line;
  AnswerPrinter printer(options, line);
  const auto print = [&](const gpu::SampledAnswer& answer) { printer.print(answer); };
  std::optional<gpu::RunFolder> folder;
  if (!options.resume.empty()) {
    folder = gpu::RunFolder::open(options.resume);
    options.settings =
        gpu::SamplingSettings::from_json(folder->config(), options.resume + "/config.json");
    if (folder->finished()) {
      gpu::for_each_answer(*folder, options.settings, print);
      printer.end(folder->summary());
      return;
    }
  }
  const bool is_new = options.resume.empty();
  const gpu::OpenedModel model =
      lab::open_model(is_new ? options.settings.model : options.settings.model_path);
  if (is_new) resolve(options, model);
  if (is_new && !options.out.empty()) {
    folder = gpu::RunFolder::create(options.out, options.settings.to_json());
    end_on_interrupt(way_to_resume(options.out));
  }
  gpu::Sampling sampling(
      model.model(), options.settings,
      [&](std::span<const gpu::TokenId> tokens) { return model.decode(tokens); },
      folder ? &*folder : nullptr,
      {print, [&](const gpu::SamplingProgress& progress) { line.show(progress); }});
  sampling.run();
  printer.end(sampling.summary());
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
  CLI::Option* prompt = command->add_option("prompt", options->prompt,
                                            "The prompt; else --prompt-file; else standard input");
  CLI::Option* prompt_file =
      command
          ->add_option("--prompt-file", options->prompt_file,
                       "File with the prompt; one newline at its end is left out")
          ->excludes(prompt);
  command
      ->add_option(
          "--prompts", options->prompts,
          "File of prompts, one {\"id\": \"...\", \"prompt\": \"...\"} a line; - is standard "
          "input")
      ->excludes(prompt)
      ->excludes(prompt_file);
  CLI::Option* model = command->add_option("--model", settings.model,
                                           "Hugging Face folder (Qwen3), or finite model (JSON)");
  command
      ->add_option("--powers", settings.powers,
                   "Powers of the rungs, strictly increasing; one power is a single chain "
                   "(default: 1,2,4)")
      ->delimiter(',');
  CLI::Option* horizon =
      command
          ->add_option("--horizon", settings.horizon,
                       "Horizon T: the longest answer, in tokens (default: 64, or what fits the "
                       "model)")
          ->check(whole_number);
  command->add_option("--block", settings.block, "Block width B of the stages (default: T/4)")
      ->check(whole_number);
  command
      ->add_option("--rounds", settings.rounds,
                   "Rounds N_m: one number, or one for each stage (default: 4)")
      ->check(whole_number)
      ->delimiter(',');
  command
      ->add_option(
          "--local-moves", settings.local_moves,
          "Local moves of each rung in a round, n_local: one number, or one for each stage "
          "(default: 1)")
      ->check(whole_number)
      ->delimiter(',');
  command
      ->add_option("--sweeps", settings.sweeps,
                   "Sweeps in a round, n_sweep: one number, or one for each stage (default: 1)")
      ->check(whole_number)
      ->delimiter(',');
  command
      ->add_option("--schedule", options->schedule,
                   "adj: ordered sweeps over all edges; deo: even and odd edges in turn")
      ->check(CLI::IsMember({"adj", "deo"}))
      ->capture_default_str();
  command
      ->add_option("--output-rung", settings.output,
                   "Rung whose record is the answer, from 1 (default: the last)")
      ->check(whole_number);
  command->add_option("--samples", settings.samples, "Independent answers to each prompt")
      ->check(whole_number)
      ->capture_default_str();
  command->add_option("--seed", settings.seed, "Seed: the same seed gives the same answers")
      ->check(whole_number)
      ->capture_default_str();
  command->add_option("--out", options->out,
                      "Run folder to make: config, events, samples, summary, checkpoint");
  CLI::Option* resume =
      command->add_option("--resume", options->resume,
                          "Run folder of a run that was cut short: goes on to the same bits");
  // The folder's config.json decides everything; a flag beside it would have no effect.
  for (CLI::Option* option : command->get_options())
    if (option != resume && option != command->get_help_ptr()) resume->excludes(option);
  CLI::Option* json =
      command->add_flag("--json", options->json, "Print settings, answers and summary as JSON");
  command
      ->add_flag("--summary", options->summary,
                 "After the answers, print acceptance of each rung and pair, round trips and log Z "
                 "as a table")
      ->excludes(json);
  command->callback([options, prompt, model, horizon] {
    options->prompt_given = !prompt->empty();
    options->horizon_given = !horizon->empty();
    if (model->empty() && options->resume.empty())
      throw CLI::RequiredError("sample: --model", CLI::ExitCodes::RequiredError);
    run_sample(*options);
  });
}

}  // namespace tempera::cli
