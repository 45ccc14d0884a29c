#include <charconv>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/disk.hpp"
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
#include "lab/drawing/meeting_plot.hpp"
#include "runs/coupling/certificate.hpp"
#include "settings/resolve.hpp"

namespace tempera::cli {
namespace {

constexpr const char* certify_run_examples = R"(Examples:
  tempera certify-run '4+7+9?' --model toy_models/worked_sum --powers 1,2,4 --horizon 28
  tempera certify-run '4+7+9?' --model toy_models/worked_sum --powers 1,2,4 --horizon 28 --answer =20
  tempera certify-run '' --model toy_models/bimodal.json --powers 1,4 --horizon 3 --pairs 200 --json)";

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
  gpu::CertificateWish certificate;
  std::string answer;
  std::string plot;
  std::string csv;
  bool json = false;
};

void print(const gpu::Certificate& found, const std::string& answer) {
  if (found.knows_meetings())
    std::printf("%zu of %zu pairs met within %zu rounds; lag %zu\n", found.met(),
                found.pairs.size(), found.most_rounds, found.lag);
  else
    std::printf("%zu of %zu pairs met before --token-limit; lag %zu\n", found.met(),
                found.pairs.size(), found.lag);
  const auto bound = gpu::tv_bound(found.pairs, found.lag, found.rounds);
  if (!bound && found.goal) {
    std::printf("not yet: no TV is known after %llu tokens; give a larger %s\n",
                static_cast<unsigned long long>(found.tokens),
                found.is_cut ? "--token-limit" : "--most-rounds");
    return;
  }
  if (!bound) {
    std::printf("no bound yet: a bound needs every pair; give %s, or a ladder that mixes faster\n",
                found.is_cut ? "a larger --token-limit" : "more --most-rounds");
    return;
  }
  std::printf("%8s  %12s  %12s\n", "rounds", "TV at most", "limit, 95 %");
  for (const std::size_t round : found.reported_rounds())
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
  if (const auto share = found.answer())
    std::printf("an answer that ends with %s: probability %.4f +- %.4f\n",
                in_quotes(answer).c_str(), share->mean, found.margin(*share));
}

/// Picture and table of the meetings, where they are asked for.
void write_meetings(const CertifyRunOptions& options, const gpu::Certificate& found) {
  if (options.plot.empty() && options.csv.empty()) return;
  if (!found.knows_meetings()) {
    std::cerr
        << "tempera: meetings are not written: --token-limit has ended pairs before they met\n";
    return;
  }
  Disk& disk = Disk::real();
  const std::string title = "certify-run " + options.model;
  if (!options.plot.empty()) disk.replace(options.plot, gpu::meeting_plot(found, title));
  if (!options.csv.empty()) disk.replace(options.csv, gpu::meetings_csv(found));
}

void run_certify_run(const CertifyRunOptions& options) {
  for (const std::string& file : {options.plot, options.csv})
    if (!file.empty()) Disk::real().require_replaceable(file);
  const gpu::CurrentDevice here(gpu::require_device(options.device));
  std::optional<gpu::ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  const gpu::OpenedModel model =
      open_model(options.model, options.arithmetic, options.rope_factors);
  const gpu::SampleRequest request =
      gpu::resolve(model,
                   {options.chat.prompt_of({"", options.prompt, "prompt"}),
                    options.chat.arguments(),
                    {},
                    options.sampler.wish()},
                   gpu::Spelling::flags);
  ProgressLine line;
  const gpu::Certificate found = gpu::certify_run(
      model, request, options.certificate, options.session, gpu::Spelling::flags,
      [&](std::size_t ended, std::size_t met, std::size_t pairs) {
        line.show_step(ended, pairs, ended == 0 ? "pair" : std::to_string(met) + " have met");
      });
  line.clear();
  write_meetings(options, found);
  if (options.json)
    std::cout << found.to_json().dump() << '\n';
  else
    print(found, options.answer);
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
  add_whole_number(*command, "--pairs", options->certificate.pairs,
                   {2, gpu::addressable_samples / 2},
                   "Independent pairs of runs (default: " + std::to_string(gpu::default_pairs) +
                       ", and with --until-tv as many as it asks)");
  add_share(
      *command, "--until-tv", options->certificate.until_tv,
      "Run until the limit of the total variation can be this, and say from which round on it "
      "is: exit code 0 if it is reached, 1 if not");
  add_share(
      *command, "--confidence", options->certificate.confidence,
      "The confidence of --until-tv (default: " + decimal_of(gpu::default_goal_confidence) + ")");
  add_whole_number(*command, "--token-limit", options->certificate.token_limit,
                   {1, gpu::largest_token_limit},
                   "End all pairs after this many tokens; then no number is printed");
  add_whole_number(*command, "--lag", options->certificate.lag, {1, gpu::addressable_turns - 1},
                   "How many rounds one run of a pair is ahead (default: the rounds of the last "
                   "stage)");
  add_whole_number(
      *command, "--most-rounds", options->certificate.most_rounds, {1, gpu::addressable_turns - 1},
      "End a pair that has not met after this many rounds; there is no bound then, and the exit "
      "code is 0 unless --until-tv is given "
      "(default: a hundred times lag and rounds together)");
  add_parsed(
      *command, "--answer", "TEXT",
      "Estimate the probability of an answer under the target too, without bias: of one that "
      "has ended and whose text ends with this, white space aside, such as 'The answer is 24.'",
      [options](const std::string& text) {
        options->certificate.is_answer = gpu::ends_with(text, gpu::Spelling::flags);
        options->answer = text;
      });
  add_text(
      *command, "--plot", options->plot, "FILE",
      "Also draw the share of pairs that are apart and the bound, by round, as an SVG picture");
  add_text(*command, "--csv", options->csv, "FILE",
           "Also write these as a table: round, pairs apart, pairs, bound, its standard error and "
           "its limit");
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
                    "\"length\", \"answer\" if asked}; what no bound is known for is null");
  command->footer(certify_run_examples);
  command->callback([=] {
    // An empty prompt is a prompt.
    if (prompt->count() == 0) throw BadInput("PROMPT", "is missing", "give it as an argument");
    require(*model, "give --model MODEL");
    options->chat.check();
    refuse_idle_threads(*threads);
    run_certify_run(*options);
  });
}

}  // namespace tempera::cli
