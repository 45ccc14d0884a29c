#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/commands/chat_options.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/commands/sampler_flags.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/thread_limit.hpp"
#include "runs/coupling/coupled_runs.hpp"
#include "settings/resolve.hpp"

namespace tempera::cli {
namespace {

constexpr const char* certify_run_examples = R"(Examples:
  tempera certify-run '4+7+9?' --model toy_models/worked_sum --powers 1,2,4 --horizon 28
  tempera certify-run '' --model toy_models/bimodal.json --powers 1,4 --horizon 3 --pairs 200 --json)";

constexpr std::size_t default_pairs = 30;
constexpr double default_confidence = 0.95;

struct CertifyRunOptions {
  std::string model;
  std::string prompt;
  std::string device;
  std::size_t threads = 0;  ///< 0: as many as there are
  ChatOptions chat;
  SamplerFlags sampler;
  std::optional<gpu::Arithmetic> arithmetic;
  std::optional<gpu::RopeFactors> rope_factors;
  gpu::SessionOptions session;
  std::optional<std::size_t> lag;
  std::optional<std::size_t> most_rounds;
  std::optional<double> until_tv;
  std::optional<double> confidence;
  std::optional<std::size_t> token_limit;
  std::optional<std::size_t> pairs_given;
  bool json = false;
};

/// The total variation that --until-tv asks for.
struct Goal {
  double tv = 0.0;
  double confidence = default_confidence;
};

nlohmann::ordered_json json_of(const std::optional<gpu::Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"mean", estimate->mean}, {"standard_error", estimate->error}};
}

/// The rounds at which the bound is printed: 0, N, and powers of two until it is 0.
std::vector<std::size_t> printed_rounds(const std::vector<gpu::CoupledPair>& pairs, std::size_t lag,
                                        std::size_t rounds) {
  std::vector<std::size_t> printed{0};
  const std::size_t meeting = gpu::last_meeting(pairs).value_or(0);
  const std::size_t last = meeting > lag ? meeting - lag : 0;
  for (std::size_t round = 1; round < last; round *= 2) printed.push_back(round);
  for (const std::size_t round : {rounds, last})
    if (std::ranges::find(printed, round) == printed.end()) printed.push_back(round);
  std::ranges::sort(printed);
  return printed;
}

struct Certificate {
  std::vector<gpu::CoupledPair> pairs;
  std::size_t lag = 0;
  std::size_t rounds = 0;  ///< N of the run that is judged
  std::size_t most_rounds = 0;
  std::uint64_t tokens = 0;  ///< that all pairs drew
  bool is_cut = false;       ///< whether the limit on tokens has ended them
  std::optional<Goal> goal;

  /// The rounds at which the goal is reached; nothing if that is not known yet.
  std::optional<std::size_t> reached() const {
    return gpu::rounds_for(pairs, lag, goal->tv, goal->confidence);
  }
  std::size_t met() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        pairs, [](const gpu::CoupledPair& pair) { return pair.meeting.has_value(); }));
  }
  std::optional<gpu::Estimate> mean(double gpu::CoupledValue::*part) const {
    return gpu::unbiased_mean(pairs, lag, rounds,
                              [&](const gpu::CoupledValue& value) { return value.*part; });
  }
};

void print(const Certificate& found) {
  std::printf("%zu of %zu pairs met within %zu rounds; lag %zu\n", found.met(), found.pairs.size(),
              found.most_rounds, found.lag);
  const auto bound = gpu::tv_bound(found.pairs, found.lag, found.rounds);
  if (!bound && found.goal) {
    std::printf("not yet: no TV is known after %llu tokens; give a larger %s\n",
                static_cast<unsigned long long>(found.tokens),
                found.is_cut ? "--token-limit" : "--most-rounds");
    return;
  }
  if (!bound) {
    std::printf(
        "no bound yet: a bound needs every pair; give more --most-rounds, or a ladder that mixes "
        "faster\n");
    return;
  }
  std::printf("%8s  %12s  %12s\n", "rounds", "TV at most", "limit, 95 %");
  for (const std::size_t round : printed_rounds(found.pairs, found.lag, found.rounds))
    std::printf("%8zu  %12.4f  %12.4f%s\n", round,
                gpu::tv_bound(found.pairs, found.lag, round)->mean,
                *gpu::upper_tv_bound(found.pairs, found.lag, round),
                round == found.rounds ? "  <- the rounds of this run" : "");
  if (found.goal) {
    std::printf("reached: TV at most %g from %zu rounds on, at a confidence of %g; %llu tokens\n",
                found.goal->tv, *found.reached(), found.goal->confidence,
                static_cast<unsigned long long>(found.tokens));
  } else if (const auto needed = gpu::rounds_for(found.pairs, found.lag, 0.05))
    std::printf("the limit is at most 0.05 from %zu rounds on\n", *needed);
  else
    std::printf("so few pairs cannot show a limit of 0.05; 59 are the fewest that can\n");
  const gpu::Estimate log_p0 = *found.mean(&gpu::CoupledValue::log_p0);
  const gpu::Estimate length = *found.mean(&gpu::CoupledValue::length);
  std::printf("under the target, without bias: log p0 %.4f +- %.4f, length %.3f +- %.3f\n",
              log_p0.mean, gpu::errors_of_95 * log_p0.error, length.mean,
              gpu::errors_of_95 * length.error);
}

