#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/text_file.hpp"
#include "cli/commands/answer_printer.hpp"
#include "cli/commands/chat_options.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/cut_horizon.hpp"
#include "cli/commands/finite_models.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/terminal/interruption.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "gpu/device/device.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/thread_limit.hpp"
#include "gpu/jobs/sampling.hpp"
#include "gpu/models/named_model.hpp"
#include "gpu/session/presets.hpp"
#include "gpu/session/prompt_file.hpp"
#include "gpu/session/resolve.hpp"

namespace tempera::cli {
namespace {

// What a draw's address tells apart (gpu/lottery/draw_address.hpp).
constexpr std::size_t most_rungs = 65535;
// More than any run has under way: 64 answers of a few rungs and their proposals.
constexpr std::size_t most_at_once = 4096;

constexpr const char* sample_examples = R"(Examples:
  tempera sample '4+7+9+3?' --model toy_models/worked_sum --horizon 28
  tempera sample --prompt-file question.txt --model Qwen3-0.6B \
    --powers 1,1.6,2.5,4 --horizon 256 --samples 8 --seed 1 --out run
  tempera sample --prompts questions.jsonl --model Qwen3-0.6B --samples 4
  tempera sample --resume run --summary)";

struct SampleOptions {
  std::string prompt;
  std::string prompt_file;
  std::string prompts;
  std::string schedule = "adj";
  std::string restart_range;
  std::string out;
  std::string device;
  std::string devices;
  std::string resume;
  std::size_t threads = 0;  ///< 0: as many as there are
  bool prompt_given = false;
  bool json = false;
  bool summary = false;
  ChatOptions chat;
  gpu::SamplerWish wish;  ///< what the options say, and nothing that they leave open
  gpu::SamplingSettings settings;
  gpu::SamplingLayout layout;
};

std::string without_last_newline(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// The one prompt and where it comes from, for messages.
gpu::PromptLine read_prompt(const SampleOptions& options) {
  if (options.prompt_given) return {"", options.prompt, "prompt"};
  if (!options.prompt_file.empty()) {
    std::string text = read_text_file(options.prompt_file, "give a file that holds the prompt");
    return {"", without_last_newline(std::move(text)), options.prompt_file};
  }
  if (isatty(STDIN_FILENO) == 1)
    throw BadInput("prompt", "none given",
                   "give it as an argument, with --prompt-file or --prompts, or on standard "
                   "input");
  return {"", without_last_newline({std::istreambuf_iterator<char>(std::cin), {}}),
          "standard input"};
}

std::vector<gpu::PromptLine> read_prompts(const SampleOptions& options) {
  if (options.prompts.empty()) return {read_prompt(options)};
  if (options.prompts == "-") return gpu::read_prompts(std::cin, "standard input");
  return gpu::read_prompt_file(options.prompts);
}

std::string way_to_resume(const std::string& folder) {
  return "tempera: interrupted; go on with: tempera sample --resume " + folder;
}

/// Takes the prompts in, and says what the run depends on beside what the user said.
void take_prompts(SampleOptions& options, const gpu::OpenedModel& model) {
  gpu::SamplingSettings& settings = options.settings;
  const gpu::AskedHorizon horizon = gpu::asked_horizon(options.wish, settings);
  for (const gpu::PromptLine& prompt : read_prompts(options)) {
    gpu::ResolvedPrompt resolved = gpu::resolve_prompt(
        model, options.chat.prompt_of(prompt.text), options.chat.thinking(), horizon, prompt.where);
    gpu::SamplePrompt& taken = settings.prompts.emplace_back();
    if (!options.prompts.empty()) taken.id = prompt.id;
    taken.tokens = std::move(resolved.tokens);
    taken.horizon = resolved.horizon;
  }
  std::error_code error;
  const auto path = std::filesystem::absolute(gpu::resolve_model(settings.model), error);
  settings.model_path = error ? settings.model : path.lexically_normal().string();
  settings.arithmetic = model.arithmetic();
  settings.rope_factors = model.rope_factors();
  settings.terminal = model.terminal();
  settings.plan();
  settings.numbered_prompts();
}

/// Says which prompts have less room behind them than T.
void say_cut(const SampleOptions& options) {
  for (const gpu::SamplePrompt& prompt : options.settings.prompts)
    if (prompt.horizon)
      say_cut_horizon(prompt.id, *prompt.horizon, options.settings.horizon,
                      options.wish.preset ? gpu::preset_margin : 0);
}

void say_unread_speed(const std::string& damage) {
  std::cerr << "tempera: the speed of earlier processes is left out: " << damage << '\n';
}

/// The model on each device that shares the work, or on the one that there is.
struct Opened {
  std::vector<gpu::OpenedModel> models;
  std::vector<gpu::DrawDevice> devices;  ///< where the user named several
};

Opened open_on_devices(const SampleOptions& options) {
  const gpu::SamplingSettings& settings = options.settings;
  const std::string& name = options.resume.empty() ? settings.model : settings.model_path;
  Opened opened;
  if (options.devices.empty()) {
    opened.models.push_back(open_model(name, settings.arithmetic, settings.rope_factors));
    return opened;
  }
  const auto devices = gpu::devices_named(options.devices, "--devices");
  const auto enter = [](const gpu::Device& device) {
    gpu::enter_device(device, "--devices " + gpu::name_of(device));
  };
  for (const gpu::Device& device : devices) enter(device);  // before a weight is read
  for (const gpu::Device& device : devices) {
    enter(device);
    // What there is to remark is said once.
    opened.models.push_back(
        opened.models.empty() ? open_model(name, settings.arithmetic, settings.rope_factors)
                              : gpu::OpenedModel::open(name, open_finite_model, settings.arithmetic,
                                                       settings.rope_factors));
    opened.devices.push_back(
        {gpu::name_of(device), &opened.models.back().model(), [enter, device] { enter(device); }});
  }
  enter(devices.front());
  return opened;
}

void run_sample(SampleOptions options) {
  std::optional<gpu::ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  end_on_interrupt(options.resume.empty() ? "" : way_to_resume(options.resume));
  ProgressLine line;
  AnswerPrinter printer(options.settings, options.json, options.summary, line);
  const auto print = [&](const gpu::SampledAnswer& answer) { printer.print(answer); };
  std::optional<gpu::RunFolder> folder;
  if (!options.resume.empty()) {
    folder = gpu::RunFolder::open(options.resume);
    const std::size_t prefetch = options.settings.options.prefetch;
    options.settings =
        gpu::SamplingSettings::from_json(folder->config(), options.resume + "/config.json");
    options.settings.options.prefetch = prefetch;
    gpu::refuse_idle_prefetch(options.settings, gpu::Spelling::flags);
    if (!folder->finished()) folder->speed_or_none(say_unread_speed);
    if (folder->finished()) {
      gpu::for_each_answer(*folder, options.settings, print);
      const gpu::RunSpeed speed = folder->speed_or_none(say_unread_speed);
      printer.end(folder->summary(),
                  speed.processes == 0 ? nlohmann::ordered_json() : speed.to_json());
      return;
    }
  }
  const bool is_new = options.resume.empty();
  const Opened opened = open_on_devices(options);
  options.layout.devices = opened.devices;
  const gpu::OpenedModel& model = opened.models.front();
  if (is_new) take_prompts(options, model);
  if (is_new && !options.out.empty()) {
    folder = gpu::RunFolder::create(options.out, options.settings.to_json());
    end_on_interrupt(way_to_resume(options.out));
  }
  if (is_new) say_cut(options);
  bool is_any_lost = false;
  const auto say_lost = [&](const std::string& device, const std::string& why) {
    is_any_lost = true;
    line.clear();
    std::cerr << "tempera: " << device << " is lost (" << one_line(why)
              << "); the other devices go on with its work\n";
  };
  gpu::Sampling sampling(
      model.model(), options.settings, model.text(), folder ? &*folder : nullptr,
      {print, [&](const gpu::SamplingProgress& progress) { line.show(progress); },
       NotedInterrupts::any, say_lost},
      options.layout);
  try {
    // Without a folder there is nothing to save.
    const auto noted = folder ? std::make_unique<NotedInterrupts>() : nullptr;
    sampling.run();
  } catch (const gpu::RunStopped&) {
    line.clear();
    end_interrupted();
  }
  printer.end(sampling.summary(), sampling.speed());
  if (!is_any_lost) return;
  // Memory of a device that is lost cannot be given back.
  flush_output();
  std::_Exit(0);
}

/// What --sampler takes.
std::string sampler_help() {
  std::string help = "Sampler (default: ppt)";
  for (const gpu::NamedSampler& named : gpu::named_samplers())
    help += "; " + std::string(named.name) + ": " + std::string(named.description);
  return help;
}

}  // namespace

void add_sample(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "sample",
      "Draw answers with Parallel Power Tempering (Algorithm 1 of the paper), or a sampler that it "
      "is compared with");
  auto options = std::make_shared<SampleOptions>();
  gpu::SamplingSettings& settings = options->settings;
  CLI::Option* sampler = add_text(*command, "--sampler", settings.sampler, "NAME", sampler_help());
  CLI::Option* prompt =
      command->add_option("PROMPT", options->prompt,
                          "The prompt; else --prompt-file or --prompts; else standard input");
  CLI::Option* prompt_file = add_text(*command, "--prompt-file", options->prompt_file, "FILE",
                                      "File with the prompt; one newline at its end is left out");
  CLI::Option* prompts =
      add_text(*command, "--prompts", options->prompts, "FILE",
               "File of prompts, one {\"id\": \"...\", \"prompt\": \"...\"} a line; - is standard "
               "input");
  CLI::Option* model =
      add_text(*command, "--model", settings.model, "MODEL",
               "Hugging Face folder, GGUF file, name of a model (see tempera models), or "
               "finite model (JSON)");
  options->chat.add_to(*command);
  add_arithmetic(*command, settings.arithmetic);
  add_rope_factors(*command, settings.rope_factors);
  CLI::Option* powers =
      add_powers(*command, "--powers", settings.powers,
                 "Powers of the rungs, strictly increasing; one power is a single chain (default: "
                 "1,2,4; of a sampler of one power 4, of best-of-n 1)");
  CLI::Option* particles = add_whole_number(
      *command, "--particles", settings.particles, {1, gpu::most_particles},
      "N of power-smc, which looks at the weights after each block, and of best-of-n (default: 8)");
  CLI::Option* horizon =
      add_whole_number(*command, "--horizon", settings.horizon, {1, gpu::longest_horizon},
                       "Horizon T: the longest answer, in tokens (default: 64, and behind a "
                       "prompt where less fits, that)");
  CLI::Option* block =
      add_whole_number(*command, "--block", settings.block, {1, gpu::longest_horizon},
                       "Block width B of the stages (default: T/4)");
  CLI::Option* rounds =
      add_whole_numbers(*command, "--rounds", settings.rounds, {0, gpu::addressable_turns - 1},
                        "Rounds N_m: one number, or one for each stage (default: 4)");
  CLI::Option* local_moves = add_whole_numbers(
      *command, "--local-moves", settings.local_moves, {0, gpu::addressable_turns - 1},
      "Local moves of each rung in a round, n_local: one number, or one for each "
      "stage (default: 1)");
  CLI::Option* sweeps = add_whole_numbers(
      *command, "--sweeps", settings.sweeps, {0, gpu::addressable_turns - 1},
      "Sweeps in a round, n_sweep: one number, or one for each stage (default: 1)");
  CLI::Option* schedule = add_choice(
      *command, "--schedule", options->schedule, {"adj", "deo"},
      "adj: ordered sweeps over all edges; deo: even and odd edges in turn (default: adj)");
  CLI::Option* restart_weights = add_restart_weights(*command, settings.restart_weights);
  CLI::Option* restart_range = add_restart_range(*command, options->restart_range);
  CLI::Option* output_rung =
      add_whole_number(*command, "--output-rung", settings.output, {1, most_rungs},
                       "Rung whose record is the answer, from 1 (default: the last)");
  CLI::Option* samples =
      add_whole_number(*command, "--samples", settings.samples, {1, gpu::addressable_samples},
                       "Independent answers to each prompt (default: 1)");
  CLI::Option* seed =
      add_seed(*command, settings.seed,
               "The same seed gives the same answers, from 0 to 2^64 - 1 (default: 0)");
  CLI::Option* preset =
      add_text(*command, "--preset", settings.preset, "NAME",
               "The paper's values for powers, horizon, block and rounds (tempera presets lists "
               "them); an option given beside it overrides its value");
  CLI::Option* early_rejection =
      command->add_flag("--early-rejection", settings.options.early_rejection,
                        "End a proposal as soon as its rejection is certain: no answer, record or "
                        "acceptance changes, only the tokens drawn");
  CLI::Option* out =
      add_text(*command, "--out", options->out, "FOLDER",
               "Run folder to make: config, events, samples, summary, checkpoint, journal");
  CLI::Option* confidence = command->add_flag(
      "--confidence", settings.options.confidence,
      "Measure after each round the confidence of each rung's record (mean negative entropy of "
      "its tokens), for events.jsonl and the summary; it takes time and changes no answer");
  CLI::Option* checkpoint_seconds = add_seconds(
      *command, "--checkpoint-seconds", options->layout.checkpoint_seconds,
      "How often the run folder's rounds are forced to the disk (default: 0.5); 0: each as it "
      "ends. A power failure loses at most what ended in that time; a killed run, whatever this "
      "is, only the rounds in flight");
  CLI::Option* cache_memory = add_bytes(
      *command, "--cache-memory", options->layout.session.cache_memory,
      "The most that keys and values may take up, such as 8GiB: as many samples are under "
      "way as fit (default: 64 at once, whatever they need). It changes no answer");
  CLI::Option* prefetch = add_whole_number(
      *command, "--prefetch", settings.options.prefetch, {0, gpu::addressable_turns - 1},
      "Local moves of each rung that may begin ahead of the one under way, those of the stage's "
      "later rounds too, as if no move or swap before them changed the record (default: 0): fewer "
      "steps where a batch has rows left, tokens in vain where one does. It changes no answer and "
      "no event");
  CLI::Option* threads = add_threads(*command, options->threads);
  CLI::Option* batch = add_whole_number(
      *command, "--batch", options->layout.session.largest_batch, {1, most_at_once},
      "The most records of one forward pass (default: 64): fewer make a pass short, more draw more "
      "tokens a second. It changes no answer");
  CLI::Option* device = add_device(*command, options->device);
  CLI::Option* devices = add_devices(*command, options->devices);
  CLI::Option* resume =
      add_text(*command, "--resume", options->resume, "FOLDER",
               "Run folder of a run that was cut short: goes on to the same bits; its config.json "
               "decides everything; what changes no answer goes with it: --device, --devices, "
               "--json, --summary, "
               "--checkpoint-seconds, --cache-memory, --prefetch, --batch, --threads");
  CLI::Option* json =
      command->add_flag("--json", options->json, "Print settings, answers and summary as JSON");
  CLI::Option* summary = command->add_flag("--summary", options->summary,
                                           "After the answers, print acceptance of each rung and "
                                           "pair, round trips, log Z and speed as a table; with "
                                           "--json, the speed beside the rest");
  command->footer(sample_examples);
  command->callback([=] {
    for (const CLI::Option* option : command->get_options())
      if (option != resume && option != device && option != devices && option != json &&
          option != summary && option != checkpoint_seconds && option != cache_memory &&
          option != prefetch && option != batch && option != threads)
        refuse_beside(*option, *resume, "leave it out: the run folder's config.json decides");
    options->chat.check();
    refuse_beside(*prompt_file, *prompt, "give the prompt once");
    refuse_beside(*prompts, *prompt, "give the prompts in one way");
    refuse_beside(*prompts, *prompt_file, "give the prompts in one way");
    if (resume->count() == 0)
      require(*model, "give --model MODEL, a Hugging Face folder or a finite model (JSON)");
    refuse_beside(*devices, *device, "give one of them");
    if (devices->count() > 0) gpu::devices_named(options->devices, "--devices");
    gpu::require_device(options->device);
    refuse_idle_threads(*threads);
    if (resume->count() == 0 && checkpoint_seconds->count() > 0 && out->count() == 0)
      throw BadInput("--checkpoint-seconds", "has no effect without --out",
                     "leave it out, or give a run folder with --out FOLDER");
    if (confidence->count() > 0 && out->count() == 0 && !options->json && !options->summary)
      throw BadInput("--confidence", "has no effect without --out, --summary or --json",
                     "leave it out, or say by one of them where it is to be shown");
    options->prompt_given = prompt->count() > 0;
    const auto given = [](const CLI::Option* option, const auto& value) {
      return option->count() > 0 ? std::optional(value) : std::nullopt;
    };
    const gpu::SamplingSettings& said = options->settings;
    const auto order = options->schedule == "deo" ? gpu::Schedule::deo : gpu::Schedule::adj;
    const auto range =
        options->restart_range == "record" ? gpu::RestartRange::record : gpu::RestartRange::horizon;
    gpu::SamplerWish& wish = options->wish;
    wish.preset = given(preset, said.preset);
    wish.sampler = given(sampler, said.sampler);
    wish.powers = given(powers, said.powers);
    wish.horizon = given(horizon, said.horizon);
    wish.block = given(block, said.block);
    wish.rounds = given(rounds, said.rounds);
    wish.local_moves = given(local_moves, said.local_moves);
    wish.sweeps = given(sweeps, said.sweeps);
    wish.schedule = given(schedule, order);
    wish.restart_weights = given(restart_weights, said.restart_weights);
    wish.restart_range = given(restart_range, range);
    wish.output_rung = given(output_rung, said.output);
    wish.particles = given(particles, said.particles);
    wish.samples = given(samples, said.samples);
    wish.seed = given(seed, said.seed);
    wish.early_rejection = given(early_rejection, said.options.early_rejection);
    wish.confidence = given(confidence, said.options.confidence);
    wish.prefetch = given(prefetch, said.options.prefetch);
    if (resume->count() == 0)
      static_cast<gpu::SamplerSettings&>(options->settings) =
          gpu::resolve_sampler(wish, gpu::Spelling::flags);
    run_sample(*options);
  });
}

}  // namespace tempera::cli
