#include "lab/laws/sampler_law.hpp"

#include "lab/enumerate/own_model.hpp"
#include "reference/analysis/total_variation.hpp"

namespace tempera::lab {

const Real sampler_bound("1e-10");

namespace {

template <class Space>
SamplerReport report_on(const SamplerQuestion& question, const reference::FiniteModel& model,
                        const std::function<DefinedSampler(const Space&)>& definition) {
  const FiniteLogits logits(model);
  const EnumerableModel enumerable = logits.enumerable();
  std::vector<double> powers;
  for (const Rational& power : question.powers) powers.push_back(nearest_double(power));
  const gpu::Ladder ladder(powers);
  const std::size_t horizon = question.plan.stages.back().horizon;
  const WalkedProgram walked =
      walk_program(question.program, enumerable, ladder, question.plan, Cuts::at_every_round);
  const Space own(own_model(enumerable, horizon, "own"), horizon);
  reference::Law answer(own.size());
  for (const auto& [outcome, probability] : walked.law)
    answer[own.find(outcome.answer).value()] += probability;
  const Space space(model, horizon);
  const DefinedSampler exact = definition(space);
  SamplerReport report;
  const DefinedSampler exact_own = definition(own);
  report.tv_own = to_real(reference::total_variation(answer, exact_own.answer));
  report.tokens_own = abs(to_real(walked.decode_tokens - exact_own.decode_tokens));
  for (const Rational& probability : answer) report.outcomes += probability == 0 ? 0 : 1;
  report.states = walked.states;
  report.tv_to_definition = to_real(reference::total_variation(answer, exact.answer));
  report.decode_tokens = walked.decode_tokens;
  report.defined_tokens = exact.decode_tokens;
  report.stale_records = walked.stale_records;
  report.records = space.names();
  report.answer = std::move(answer);
  report.defined = exact.answer;
  return report;
}

}  // namespace

double nearest_double(const Rational& power) { return to_real(power).convert_to<double>(); }

SamplerReport sampler_law(const SamplerQuestion& question, const reference::FiniteModel& model,
                          const Definition& definition) {
  return report_on(question, model, definition);
}

SamplerReport sampler_law(const SamplerQuestion& question, const reference::FiniteModel& model,
                          const TruncatingDefinition& definition) {
  return report_on(question, model, definition);
}

}  // namespace tempera::lab