void print_json(const Certificate& found) {
  nlohmann::ordered_json report{{"lag", found.lag},
                                {"rounds", found.rounds},
                                {"most_rounds", found.most_rounds},
                                {"pairs", found.pairs.size()},
                                {"met", found.met()}};
  auto& meetings = report["meetings"] = nlohmann::ordered_json::array();
  for (const gpu::CoupledPair& pair : found.pairs)
    meetings.push_back(pair.meeting ? nlohmann::ordered_json(*pair.meeting)
                                    : nlohmann::ordered_json(nullptr));
  report["tv_at_most"] = json_of(gpu::tv_bound(found.pairs, found.lag, found.rounds));
  auto& by_round = report["tv_at_most_by_round"] = nlohmann::ordered_json::array();
  if (report["tv_at_most"].is_object())
    for (const std::size_t round : printed_rounds(found.pairs, found.lag, found.rounds)) {
      nlohmann::ordered_json at{{"round", round}};
      at.update(json_of(gpu::tv_bound(found.pairs, found.lag, round)));
      at["limit"] = *gpu::upper_tv_bound(found.pairs, found.lag, round);
      by_round.push_back(std::move(at));
    }
  const auto needed = gpu::rounds_for(found.pairs, found.lag, 0.05);
  report["rounds_for_0.05"] =
      needed ? nlohmann::ordered_json(*needed) : nlohmann::ordered_json(nullptr);
  if (found.goal) {
    const auto reached = found.reached();
    report["until_tv"] = {
        {"tv", found.goal->tv},
        {"confidence", found.goal->confidence},
        {"rounds", reached ? nlohmann::ordered_json(*reached) : nlohmann::ordered_json(nullptr)}};
  }
  report["decode_tokens"] = found.tokens;
  report["log_p0"] = json_of(found.mean(&gpu::CoupledValue::log_p0));
  report["length"] = json_of(found.mean(&gpu::CoupledValue::length));
  std::cout << report.dump() << '\n';
}

void run_certify_run(const CertifyRunOptions& options) {
  const gpu::CurrentDevice here(gpu::require_device(options.device));
  std::optional<gpu::ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  const gpu::SamplerWish wish = options.sampler.wish();
  if (!wish.stop.empty())
    throw BadInput("--stop", "has no effect here", "the bound is that of whole records");
  const gpu::OpenedModel model =
      open_model(options.model, options.arithmetic, options.rope_factors);
  gpu::CouplingSettings settings;
  settings.request = gpu::resolve(
      model,
      {options.chat.prompt_of({"", options.prompt, "prompt"}), options.chat.arguments(), {}, wish},
      gpu::Spelling::flags);
  Certificate found;
  found.rounds = settings.request.plan.stages.back().rounds;
  found.lag = options.lag.value_or(std::max<std::size_t>(found.rounds, 1));
  found.most_rounds = options.most_rounds.value_or(100 * (found.lag + found.rounds));
  settings.lag = found.lag;
  settings.pairs = options.pairs_given.value_or(default_pairs);
  if (options.until_tv) {
    found.goal = Goal{*options.until_tv, options.confidence.value_or(default_confidence)};
    const std::size_t pairs = gpu::pairs_for(found.goal->tv, found.goal->confidence);
    settings.pairs = options.pairs_given.value_or(pairs);
    if (settings.pairs < pairs)
      throw BadInput("--pairs",
                     std::to_string(settings.pairs) + " cannot show what --until-tv asks",
                     "give at least " + std::to_string(pairs) + ", or leave it out");
    // As long as the goal asks: the addresses of draws are the end.
    const gpu::Stage& last = settings.request.plan.stages.back();
    if (!options.most_rounds)
      found.most_rounds =
          (gpu::addressable_turns / 2) / std::max<std::size_t>({last.local_moves, last.sweeps, 1});
  }
  settings.most_tokens = options.token_limit.value_or(0);
  settings.most_rounds = found.most_rounds;
  settings.session = options.session;
  ProgressLine line;
  line.show_step(0, settings.pairs, "pair");
  settings.told = [&](std::size_t ended, std::size_t met) {
    line.show_step(ended, settings.pairs, std::to_string(met) + " have met");
  };
  found.pairs = gpu::run_coupled(model.model(), settings, &found.tokens);
  line.clear();
  found.is_cut = settings.most_tokens > 0 && found.tokens >= settings.most_tokens;
  if (options.json)
    print_json(found);
  else
    print(found);
  if (found.goal && !found.reached()) throw CLI::RuntimeError(1);
}

}  // namespace

