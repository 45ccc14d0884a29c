#include "lab/laws/named_sampler_law.hpp"

#include <chrono>
#include <set>

#include "lab/laws/program_law.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "reference/kernels/exact_rejection.hpp"
#include "reference/kernels/likeliest_record.hpp"
#include "reference/kernels/power_smc.hpp"
#include "reference/kernels/token_rules.hpp"
#include "reference/kernels/tokenwise_law.hpp"
#include "settings/named_sampler.hpp"

namespace tempera::lab {
namespace {

using reference::ComparisonSpace;
using reference::FixedHorizonSpace;
using reference::Law;
using reference::Power;

constexpr std::size_t most_records = 6;

Power power_at(const NamedRun& run, std::size_t rung) {
  return Power(run.powers[rung], "power", run.irrational);
}

std::vector<reference::StageSchedule> stages_without_sweeps(const NamedRun& run) {
  return {{run.stage.rounds, run.stage.local_moves, 0}};
}

reference::StageRestart restart_of(const NamedRun& run) {
  reference::StageRestart restart;
  if (!run.restart_weights.empty())
    restart.weights = {run.restart_weights.begin(), run.restart_weights.end()};
  if (run.restart_range == gpu::RestartRange::record)
    restart.range = reference::RestartRange::record;
  return restart;
}

/// The rules as rationals: the numbers that the doubles are.
reference::TokenRules rules_of(const TokenOptions& options) {
  return {Rational(options.repetition_penalty),
          Rational(options.frequency_penalty),
          Rational(options.presence_penalty),
          options.min_tokens,
          options.ignore_eos,
          options.top_k,
          Rational(options.min_p),
          Rational(options.top_p)};
}

DefinedSampler tokenwise(const NamedRun& run, const FixedHorizonSpace& space) {
  const Law law = run.tokens == TokenOptions{}
                      ? tokenwise_law(space, power_at(run, 0))
                      : ruled_tokenwise_law(space, power_at(run, 0), rules_of(run.tokens));
  return {law, expected_length(space, law)};
}

DefinedSampler best_of(const NamedRun& run, const FixedHorizonSpace& space) {
  const Law one = tokenwise_law(space, power_at(run, 0));
  return {likeliest_record_law(space, std::vector<Law>(run.particles, one)),
          Rational(run.particles) * expected_length(space, one)};
}

DefinedSampler particles(const NamedRun& run, const FixedHorizonSpace& space) {
  std::vector<Power> ramp;
  for (std::size_t k = 0; k < run.powers.size(); ++k) ramp.push_back(power_at(run, k));
  const auto exact = power_smc_law(space, run.block, ramp, run.particles);
  return {exact.answer, exact.tokens};
}

/// Algorithm 1, the answer at rung k*; K = 1 is the fixed horizon.
DefinedSampler tempering(const NamedRun& run, const FixedHorizonSpace& space) {
  std::vector<Power> powers;
  for (std::size_t k = 0; k < run.powers.size(); ++k) powers.push_back(power_at(run, k));
  const auto exact = progressive_run(
      space.model(), run.horizon, run.block, reference::Ladder(powers), {run.stage},
      run.schedule == gpu::Schedule::adj ? reference::Schedule::adj : reference::Schedule::deo,
      restart_of(run));
  return {reference::marginal(exact.law, reference::Shape(powers.size(), space.size()), run.output),
          exact.decode_tokens};
}

/// The chains of the rungs, each by itself.
DefinedSampler uncoupled(const NamedRun& run, const FixedHorizonSpace& space) {
  std::vector<Law> laws;
  Rational tokens = 0;
  for (std::size_t k = 0; k < run.powers.size(); ++k) {
    const auto chain = progressive_run(
        space.model(), run.horizon, run.block, reference::Ladder({power_at(run, k)}),
        stages_without_sweeps(run), reference::Schedule::adj, restart_of(run));
    laws.push_back(chain.law);
    tokens += chain.decode_tokens;
  }
  const bool by_likelihood = run.sampler == "uncoupled-ladder-by-likelihood";
  return {by_likelihood ? likeliest_record_law(space, laws) : laws.at(run.output), tokens};
}

DefinedSampler truncating(const NamedRun& run, const ComparisonSpace& space) {
  const auto exact = truncating_progressive_run(space.model(), run.horizon, run.block,
                                                power_at(run, 0), stages_without_sweeps(run));
  return {exact.law, exact.decode_tokens};
}

/// The answer of a run that gives one.
DefinedSampler rejection(const NamedRun& run, const FixedHorizonSpace& space) {
  const auto exact =
      rejection_law(space, power_at(run, 0), run.most_tokens == 0 ? run.horizon : run.most_tokens);
  DefinedSampler defined{exact.answer, exact.tokens, exact.drawn};
  if (run.most_tokens == 0) defined.decode_tokens /= exact.drawn;
  return defined;
}

using Defined = DefinedSampler (*)(const NamedRun&, const FixedHorizonSpace&);

Defined definition_of(const std::string& sampler) {
  if (sampler == "standard" || sampler == "low-temperature") return tokenwise;
  if (sampler == "best-of-n") return best_of;
  if (sampler == "power-smc" || sampler == "ramped-smc") return particles;
  if (sampler == "exact-rejection") return rejection;
  if (sampler == "uncoupled-ladder" || sampler == "uncoupled-ladder-by-likelihood")
    return uncoupled;
  return tempering;
}

gpu::Plan plan_of(const NamedRun& run) {
  gpu::Plan plan{gpu::make_stages(run.horizon, run.block, {run.stage.rounds},
                                  {run.stage.local_moves}, {run.stage.sweeps}),
                 run.schedule,
                 run.output,
                 0,
                 run.restart_weights,
                 run.restart_range};
  gpu::require_restart(plan, "--restart-weights");
  const gpu::NamedSampler& sampler = gpu::sampler_named(run.sampler, "--sampler");
  if (sampler.takes_particles) plan.particles = run.particles;
  if (sampler.until_kept) {
    plan.until_kept = true;
    plan.most_tokens = run.most_tokens == 0 ? run.horizon : run.most_tokens;
  }
  return plan;
}

std::size_t records_of(const ShippedUse& use, std::size_t horizon) {
  return FixedHorizonSpace(use.model, std::min(horizon, use.horizon)).size();
}

}  // namespace

Program program_named(const std::string& sampler) {
  return gpu::sampler_named(sampler, "--sampler").program;
}

std::map<std::vector<reference::Token>, Rational> defined_answer(
    const NamedRun& run, const reference::FiniteModel& model) {
  std::map<std::vector<reference::Token>, Rational> answer;
  const auto fill = [&](const reference::RecordSpace& space, const Law& law) {
    for (std::size_t x = 0; x < law.size(); ++x)
      if (law[x] != 0) answer[space[x].tokens] = law[x];
  };
  if (run.sampler == "power-sampling") {
    const ComparisonSpace space(model, run.horizon);
    fill(space, truncating(run, space).answer);
  } else {
    const FixedHorizonSpace space(model, run.horizon);
    fill(space, definition_of(run.sampler)(run, space).answer);
  }
  return answer;
}

SamplerReport named_sampler_law(const NamedRun& run, const reference::FiniteModel& model,
                                Program program) {
  SamplerQuestion question{program, run.powers, plan_of(run), run.options};
  question.tokens = run.tokens;
  question.repeats = run.sampler == "exact-rejection" && run.most_tokens == 0;
  if (run.sampler == "power-sampling")
    return sampler_law(question, model, TruncatingDefinition([&](const ComparisonSpace& space) {
                         return truncating(run, space);
                       }));
  const Defined defined = definition_of(run.sampler);
  return sampler_law(question, model, Definition([&](const FixedHorizonSpace& space) {
                       return defined(run, space);
                     }));
}

SamplerReport named_sampler_law(const NamedRun& run, const reference::FiniteModel& model) {
  const Program program = program_named(run.sampler);
  if (definition_of(run.sampler) != uncoupled) return named_sampler_law(run, model, program);
  const bool by_likelihood = run.sampler == "uncoupled-ladder-by-likelihood";
  return sampler_law_apart(
      {program, run.powers, plan_of(run), run.options},
      by_likelihood ? ApartReadout::likeliest : ApartReadout::output_rung, model,
      Definition([&](const FixedHorizonSpace& space) { return uncoupled(run, space); }));
}

const Real& bound_of(const NamedRun& run) {
  const auto& sampler = gpu::sampler_named(run.sampler, "--sampler");
  return sampler.takes_moves ? program_bound : sampler_bound;
}

Real penalty_rounding(const NamedRun& run, const reference::FiniteModel& model) {
  const TokenOptions& options = run.tokens;
  const auto is_penalized = options.repetition_penalty != 1.0 || options.frequency_penalty != 0.0 ||
                            options.presence_penalty != 0.0;
  if (!is_penalized) return 0;
  Real least = 1;
  const FixedHorizonSpace space(model, run.horizon);
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t t = 0; t < space[x].tokens.size(); ++t)
      for (const Rational& p : model.token_row(std::span(space[x].tokens).first(t)))
        if (p > 0) least = std::min(least, to_real(p));
  const Real largest = -log(least), r = options.repetition_penalty, horizon = run.horizon;
  const Real penalized =
      r * largest + horizon * abs(options.frequency_penalty) + abs(options.presence_penalty);
  return horizon * horizon * to_real(run.powers.front()) * (2 * penalized + abs(r - 1) * largest) *
         ldexp(Real(1), -24);
}

