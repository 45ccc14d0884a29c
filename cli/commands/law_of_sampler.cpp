// `tempera law MODEL --sampler NAME`: a whole sampler's compiled law beside its definition's.
#include "cli/commands/law_of_sampler.hpp"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "lab/laws/named_sampler_law.hpp"
#include "reference/kernels/joint_states.hpp"
#include "settings/defaults.hpp"
#include "settings/named_sampler.hpp"
#include "settings/resolve.hpp"

namespace tempera::cli {
namespace {

/// Joint states of all replicas whose definition has a law in reference/: seconds for some
/// hundreds, minutes for all.
constexpr std::size_t most_walked_states = reference::joint_law_limit;

using gpu::NamedSampler;

void refuse_given(const CLI::App& command, const std::string& flag, const NamedSampler& sampler) {
  if (command.get_option(flag)->count() > 0)
    throw BadInput(flag, std::string(sampler.name) + " does not take it", "leave it out");
}

/// Refuses what the sampler does not take, and what it takes and is not given. What is left open is
/// what a run would take.
/// @return its powers
std::vector<reference::Rational> check_options(const CLI::App& command,
                                               const SamplerLawModel& asked,
                                               const SamplerLawOptions& options,
                                               const gpu::ExactWish& exact,
                                               const NamedSampler& sampler) {
  const auto refuse = [&](bool takes, std::initializer_list<const char*> flags) {
    for (const char* flag : flags)
      if (!takes) refuse_given(command, flag, sampler);
  };
  gpu::SamplerWish wish = exact.as_sampler_wish();
  wish.sampler = options.sampler;
  wish.options = options.tokens.wish().options;
  static_cast<MoveOptions&>(wish.options) = options.options;
  if (!options.restart_weights.empty()) wish.restart_weights = options.restart_weights;
  wish.restart_range = asked.restart_range;
  gpu::refuse_without_effect(wish, sampler, gpu::Spelling::flags);
  refuse(sampler.powers == NamedSampler::Powers::ladder, {"--powers"});
  refuse(sampler.powers == NamedSampler::Powers::one, {"--power"});
  if (command.get_option("--restart")->count() > 0)
    throw BadInput("--restart", std::string(sampler.name) + " does not take it",
                   "give the weights of a run, --restart-weights W,W,...");
  refuse(false, {"--no-matrix"});
  require(*command.get_option("--horizon"), "give --horizon T");
  if (sampler.takes_particles)
    require(*command.get_option("--particles"), "give the number of particles, --particles N");
  if (sampler.powers == NamedSampler::Powers::ladder)
    require(*command.get_option("--powers"), "give --powers A,B,...");
  // What a run refuses is refused here, by the same lines.
  wish.horizon = asked.horizon;
  if (exact.block) wish.block = exact.block;
  if (sampler.takes_moves)
    wish.rounds = std::vector{exact.rounds.value_or(gpu::defaults::exact_rounds)};
  if (!asked.powers.empty()) {
    wish.powers.emplace();
    for (const auto& power : asked.powers) wish.powers->push_back(lab::nearest_double(power));
  }
  const gpu::SamplerSettings settings = gpu::resolve_sampler(wish, gpu::Spelling::flags);
  if (!asked.powers.empty()) return asked.powers;
  std::vector<reference::Rational> powers;
  for (const double power : settings.powers) powers.emplace_back(power);
  return powers;
}

lab::NamedRun run_of(const SamplerLawModel& asked, const SamplerLawOptions& options,
                     const gpu::ExactWish& wish, const std::vector<reference::Rational>& powers) {
  const gpu::ExactSettings settings = gpu::resolve_exact(
      wish, asked.horizon, powers.size(), gpu::ExactBlock::of_run, gpu::Spelling::flags);
  return {options.sampler,
          asked.horizon,
          settings.block,
          powers,
          settings.particles,
          {settings.rounds, settings.local_moves, settings.sweeps},
          settings.schedule,
          settings.output,
          reference::Irrational::rounded,
          options.restart_weights,
          asked.restart_range.value_or(gpu::RestartRange::horizon),
          options.options,
          settings.most_tokens,
          options.tokens.wish().options};
}

/// A walk goes through the joint states of all replicas, but for chains that are walked by
/// themselves.
void check_size(const lab::NamedRun& run, const reference::FiniteModel& model) {
  const std::size_t records = reference::FixedHorizonSpace(model, run.horizon).size();
  const std::size_t replicas =
      run.sampler == "uncoupled-ladder" ? 1 : std::max(run.powers.size(), run.particles);
  if (reference::joint_states_up_to(most_walked_states, records, replicas) > most_walked_states)
    throw BadInput("--horizon",
                   std::to_string(replicas) + " replicas have more than " +
                       std::to_string(most_walked_states) + " joint states",
                   "take a shorter horizon, fewer powers or fewer particles");
}

nlohmann::ordered_json to_json(const lab::NamedRun& run, const lab::SamplerReport& report,
                               bool holds) {
  nlohmann::ordered_json json{{"sampler", run.sampler}, {"records", report.records}};
  for (const auto& [key, law] :
       {std::pair{"compiled", &report.answer}, {"defined", &report.defined}})
    for (const auto& probability : *law) json[key].push_back(reference::to_string(probability));
  json["states"] = report.states;
  json["tv_own"] = lab::to_scientific(report.tv_own);
  json["tv_to_definition"] = lab::to_scientific(report.tv_to_definition);
  json["decode_tokens"] = reference::to_string(report.decode_tokens);
  json["decode_tokens_defined"] = reference::to_string(report.defined_tokens);
  if (report.kept) {
    json["kept"] = reference::to_string(*report.kept);
    json["kept_defined"] = reference::to_string(report.defined_kept);
  }
  json["holds"] = holds;
  return json;
}

void print(const SamplerLawModel& asked, const lab::NamedRun& run, const lab::SamplerReport& report,
           bool holds, double seconds) {
  char time[32];
  std::snprintf(time, sizeof time, "%.3f s", seconds);
  const auto say = [](const std::string& text, std::size_t indent) {
    std::printf("%s\n", wrapped(text, table_columns, indent).c_str());
  };
  say("the compiled sampler " + run.sampler + " on " + one_line(asked.model), 2);
  say("  horizon " + std::to_string(run.horizon) + ", block " + std::to_string(run.block) +
          ": it draws in " + std::to_string(report.states) + " states, " + time,
      2);
  const auto line = [](const char* what, const std::string& value, const char* note) {
    std::printf("  %-48s %s%s\n", what, value.c_str(), note);
  };
  line("TV of its answer to the definition's law", lab::to_scientific(report.tv_to_definition),
       "   (float32 logits included)");
  line("the same on the model of its own float32 logits", lab::to_scientific(report.tv_own),
       holds ? "   (within the bound)" : "   (OUT OF ITS BOUND)");
  line("expected decode tokens", reference::to_decimal(report.decode_tokens, 9), "");
  line("the definition's", reference::to_decimal(report.defined_tokens, 9),
       run.options.early_rejection || run.options.prefetch > 0 ? "   (no move ends or begins early)"
                                                               : "");
  if (report.kept) {
    line(run.most_tokens == 0 ? "share of proposals kept" : "probability that an answer is drawn",
         reference::to_decimal(*report.kept, 9), "");
    line("the definition's", reference::to_decimal(report.defined_kept, 9), "");
  }
  std::printf("  %12s  %12s  answer\n", "compiled", "defined");
  for (std::size_t s = 0; s < report.records.size(); ++s)
    std::printf("  %12s  %12s  %s\n", lab::to_scientific(lab::to_real(report.answer[s])).c_str(),
                lab::to_scientific(lab::to_real(report.defined[s])).c_str(),
                fitted(report.records[s], table_columns - 30).c_str());
}

}  // namespace

std::vector<CLI::Option*> add_sampler_law_options(CLI::App& command, SamplerLawOptions& options) {
  gpu::ExactWish& wish = options.wish;
  std::string names;
  for (const NamedSampler& sampler : gpu::named_samplers())
    names += (names.empty() ? "" : ", ") + std::string(sampler.name);
  std::vector<CLI::Option*> added{
      add_text(command, "--sampler", options.sampler, "NAME",
               "The law of a whole sampler's answer beside that of its definition: " + names),
      add_whole_number(command, "--block", wish.block, {1, 128},
                       "For a sampler: block width B (default: T/4)"),
      add_whole_number(
          command, "--rounds", wish.rounds, {0, 64},
          "For a sampler: rounds in each stage" + default_text(gpu::defaults::exact_rounds)),
      add_whole_number(command, "--local-moves", wish.local_moves, {0, 64},
                       "For a sampler: local moves of each rung in a round" +
                           default_text(gpu::defaults::local_moves)),
      add_whole_number(command, "--sweeps", wish.sweeps, {0, 64},
                       "For a sampler: sweeps in a round" + default_text(gpu::defaults::sweeps)),
      add_whole_number(command, "--particles", wish.particles, {1, 64},
                       "For a sampler: its particles, or answers to choose from"),
      add_whole_number(command, "--output-rung", wish.output_rung, {1, 64},
                       "For a sampler: the rung k* of the answer (default: the last)"),
      add_whole_number(command, "--most-tokens", wish.most_tokens, {1, 4096},
                       "For exact-rejection: the most tokens of its proposals (default: the law of "
                       "one proposal, which gives that of any number)"),
      add_restart_weights(command, options.restart_weights),
      command.add_flag("--early-rejection", options.options.early_rejection,
                       "For a sampler: end proposals whose rejection is certain"),
      add_whole_number(
          command, "--prefetch", options.options.prefetch, {0, 8},
          "For a sampler: local moves of each rung that begin ahead" + default_text(0))};
  const auto of_tokens = options.tokens.add_to(command, SamplerFlags::Of::token);
  added.insert(added.end(), of_tokens.begin(), of_tokens.end());
  return added;
}

void run_sampler_law(const CLI::App& command, const SamplerLawModel& asked,
                     const SamplerLawOptions& options) {
  const NamedSampler& sampler = gpu::sampler_named(options.sampler, "--sampler");
  gpu::ExactWish wish = options.wish;
  wish.schedule = asked.schedule;
  const lab::NamedRun run =
      run_of(asked, options, wish, check_options(command, asked, options, wish, sampler));
  const reference::FiniteModel model = reference::load_finite_model(asked.model);
  check_size(run, model);
  const auto begin = std::chrono::steady_clock::now();
  const lab::ShippedSampler walked{asked.model, run, lab::named_sampler_law(run, model), 0.0,
                                   lab::penalty_rounding(run, model)};
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (asked.json)
    std::cout << to_json(run, walked.report, walked.holds()).dump() << '\n';
  else
    print(asked, run, walked.report, walked.holds(), elapsed.count());
}

}  // namespace tempera::cli
