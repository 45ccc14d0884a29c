#include "lab/laws/sampler_law.hpp"

#include "gpu/core/sampler/likeliest_record.hpp"
#include "lab/enumerate/canonical_records.hpp"
#include "lab/enumerate/own_model.hpp"
#include "reference/analysis/total_variation.hpp"

namespace tempera::lab {

const Real sampler_bound("1e-10");

namespace {

using Answers = std::map<std::vector<gpu::TokenId>, Rational>;

/// What walking found: the law of the answers, and what it took.
struct Walked {
  Answers answers;
  Rational decode_tokens = 0;
  std::size_t states = 0;
  std::size_t stale_records = 0;
  std::optional<Rational> kept = std::nullopt;
};

gpu::Ladder ladder_of(const std::vector<Rational>& powers) {
  std::vector<double> rungs;
  for (const Rational& power : powers) rungs.push_back(nearest_double(power));
  return gpu::Ladder(rungs);
}

/// Makes of the law of the answers that of the answers given that there is one.
void condition(Walked& walked, bool repeats) {
  walked.kept = 0;
  for (const auto& [tokens, probability] : walked.answers) *walked.kept += probability;
  if (*walked.kept == 0) throw NotEnumerable("no run gives an answer");
  for (auto& [tokens, probability] : walked.answers) probability /= *walked.kept;
  if (repeats) walked.decode_tokens /= *walked.kept;
}

Walked walk(const SamplerQuestion& question, const EnumerableModel& model) {
  const gpu::Ladder ladder = ladder_of(question.powers);
  // A move that begins ahead needs a row of its own beside those whose turn it is, and goes on from
  // round to round.
  const std::size_t ahead = question.options.prefetch;
  const WalkedProgram program = walk_program(
      question.program, model, ladder, question.plan, ahead > 0 ? Cuts::none : Cuts::at_every_round,
      ahead > 0 ? question.plan.replicas(ladder) * (1 + ahead) : 1, gpu::make_device_row_lottery(),
      1024, question.options, question.tokens);
  Walked walked{{}, program.decode_tokens, program.states, program.stale_records};
  for (const auto& [outcome, probability] : program.law)
    if (!question.plan.until_kept || !outcome.answer.empty())
      walked.answers[outcome.answer] += probability;
  if (question.plan.until_kept) condition(walked, question.repeats);
  return walked;
}

Walked walk_apart(const SamplerQuestion& question, ApartReadout readout,
                  const EnumerableModel& model) {
  Walked walked;
  std::vector<Answers> chains;
  for (const Rational& power : question.powers) {
    SamplerQuestion of_rung = question;
    of_rung.powers = {power};
    of_rung.plan.output = 0;
    Walked chain = walk(of_rung, model);
    walked.decode_tokens += chain.decode_tokens;
    walked.states += chain.states;
    walked.stale_records += chain.stale_records;
    chains.push_back(std::move(chain.answers));
  }
  if (readout == ApartReadout::output_rung) {
    walked.answers = std::move(chains.at(question.plan.output));
    return walked;
  }
  const gpu::Ladder ladder = ladder_of(question.powers);
  CanonicalRecords canonical(model, ladder);
  std::vector<gpu::Record> records;
  const std::size_t horizon = question.plan.stages.back().horizon;
  const std::function<void(const Rational&)> read = [&](const Rational& probability) {
    if (records.size() == chains.size()) {
      walked.answers[records[gpu::likeliest_record(records)].token_ids()] += probability;
      return;
    }
    for (const auto& [tokens, mass] : chains[records.size()]) {
      records.push_back(canonical.copy(tokens, horizon));
      read(probability * mass);
      records.pop_back();
    }
  };
  read(1);
  return walked;
}

template <class Space>
SamplerReport report_on(const SamplerQuestion& question, const reference::FiniteModel& model,
                        const std::function<DefinedSampler(const Space&)>& definition,
                        const std::function<Walked(const EnumerableModel&)>& walking) {
  const FiniteLogits logits(model);
  const EnumerableModel enumerable = logits.enumerable();
  const std::size_t horizon = question.plan.stages.back().horizon;
  const Walked walked = walking(enumerable);
  const Space own(own_model(enumerable, horizon, "own"), horizon);
  reference::Law answer(own.size());
  for (const auto& [tokens, probability] : walked.answers)
    answer[own.find(tokens).value()] += probability;
  const Space space(model, horizon);
  const DefinedSampler exact = definition(space);
  SamplerReport report;
  const DefinedSampler exact_own = definition(own);
  report.tv_own = to_real(reference::total_variation(answer, exact_own.answer));
  if (!question.options.early_rejection && question.options.prefetch == 0)
    report.tokens_own = abs(to_real(walked.decode_tokens - exact_own.decode_tokens));
  for (const Rational& probability : answer) report.outcomes += probability == 0 ? 0 : 1;
  report.states = walked.states;
  report.tv_to_definition = to_real(reference::total_variation(answer, exact.answer));
  report.decode_tokens = walked.decode_tokens;
  report.defined_tokens = exact.decode_tokens;
  report.stale_records = walked.stale_records;
  report.kept = walked.kept;
  report.defined_kept = exact.kept;
  report.records = space.names();
  report.answer = std::move(answer);
  report.defined = exact.answer;
  return report;
}

}  // namespace

double nearest_double(const Rational& power) { return to_real(power).convert_to<double>(); }

SamplerReport sampler_law(const SamplerQuestion& question, const reference::FiniteModel& model,
                          const Definition& definition) {
  return report_on(question, model, definition,
                   [&](const EnumerableModel& logits) { return walk(question, logits); });
}

SamplerReport sampler_law_apart(const SamplerQuestion& question, ApartReadout readout,
                                const reference::FiniteModel& model, const Definition& definition) {
  return report_on(question, model, definition, [&](const EnumerableModel& logits) {
    return walk_apart(question, readout, logits);
  });
}

SamplerReport sampler_law(const SamplerQuestion& question, const reference::FiniteModel& model,
                          const TruncatingDefinition& definition) {
  return report_on(question, model, definition,
                   [&](const EnumerableModel& logits) { return walk(question, logits); });
}

}  // namespace tempera::lab