bool ShippedSampler::holds() const {
  const Real bound = bound_of(run) + penalty_rounding;
  if (report.kept && abs(to_real(*report.kept - report.defined_kept)) > target_bound) return false;
  return report.tv_own < bound && report.tokens_own < bound &&
         (run.tokens != TokenOptions{} || report.tv_to_definition < target_bound) &&
         report.stale_records == 0;
}

std::vector<NamedRun> shipped_runs(const ShippedUse& use, const std::string& name) {
  const gpu::NamedSampler& sampler = gpu::sampler_named(name, "--sampler");
  NamedRun run{name, std::min<std::size_t>(3, use.horizon), 0, {use.power}, 3, {1, 1, 1}};
  if (records_of(use, run.horizon) > most_records)
    run.horizon = std::min<std::size_t>(2, use.horizon);
  const std::size_t records = records_of(use, run.horizon);
  if (records < 2 || records > most_records) return {};
  run.block = std::max<std::size_t>(1, run.horizon - 1);
  if (name == "best-of-n" || sampler.powers == gpu::NamedSampler::Powers::base) run.powers = {1};
  if (sampler.until_kept) {
    std::vector<NamedRun> runs{run, run};
    runs.back().most_tokens = 2 * run.horizon + 1;
    return runs;
  }
  if (sampler.powers != gpu::NamedSampler::Powers::ladder) return {run};
  if (use.power == 1) return {};
  run.powers = {1, use.power};
  std::vector<NamedRun> runs{run};
  if (sampler.takes_output) {
    runs.push_back(run);
    runs.back().output = 1;
  }
  if (sampler.takes_swaps) runs.back().schedule = gpu::Schedule::deo;
  return runs;
}

std::vector<ShippedSampler> shipped_samplers(
    const std::vector<ShippedUse>& uses, const std::vector<std::string>& samplers,
    const std::function<Program(const std::string&)>& program,
    const std::function<void(const ShippedSampler&)>& done) {
  std::vector<ShippedSampler> walked;
  std::set<std::string> models;
  for (const ShippedUse& use : uses) {
    if (!models.insert(use.name).second) continue;
    for (const std::string& name : samplers)
      for (const NamedRun& run : shipped_runs(use, name)) {
        const auto begin = std::chrono::steady_clock::now();
        ShippedSampler sampler{use.name, run, named_sampler_law(run, use.model, program(name)),
                               0.0};
        sampler.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        walked.push_back(std::move(sampler));
        if (done) done(walked.back());
      }
  }
  return walked;
}

}  // namespace tempera::lab
