#include "lab/laws/program_law.hpp"

#include "lab/enumerate/own_model.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/joint_states.hpp"

namespace tempera::lab {

const Real program_bound("4e-10");

namespace {

gpu::Ladder ladder_of(const ProgramQuestion& question) {
  return gpu::Ladder({question.powers.begin(), question.powers.end()});
}

reference::Ladder exact_ladder(const ProgramQuestion& question) {
  std::vector<reference::Power> powers;
  for (const unsigned power : question.powers) powers.emplace_back(Rational(power));
  return reference::Ladder(powers);
}

/// The law of all records, and that of the answer, on the states of reference/.
struct Laws {
  reference::Law records;
  reference::Law answer;
};

Laws laws_of(const OutcomeLaw& walked, const reference::RecordSpace& space, std::size_t rungs) {
  const reference::Shape shape(rungs, space.size());
  Laws laws{reference::Law(reference::joint_size(shape)), reference::Law(space.size())};
  for (const auto& [outcome, probability] : walked) {
    std::vector<std::size_t> at;
    for (const auto& tokens : outcome.records) at.push_back(space.find(tokens).value());
    laws.records[reference::joint_state(shape, at)] += probability;
    laws.answer[space.find(outcome.answer).value()] += probability;
  }
  return laws;
}

/// `Exact(model)`: the law of all records on the states of a rational model.
template <class Space, class Exact>
ProgramReport report(Program program, const reference::FiniteModel& model,
                     const ProgramQuestion& question, std::size_t rungs, Cuts cuts,
                     const Exact& exact) {
  const FiniteLogits logits(model);
  const EnumerableModel enumerable = logits.enumerable();
  ProgramQuestion asked = question;
  asked.powers.resize(rungs);
  const WalkedProgram walked =
      walk_program(program, enumerable, ladder_of(asked), asked.plan(), cuts, 1, asked.rows());
  const reference::FiniteModel own = own_model(enumerable, question.horizon, "own");
  const Laws laws = laws_of(walked.law, Space(own, question.horizon), rungs);
  const reference::Law exact_own = exact(own);
  const reference::Shape shape(rungs, laws.answer.size());
  ProgramReport told;
  told.outcomes = walked.law.size();
  told.states = walked.states;
  told.runs = walked.runs;
  told.tv_own = to_real(reference::total_variation(laws.records, exact_own));
  told.tv_answer = to_real(
      reference::total_variation(laws.answer, reference::marginal(exact_own, shape, asked.output)));
  told.tv_to_target = to_real(reference::total_variation(laws.records, exact(model)));
  told.stale_records = walked.stale_records;
  return told;
}

}  // namespace

gpu::Plan ProgramQuestion::plan() const {
  std::vector<std::size_t> rounds, local_moves, sweeps;
  for (const reference::StageSchedule& stage : stages) {
    rounds.push_back(stage.rounds);
    local_moves.push_back(stage.local_moves);
    sweeps.push_back(stage.sweeps);
  }
  return {gpu::make_stages(horizon, block, rounds, local_moves, sweeps),
          schedule,
          output,
          0,
          restart_weights,
          restart_range};
}

OutcomeLaw outcomes_of_tempering(const reference::FiniteModel& model,
                                 const ProgramQuestion& question) {
  const FiniteLogits logits(model);
  return walk_program(gpu::parallel_power_tempering, logits.enumerable(), ladder_of(question),
                      question.plan(), Cuts::at_every_round, 1, question.rows())
      .law;
}

ProgramReport tempering_program(const reference::FiniteModel& model,
                                const ProgramQuestion& question, Cuts cuts) {
  const auto schedule =
      question.schedule == gpu::Schedule::adj ? reference::Schedule::adj : reference::Schedule::deo;
  reference::StageRestart restart;
  if (!question.restart_weights.empty())
    restart.weights = {question.restart_weights.begin(), question.restart_weights.end()};
  if (question.restart_range == gpu::RestartRange::record)
    restart.range = reference::RestartRange::record;
  return report<reference::FixedHorizonSpace>(
      gpu::parallel_power_tempering, model, question, question.powers.size(), cuts,
      [&](const reference::FiniteModel& exact) {
        return progressive_run(exact, question.horizon, question.block, exact_ladder(question),
                               question.stages, schedule, restart)
            .law;
      });
}

ProgramReport truncating_program(const reference::FiniteModel& model,
                                 const ProgramQuestion& question, Cuts cuts) {
  return report<reference::ComparisonSpace>(gpu::truncating_power_sampling, model, question, 1,
                                            cuts, [&](const reference::FiniteModel& exact) {
                                              return reference::truncating_progressive_law(
                                                  exact, question.horizon, question.block,
                                                  exact_ladder(question)[0], question.stages);
                                            });
}

}  // namespace tempera::lab