namespace {

/// A number between 0 and 1, neither of them.
CLI::Option* add_share(CLI::App& command, const std::string& flag, std::optional<double>& value,
                       const std::string& help) {
  return add_parsed(command, flag, "X", help, [&value, flag](const std::string& text) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!is_number || !(number > 0.0 && number < 1.0))
      throw BadInput(flag, in_quotes(text) + " is not a number between 0 and 1",
                     "give such as 0.05");
    value = number;
  });
}

}  // namespace

void add_certify_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "certify-run",
      "Bound the total variation between a run's answers and its target, on any model, by pairs of "
      "runs that share their draws");
  auto options = std::make_shared<CertifyRunOptions>();
  CLI::Option* prompt = command->add_option("PROMPT", options->prompt, "The prompt");
  CLI::Option* model =
      add_text(*command, "--model", options->model, "MODEL",
               "Hugging Face folder, GGUF file, name of a model, or finite model (JSON)");
  add_whole_number(*command, "--pairs", options->pairs_given, {2, gpu::addressable_samples / 2},
                   "Independent pairs of runs (default: " + std::to_string(default_pairs) +
                       ", and with --until-tv as many as it asks)");
  add_share(
      *command, "--until-tv", options->until_tv,
      "Run until the limit of the total variation can be this, and say from which round on it "
      "is: exit code 0 if it is reached, 1 if not");
  CLI::Option* confidence =
      add_share(*command, "--confidence", options->confidence,
                "The confidence of --until-tv (default: " + decimal_of(default_confidence) + ")");
  add_whole_number(*command, "--token-limit", options->token_limit, {1, gpu::largest_token_limit},
                   "End all pairs after this many tokens; then no number is printed");
  add_whole_number(*command, "--lag", options->lag, {1, gpu::addressable_turns - 1},
                   "How many rounds one run of a pair is ahead (default: the rounds of the last "
                   "stage)");
  add_whole_number(*command, "--most-rounds", options->most_rounds, {1, gpu::addressable_turns - 1},
                   "End a pair that has not met after this many rounds; there is no bound then "
                   "(default: a hundred times lag and rounds together)");
  options->sampler.add_to(*command, SamplerFlags::Of::one_answer);
  options->chat.add_to(*command);
  add_arithmetic(*command, options->arithmetic);
  add_rope_factors(*command, options->rope_factors);
  add_bytes(*command, "--cache-memory", options->session.cache_memory,
            "The most that keys and values may take, such as 8GiB (default: half of the memory "
            "that is free)");
  add_device(*command, options->device);
  const CLI::Option* threads = add_threads(*command, options->threads);
  command->add_flag("--json", options->json,
                    "Print {\"lag\", \"rounds\", \"most_rounds\", \"pairs\", \"met\", "
                    "\"meetings\", \"tv_at_most\", \"tv_at_most_by_round\", \"rounds_for_0.05\", "
                    "\"until_tv\" if asked, \"decode_tokens\", \"log_p0\", "
                    "\"length\"}; what no bound is known for is null");
  command->footer(certify_run_examples);
  command->callback([=] {
    // An empty prompt is a prompt.
    if (prompt->count() == 0) throw BadInput("PROMPT", "is missing", "give it as an argument");
    require(*model, "give --model MODEL");
    options->chat.check();
    if (confidence->count() > 0 && !options->until_tv)
      throw BadInput("--confidence", "has no effect without --until-tv", "give both");
    refuse_idle_threads(*threads);
    run_certify_run(*options);
  });
}

}  // namespace tempera::cli
