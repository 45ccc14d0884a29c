#include "tempera/check.hpp"

#include <algorithm>
#include <optional>

#include "api/exact/fraction.hpp"
#include "api/exact/model_parts.hpp"
#include "base/error.hpp"
#include "gpu/session/exact_wish.hpp"
#include "gpu/session/named_sampler.hpp"
#include "lab/judge/enumerated_kernel.hpp"
#include "lab/judge/shrink.hpp"
#include "lab/judge/whole_program.hpp"
#include "lab/laws/named_sampler_law.hpp"

namespace tempera::check {
namespace {

/// The public lottery over the one that enumerates.
class EnumeratedLottery final : public Lottery {
 public:
  explicit EnumeratedLottery(gpu::Lottery& tree) : tree_(tree) {}
  std::size_t draw(const std::vector<exact::Fraction>& weights) override {
    std::vector<reference::Rational> list;
    for (const auto& weight : weights) list.push_back(exact::rational(weight));
    return lab::draw_from(tree_, list);
  }

 private:
  gpu::Lottery& tree_;
};

Case public_case(const lab::JudgedCase& judged) {
  std::vector<exact::Fraction> powers;
  for (const auto& power : judged.target().powers) powers.push_back(exact::fraction(power.value()));
  return {exact::finite_model(judged.model()), judged.horizon(), std::move(powers)};
}

lab::JudgedCase judged_case(const Case& judged) {
  lab::JudgedTarget target;
  for (const auto& power : judged.powers)
    target.powers.emplace_back(exact::rational(power), "powers");
  return {judged.model.parts().model, judged.horizon, std::move(target)};
}

lab::JudgedState state_of(const State& state) {
  lab::JudgedState list;
  for (const Record& record : state) {
    list.emplace_back();
    for (const std::size_t token : record)
      list.back().push_back(static_cast<reference::Token>(token));
  }
  return list;
}
State public_state(const lab::JudgedState& state) {
  State list;
  for (const auto& record : state) list.emplace_back(record.begin(), record.end());
  return list;
}

lab::JudgedKernel enumerated(const Kernel& kernel) {
  return lab::enumerated(
      [kernel](const lab::JudgedCase& judged, const lab::JudgedState& state, gpu::Lottery& tree) {
        EnumeratedLottery lottery(tree);
        return state_of(kernel(public_case(judged), public_state(state), lottery));
      });
}

Verdict verdict_of(const lab::KernelVerdict& judged, const lab::JudgedKernel& kernel,
                   const lab::JudgedCase& on) {
  Verdict verdict;
  verdict.stochastic = judged.stochastic();
  verdict.invariant = judged.invariant();
  verdict.reversible = judged.reversible();
  verdict.irreducible = judged.irreducible;
  verdict.tv_one_step = exact::fraction(judged.tv_one_step);
  verdict.explanation = lab::explanation(judged);
  for (std::size_t x = 0; x < on.size(); ++x) {
    verdict.states.push_back(on.name(on.state(x)));
    std::vector<reference::Rational> row(on.size());
    for (const auto& [state, probability] : kernel(on, on.state(x)))
      if (const auto y = on.find(state)) row[*y] = probability;
    verdict.matrix.push_back(exact::fractions(row));
  }
  return verdict;
}

lab::AnswerLaw answers_of(const Program& program) {
  const auto rows = lab::enumerated(
      [program](const lab::JudgedCase& judged, const lab::JudgedState&, gpu::Lottery& tree) {
        EnumeratedLottery lottery(tree);
        return state_of({program(public_case(judged), lottery)});
      });
  return [rows](const lab::JudgedCase& judged) { return rows(judged, {{}}); };
}

lab::NamedRun run_of(const Algorithm& algorithm, const lab::JudgedCase& judged) {
  gpu::sampler_named(algorithm.name, "Algorithm::name");
  std::vector<reference::Rational> powers;
  for (const auto& power : algorithm.powers) powers.push_back(exact::rational(power));
  if (powers.empty())
    for (const auto& power : judged.target().powers) powers.push_back(power.value());
  for (const auto& power : powers)
    if (denominator(power) != 1)
      throw BadInput("Algorithm::powers",
                     "has an irrational law at the power " + reference::to_string(power),
                     "give whole powers");
  const gpu::ExactSettings settings = gpu::resolve_exact(
      {.block = algorithm.block == 0 ? std::nullopt : std::optional(algorithm.block),
       .rounds = algorithm.rounds,
       .local_moves = algorithm.local_moves,
       .sweeps = algorithm.sweeps,
       .schedule = algorithm.swaps_by_parity ? gpu::Schedule::deo : gpu::Schedule::adj,
       .particles = algorithm.particles},
      judged.horizon(), powers.size(), gpu::ExactBlock::of_comparison);
  return {algorithm.name,
          judged.horizon(),
          std::min(settings.block, judged.horizon()),
          powers,
          settings.particles,
          {settings.rounds, settings.local_moves, settings.sweeps},
          settings.schedule,
          settings.output};
}

lab::OtherLaw law_of(const Algorithm& algorithm) {
  return [algorithm](const lab::JudgedCase& judged) {
    return lab::defined_answer(run_of(algorithm, judged), judged.model());
  };
}

Law public_law(const lab::TargetLaw& law) {
  Law answers;
  for (const auto& [record, probability] : law)
    if (probability != 0)
      answers[Record(record.begin(), record.end())] = exact::fraction(probability);
  return answers;
}

/// A case whose target is over single records.
lab::JudgedCase whole_case(const Case& judged) {
  if (judged.powers.size() != 1)
    throw BadInput("Case::powers", "are " + std::to_string(judged.powers.size()),
                   "give the one power of the answers; a ladder goes into Algorithm::powers");
  return judged_case(judged);
}

std::string difference_from(const Program& program, const lab::OtherLaw& other,
                            const std::string& name, const Case& judged,
                            const exact::Fraction& within) {
  const auto answers = answers_of(program);
  const auto on = whole_case(judged);
  const auto far = exact::rational(within);
  if (lab::compare_laws(answers(on), other(on), far).is_equal()) return {};
  const auto found = lab::shrink_difference(answers, other, on, far);
  const auto& difference = *found.comparison.difference;
  return "the answer (" + found.judged.name({difference.record}) + ") has probability " +
         reference::to_string(difference.program) + ", by " + name + " " +
         reference::to_string(difference.other) + "\non horizon " +
         std::to_string(found.judged.horizon()) + ", " + lab::model_json(found.judged.model());
}

}  // namespace

bool Lottery::happens(const exact::Fraction& probability) {
  return draw({probability, exact::Fraction(1) - probability}) == 0;
}

Verdict judge(const Kernel& kernel, const Case& judged, const exact::Fraction& within) {
  const auto rows = enumerated(kernel);
  const auto on = judged_case(judged);
  return verdict_of(lab::judge_kernel(rows, on, exact::rational(within)), rows, on);
}

Failure shrink(const Kernel& kernel, const Case& failing, const exact::Fraction& within) {
  const auto rows = enumerated(kernel);
  const auto found = lab::shrink(rows, judged_case(failing), exact::rational(within));
  return {public_case(found.judged), verdict_of(found.verdict, rows, found.judged), found.tried,
          lab::model_json(found.judged.model())};
}

std::string fault(const Kernel& kernel, const Case& judged, const exact::Fraction& within) {
  if (judge(kernel, judged, within).sound()) return {};
  const Failure failure = shrink(kernel, judged, within);
  return failure.verdict.explanation + "\non horizon " + std::to_string(failure.judged.horizon) +
         ", " + failure.model_json;
}

Law answer_law(const Program& program, const Case& judged) {
  lab::TargetLaw law;
  for (const auto& [answer, probability] : answers_of(program)(whole_case(judged)))
    law[answer.front()] = probability;
  return public_law(law);
}

Law answer_law(const Case& judged) { return public_law(lab::target_law(whole_case(judged))); }

Law answer_law(const Algorithm& algorithm, const Case& judged) {
  return public_law(law_of(algorithm)(whole_case(judged)));
}

exact::Fraction total_variation(const Law& a, const Law& b) {
  const auto in = [](const Law& law, const Record& record) {
    const auto found = law.find(record);
    return found == law.end() ? reference::Rational(0) : exact::rational(found->second);
  };
  reference::Rational twice = 0;
  for (const auto& [record, probability] : a)
    twice += abs(reference::Rational(exact::rational(probability) - in(b, record)));
  for (const auto& [record, probability] : b)
    if (!a.contains(record)) twice += exact::rational(probability);
  return exact::fraction(twice / 2);
}

std::string fault(const Program& program, const Case& judged, const exact::Fraction& within) {
  return difference_from(program, lab::target_law, "the target", judged, within);
}

std::string fault(const Program& program, const Algorithm& algorithm, const Case& judged,
                  const exact::Fraction& within) {
  return difference_from(program, law_of(algorithm), algorithm.name, judged, within);
}

}  // namespace tempera::check
