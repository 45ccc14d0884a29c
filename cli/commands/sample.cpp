#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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
#include "cli/commands/estimate_text.hpp"
#include "cli/commands/finite_models.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/commands/sample_shard.hpp"
#include "cli/commands/sampler_flags.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/interruption.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/thread_limit.hpp"
#include "runs/job.hpp"
#include "runs/run_estimate.hpp"
#include "settings/defaults.hpp"
#include "settings/presets.hpp"
#include "settings/prompt_file.hpp"
#include "settings/resolve.hpp"

namespace tempera::cli {
namespace {

// More than any run has under way: 64 answers of a few rungs and their proposals.
constexpr std::size_t most_at_once = 4096;

constexpr const char* sample_examples = R"(Examples:
  tempera sample '4+7+9+3?' --model toy_models/worked_sum --horizon 28
  tempera sample --prompt-file question.txt --model Qwen3-0.6B \
    --powers 1,1.6,2.5,4 --horizon 256 --samples 8 --seed 1 --out run
  tempera sample --prompts questions.jsonl --model Qwen3-0.6B --samples 4
  tempera sample --messages talk.json --model smollm2 --temperature 0.5
  tempera sample --prompts questions.jsonl --model Qwen3-0.6B --estimate
  tempera sample --resume run --summary
  tempera sample --prompts q.jsonl --model Qwen3-0.6B --out run --shard 3/8)";

struct SampleOptions {
  bool download = false;
  std::string prompt;
  std::string prompt_file;
  std::string prompts;
  std::string out;
  std::string device;
  std::string devices;
  std::string resume;
  std::string shard;
  std::string packed_weights;
  std::size_t threads = 0;  ///< 0: as many as there are
  bool prompt_given = false;
  bool json = false;
  bool summary = false;
  bool estimate = false;
  double pilot_seconds = gpu::pilot_seconds;
  ChatOptions chat;
  SamplerFlags sampler;
  gpu::SamplerWish wish;  ///< what the options say, and nothing that they leave open
  gpu::SamplingSettings settings;
  gpu::JobLayout layout;
};

std::string without_last_newline(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// The one prompt and where it comes from, for messages.
gpu::PromptLine read_prompt(const SampleOptions& options) {
  if (options.prompt_given) return {"", options.prompt, "prompt"};
  if (options.chat.reads_messages()) return options.chat.read_messages();
  if (!options.prompt_file.empty()) {
    std::string text = read_text_file(options.prompt_file, "give a file that holds the prompt");
    return {"", without_last_newline(std::move(text)), options.prompt_file};
  }
  if (isatty(STDIN_FILENO) == 1)
    throw BadInput("prompt", "none given",
                   "give it as an argument, with --prompt-file, --messages or --prompts, or on "
                   "standard input");
  return {"", without_last_newline({std::istreambuf_iterator<char>(std::cin), {}}),
          "standard input"};
}

std::vector<gpu::PromptLine> read_prompts(const SampleOptions& options) {
  if (options.prompts.empty()) return {read_prompt(options)};
  if (options.prompts == "-") return gpu::read_prompts(std::cin, "standard input");
  return gpu::read_prompt_file(options.prompts);
}

std::string way_to_resume(const std::string& folder) {
  return "tempera: interrupted; resume with: tempera sample --resume " + as_shell_word(folder);
}

/// Takes the prompts in, and says what the run depends on beside what the user said.
void take_prompts(SampleOptions& options, const gpu::OpenedModel& model) {
  std::vector<gpu::RunPrompt> prompts;
  for (const gpu::PromptLine& line : read_prompts(options))
    prompts.push_back({options.prompts.empty() ? std::nullopt : std::optional(line.id),
                       options.chat.prompt_of(line), line.where});
  gpu::resolve_prompts(options.settings, model, prompts, options.chat.arguments(),
                       gpu::asked_horizon(options.wish, options.settings));
}

/// Says which prompts have less room after them than T.
void warn_shortened_horizons(const SampleOptions& options) {
  for (const gpu::SamplePrompt& prompt : options.settings.prompts)
    if (prompt.horizon)
      warn_shortened_horizon(prompt.id, *prompt.horizon, options.settings.horizon,
                             options.wish.preset ? gpu::preset_margin : 0);
}

void say_unread_speed(const std::string& damage) {
  std::cerr << "tempera: the speed of earlier processes is left out: " << damage << '\n';
}

/// Takes the settings of a run, or of a shard of one, that has begun.
void take_settings(SampleOptions& options, const nlohmann::json& config, const std::string& file) {
  options.settings = gpu::SamplingSettings::from_json(config, file);
  options.settings.options.prefetch = options.wish.options.prefetch;
  gpu::check_prefetch(options.settings, gpu::Spelling::flags);
}

/// Prints what a finished run's folder holds.
void print_finished(const gpu::RunFolder& folder, const SampleOptions& options,
                    AnswerPrinter& printer,
                    const std::function<void(const gpu::SampledAnswer&)>& print) {
  gpu::for_each_answer(folder, options.settings, print);
  const gpu::RunSpeed speed = folder.speed_or_none(say_unread_speed);
  printer.end(folder.summary(), speed.processes == 0 ? nlohmann::ordered_json() : speed.to_json(),
              folder.path());
}

/// The model on each device that shares the work, or on the one that there is.
struct OpenedModels {
  std::vector<gpu::OpenedModel> models;
  std::vector<gpu::DrawDevice> devices;  ///< if the user named several
};

OpenedModels open_models(const SampleOptions& options, const std::vector<gpu::Device>& devices,
                         bool is_shard) {
  const gpu::SamplingSettings& settings = options.settings;
  if (settings.foreign)
    throw BadInput(options.resume, "is a run of a model of Python's, " + in_quotes(settings.model),
                   "resume it there: model.sample(…, out=…, resume=True)");
  const std::string& name = options.resume.empty() ? settings.model : settings.model_path;
  const gpu::PackedWeights packed = packed_weights(options.packed_weights, is_shard);
  OpenedModels opened;
  for (const gpu::Device& device : devices) {
    const gpu::CurrentDevice here(device);
    // What there is to remark is said once.
    opened.models.push_back(
        opened.models.empty() ? open_model(name, settings.arithmetic, settings.rope_factors, packed)
                              : gpu::OpenedModel::open(name, open_finite_model, settings.arithmetic,
                                                       settings.rope_factors, packed));
  }
  for (std::size_t d = 0; d < devices.size() && !options.devices.empty(); ++d)
    opened.devices.push_back({gpu::name_of(devices[d]), &opened.models[d].model()});
  return opened;
}

/// Returns whether a device was lost on the way, whose memory cannot be given back.
bool draw(SampleOptions options, const std::vector<gpu::Device>& devices, SampleShard* shard) {
  ProgressLine line;
  AnswerPrinter printer(options.settings, options.json, options.summary, line);
  const auto print = [&](const gpu::SampledAnswer& answer) { printer.print(answer); };
  std::optional<gpu::RunFolder> whole;
  gpu::RunFolder* folder = nullptr;
  const bool is_new = options.resume.empty();
  if (!is_new && shard != nullptr) {
    take_settings(options, shard->config(), options.resume);
    folder = &shard->open(options.settings.to_json(), options.settings.model_path);
  } else if (!is_new) {
    folder = &whole.emplace(gpu::RunFolder::open(options.resume));
    take_settings(options, folder->config(), options.resume + "/config.json");
  }
  if (folder != nullptr && !folder->finished()) folder->speed_or_none(say_unread_speed);
  if (folder != nullptr && folder->finished()) {
    print_finished(*folder, options, printer, print);
    return false;
  }
  if (is_new) obtain_if_asked(options.download, options.settings.model);
  const OpenedModels opened = open_models(options, devices, shard != nullptr);
  const gpu::OpenedModel& model = opened.models.front();
  options.layout.devices = opened.devices;
  if (is_new) take_prompts(options, model);
  if (options.estimate) {
    warn_shortened_horizons(options);
    const gpu::RunEstimate found = gpu::estimate_run(
        model.model(), options.settings, model.text(), options.layout.session,
        options.pilot_seconds,
        [&](const gpu::SamplingProgress& progress) { line.show(progress, "pilot"); });
    line.clear();
    std::cout << (options.json ? found.to_json().dump() + '\n' : estimate_text(found));
    return false;
  }
  if (is_new && shard != nullptr) {
    folder = &shard->open(options.settings.to_json(), options.settings.model_path);
    end_on_interrupt(way_to_resume(folder->path().string()));
  } else if (is_new && !options.out.empty()) {
    folder = &whole.emplace(gpu::RunFolder::create(options.out, options.settings.to_json()));
    end_on_interrupt(way_to_resume(options.out));
  }
  if (is_new) warn_shortened_horizons(options);
  if (shard != nullptr && folder->finished()) {
    print_finished(*folder, options, printer, print);
    return false;
  }
  bool is_any_lost = false;
  const auto say_lost = [&](const std::string& device, const std::string& why) {
    is_any_lost = true;
    line.clear();
    std::cerr << "tempera: " << device << " is lost (" << one_line(why)
              << "); the other devices continue its work\n";
  };
  gpu::Job job(model.model(), options.settings, model.text(), folder,
               {print, [&](const gpu::SamplingProgress& progress) { line.show(progress); },
                NotedInterrupts::any,
                [&](const std::string& remark) {
                  line.clear();
                  std::cerr << "tempera: " << remark << " (--cache-memory)\n";
                },
                say_lost},
               options.layout, shard == nullptr ? nullptr : &shard->deal(options.settings));
  try {
    // Without a folder there is nothing to save.
    const auto noted = folder != nullptr ? std::make_unique<NotedInterrupts>() : nullptr;
    job.run();
  } catch (const gpu::RunStopped&) {
    line.clear();
    end_interrupted();
  }
  printer.end(job.summary(), job.speed(), folder == nullptr ? "" : folder->path());
  return is_any_lost;
}

void run_sample(SampleOptions options) {
  const std::vector<gpu::Device> devices = options.devices.empty()
                                               ? std::vector{gpu::require_device(options.device)}
                                               : gpu::require_devices(options.devices, "--devices");
  const gpu::CurrentDevice here(devices.front());
  std::optional<gpu::ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  end_on_interrupt(options.resume.empty() ? "" : way_to_resume(options.resume));
  const auto shard = SampleShard::asked({options.shard, options.out, options.resume});
  bool is_any_lost = false;
  try {
    const auto draw_it = [&] { return draw(std::move(options), devices, shard.get()); };
    is_any_lost = shard ? shard->while_held(draw_it) : draw_it();
  } catch (const gpu::ClaimLost& lost) {
    std::cerr << "tempera: " << lost.what() << '\n';
    throw CLI::RuntimeError(2);
  }
  if (shard) shard->end();
  if (!is_any_lost) return;
  // No destructor of a lost device's memory would come to its end.
  flush_output();
  std::_Exit(0);
}

}  // namespace

void add_sample(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "sample",
      "Draw answers with Parallel Power Tempering (Algorithm 1 of the paper), or a sampler that it "
      "is compared with");
  auto options = std::make_shared<SampleOptions>();
  gpu::SamplingSettings& settings = options->settings;
  CLI::Option* prompt = command->add_option(
      "PROMPT", options->prompt,
      "The prompt; else --prompt-file, --messages or --prompts; else standard input");
  CLI::Option* prompt_file = add_text(*command, "--prompt-file", options->prompt_file, "FILE",
                                      "File with the prompt; one newline at its end is left out");
  CLI::Option* prompts =
      add_text(*command, "--prompts", options->prompts, "FILE",
               "File of prompts, one {\"id\": \"...\", \"prompt\": \"...\"} a line, or with "
               "\"messages\" as --messages has them; - is standard input");
  CLI::Option* model =
      add_text(*command, "--model", settings.model, "MODEL",
               "Hugging Face folder, GGUF file, name of a model (see tempera models), or "
               "finite model (JSON)");
  add_download(*command, options->download);
  options->chat.add_to(*command);
  const CLI::Option* messages = options->chat.add_messages_to(*command);
  add_arithmetic(*command, settings.arithmetic);
  add_rope_factors(*command, settings.rope_factors);
  options->sampler.add_to(*command, SamplerFlags::Of::run);
  CLI::Option* out =
      add_text(*command, "--out", options->out, "FOLDER",
               "Run folder to make: config, events, samples, summary, checkpoint, journal");
  const CLI::Option* confidence = command->get_option("--confidence");
  CLI::Option* checkpoint_seconds =
      add_seconds(*command, "--checkpoint-seconds", options->layout.checkpoint_seconds,
                  "How often the run folder's rounds are forced to the disk (default: " +
                      decimal_of(options->layout.checkpoint_seconds) +
                      "); 0: each as it ends. A power failure loses at most what ended in that "
                      "time; a killed run, whatever this "
                      "is, only the rounds in flight");
  CLI::Option* cache_memory = add_bytes(
      *command, "--cache-memory", options->layout.session.cache_memory,
      "The most that keys and values may take, such as 8GiB: what is idle is dropped for it "
      "and computed again, and at most " +
          std::to_string(options->layout.session.in_flight) +
          " samples are under way (default: half of the memory that is free). It "
          "changes no answer");
  const CLI::Option* prefetch = command->get_option("--prefetch");
  CLI::Option* threads = add_threads(*command, options->threads);
  CLI::Option* batch = add_whole_number(*command, "--batch", options->layout.session.largest_batch,
                                        {1, most_at_once},
                                        "The most records of one forward pass (default: " +
                                            std::to_string(options->layout.session.largest_batch) +
                                            "): fewer make a pass short, more draw more "
                                            "tokens a second. It changes no answer");
  CLI::Option* device = add_device(*command, options->device);
  CLI::Option* devices = add_devices(*command, options->devices);
  CLI::Option* resume = add_text(
      *command, "--resume", options->resume, "FOLDER",
      "Run folder of a run that was cut short: goes on to the same bits; its config.json "
      "decides everything; what changes no answer goes with it: --device, --devices, --json, "
      "--summary, --checkpoint-seconds, --cache-memory, --prefetch, --batch, --threads, "
      "--packed-weights");
  CLI::Option* shard = add_text(
      *command, "--shard", options->shard, "I/N",
      "Draw the Ith of N parts of the run into a folder of its own under --out, for tempera merge; "
      "the same command resumes it. Default: what Slurm, Open MPI or another launcher says in "
      "the environment; none: the whole run, whatever that says");
  CLI::Option* packed = add_packed_weights(*command, options->packed_weights);
  CLI::Option* json =
      command->add_flag("--json", options->json, "Print settings, answers and summary as JSON");
  CLI::Option* summary = command->add_flag("--summary", options->summary,
                                           "After the answers, print acceptance of each rung and "
                                           "pair, round trips, log Z and speed as a table; with "
                                           "--json, the speed beside the rest");
  CLI::Option* estimate = command->add_flag(
      "--estimate", options->estimate,
      "Draw a pilot only, and print the tokens, seconds and memory of the whole run, each with the "
      "limits between which it lies in 95 % of cases; nothing is written");
  const CLI::Option* pilot = add_seconds(*command, "--pilot-seconds", options->pilot_seconds,
                                         "How long the pilot of --estimate may take (default: " +
                                             decimal_of(options->pilot_seconds) + ")");
  command->footer(sample_examples);
  command->callback([=] {
    for (const CLI::Option* option : command->get_options())
      if (option != resume && option != device && option != devices && option != json &&
          option != summary && option != checkpoint_seconds && option != cache_memory &&
          option != prefetch && option != batch && option != threads && option != shard &&
          option != packed)
        refuse_beside(*option, *resume, "leave it out: the run folder's config.json decides");
    options->chat.check();
    for (const CLI::Option* other : {out, shard, devices, summary})
      refuse_beside(*other, *estimate, "leave it out: an estimate draws a pilot on one device");
    if (pilot->count() > 0 && estimate->count() == 0)
      throw BadInput("--pilot-seconds", "has no effect without --estimate", "leave it out");
    if (pilot->count() > 0 && !(options->pilot_seconds > 0.0))
      throw BadInput("--pilot-seconds", "is 0", "give such as 10");
    refuse_beside(*devices, *device, "give one of them");
    refuse_beside(*prompt_file, *prompt, "give the prompt once");
    refuse_beside(*prompts, *prompt, "give the prompts in one way");
    refuse_beside(*prompts, *prompt_file, "give the prompts in one way");
    for (const CLI::Option* other : {prompt, prompt_file, prompts})
      refuse_beside(*messages, *other, "give the prompt in one way");
    refuse_beside(*command->get_option("--chat"), *messages,
                  "leave it out: messages are a conversation");
    if (resume->count() == 0)
      require(*model, "give --model MODEL, a Hugging Face folder or a finite model (JSON)");
    refuse_idle_threads(*threads);
    if (resume->count() == 0 && checkpoint_seconds->count() > 0 && out->count() == 0)
      throw BadInput("--checkpoint-seconds", "has no effect without --out",
                     "leave it out, or give a run folder with --out FOLDER");
    if (confidence->count() > 0 && out->count() == 0 && !options->json && !options->summary)
      throw BadInput("--confidence", "has no effect without --out, --summary or --json",
                     "leave it out, or say by one of them where it is to be shown");
    if (command->count("--auditable") > 0 && out->count() == 0)
      throw BadInput("--auditable", "has no effect without --out",
                     "leave it out, or give a run folder with --out FOLDER");
    options->prompt_given = prompt->count() > 0;
    options->wish = options->sampler.wish();
    if (resume->count() == 0)
      static_cast<gpu::SamplerSettings&>(options->settings) =
          gpu::resolve_sampler(options->wish, gpu::Spelling::flags);
    run_sample(*options);
  });
}

}  // namespace tempera::cli
