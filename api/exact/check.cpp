#include "tempera/check.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "api/exact/fraction.hpp"
#include "api/exact/model_parts.hpp"
#include "base/error.hpp"
#include "lab/enumerate/not_enumerable.hpp"
#include "lab/judge/enumerated_kernel.hpp"
#include "lab/judge/shrink.hpp"
#include "lab/judge/whole_program.hpp"
#include "lab/laws/named_sampler_law.hpp"
#include "settings/exact_wish.hpp"
#include "settings/named_sampler.hpp"

namespace tempera::check {
namespace {

/// The public lottery over the one that walks every path.
class WalkedLottery final : public Lottery {
 public:
  explicit WalkedLottery(lab::KernelLottery& walk) : walk_(walk) {}
  std::size_t draw(const std::vector<exact::Fraction>& weights) override {
    std::vector<reference::Rational> list;
    for (const auto& weight : weights) list.push_back(exact::rational(weight));
    return walk_.draw(list);
  }
  void merge(const std::string& key) override { walk_.merge(key); }

 private:
  lab::KernelLottery& walk_;
};

/// Runs `judging`, and says of a kernel or program that is no function of its draws what its writer
/// can do about it.
auto of_function(const char* name, const auto& judging) {
  try {
    return judging();
  } catch (const lab::NotEnumerable& chance) {
    throw BadInput(name, chance.what(),
                   "draw every decision from the Lottery, and keep nothing from one call to the "
                   "next");
  }
}

Case public_case(const lab::JudgedCase& judged) {
  std::vector<exact::Fraction> powers;
  for (const auto& power : judged.target().powers) powers.push_back(exact::fraction(power.value()));
  return {exact::finite_model(judged.model()), judged.horizon(), std::move(powers)};
}

lab::JudgedCase judged_case(const Case& judged) {
  if (judged.powers.empty())
    throw BadInput("Case::powers", "are none", "give one for each record of a state");
  if (judged.horizon == 0)
    throw BadInput("Case::horizon", "is 0", "give the number of tokens, at least 1");
  lab::JudgedTarget target;
  for (const auto& power : judged.powers)
    target.powers.emplace_back(exact::rational(power), "Case::powers");
  return {judged.model.parts().model, judged.horizon, std::move(target)};
}

const reference::Rational& rounding(const exact::Fraction& within) {
  if (within < 0)
    throw BadInput("within", within.text() + " is below 0", "give what rounding may do, or 0");
  return exact::rational(within);
}

lab::JudgedState state_of(const State& state) {
  if (state.empty())
    throw BadInput("a state", "has no record", "return one record for each power of the case");
  lab::JudgedState list;
  for (const Record& record : state) {
    list.emplace_back();
    for (const std::size_t token : record) {
      if (token > std::numeric_limits<reference::Token>::max())
        throw BadInput("a record", "has the token " + std::to_string(token),
                       "give numbers of tokens of the model's vocabulary");
      list.back().push_back(static_cast<reference::Token>(token));
    }
  }
  return list;
}
State public_state(const lab::JudgedState& state) {
  State list;
  for (const auto& record : state) list.emplace_back(record.begin(), record.end());
  return list;
}

/// @param within what may be lost on paths that draw without end
lab::JudgedKernel enumerated(const Kernel& kernel, const reference::Rational& within) {
  return [kernel, within](const lab::JudgedCase& judged, const lab::JudgedState& from) {
    const Case on = public_case(judged);
    const State state = public_state(from);
    return lab::row_of(
        judged, "the step from (" + judged.name(from) + ")",
        [&](lab::KernelLottery& walk) {
          WalkedLottery lottery(walk);
          return state_of(kernel(on, state, lottery));
        },
        within);
  };
}

Verdict verdict_of(const lab::KernelVerdict& judged, const lab::JudgedCase& on) {
  Verdict verdict;
  verdict.stochastic = judged.stochastic();
  verdict.invariant = judged.invariant();
  verdict.reversible = judged.reversible();
  verdict.irreducible = judged.irreducible;
  verdict.tv_one_step = exact::fraction(judged.tv_one_step);
  verdict.explanation = lab::explanation(judged);
  for (std::size_t x = 0; x < on.size(); ++x) {
    verdict.states.push_back(on.name(on.state(x)));
    verdict.matrix.emplace_back();
    for (std::size_t y = 0; y < on.size(); ++y)
      verdict.matrix.back().push_back(exact::fraction(judged.matrix(x, y)));
  }
  return verdict;
}

lab::AnswerLaw answers_of(const Program& program, const reference::Rational& within = 0) {
  return [program, within](const lab::JudgedCase& judged) {
    const Case on = public_case(judged);
    return lab::row_of(
        judged, "the program",
        [&](lab::KernelLottery& walk) {
          WalkedLottery lottery(walk);
          return state_of({program(on, lottery)});
        },
        within);
  };
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
  const auto& far = rounding(within);
  const auto answers = answers_of(program, far);
  const auto on = whole_case(judged);
  const auto found = of_function("Program", [&]() -> std::optional<lab::DifferingCase> {
    if (lab::compare_laws(answers(on), other(on), far).is_equal()) return std::nullopt;
    return lab::shrink_difference(answers, other, on, far);
  });
  if (!found) return {};
  const auto& difference = *found->comparison.difference;
  return "the answer (" + found->judged.name({difference.record}) + ") has probability " +
         reference::to_string(difference.program) + ", by " + name + " " +
         reference::to_string(difference.other) + "\non horizon " +
         std::to_string(found->judged.horizon()) + ", " + lab::model_json(found->judged.model());
}

}  // namespace

void Lottery::merge(const std::string& /*key*/) {}

bool Lottery::happens(const exact::Fraction& probability) {
  return draw({probability, exact::Fraction(1) - probability}) == 0;
}

Verdict judge(const Kernel& kernel, const Case& judged, const exact::Fraction& within) {
  const auto on = judged_case(judged);
  return of_function("Kernel", [&] {
    const auto& far = rounding(within);
    return verdict_of(lab::judge_kernel(enumerated(kernel, far), on, far), on);
  });
}

Failure shrink(const Kernel& kernel, const Case& failing, const exact::Fraction& within) {
  const auto rows = enumerated(kernel, rounding(within));
  const auto on = judged_case(failing);
  return of_function("Kernel", [&]() -> Failure {
    if (lab::judge_kernel(rows, on, rounding(within)).sound())
      throw BadInput("Kernel", "samples its target on this case",
                     "shrink from a case on which it fails");
    const auto found = lab::shrink(rows, on, rounding(within));
    return {public_case(found.judged), verdict_of(found.verdict, found.judged), found.tried,
            lab::model_json(found.judged.model())};
  });
}

std::string fault(const Kernel& kernel, const Case& judged, const exact::Fraction& within) {
  if (judge(kernel, judged, within).sound()) return {};
  const Failure failure = shrink(kernel, judged, within);
  return failure.verdict.explanation + "\non horizon " + std::to_string(failure.judged.horizon) +
         ", " + failure.model_json;
}

Law answer_law(const Program& program, const Case& judged) {
  const auto on = whole_case(judged);
  lab::TargetLaw law;
  for (const auto& [answer, probability] :
       of_function("Program", [&] { return answers_of(program)(on); }))
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

std::string fault(const Kernel& kernel, const std::vector<Case>& judged,
                  const exact::Fraction& within) {
  for (const Case& one : judged)
    if (std::string found = fault(kernel, one, within); !found.empty()) return found;
  return {};
}

std::string fault(const Program& program, const std::vector<Case>& judged,
                  const exact::Fraction& within) {
  for (const Case& one : judged)
    if (std::string found = fault(program, one, within); !found.empty()) return found;
  return {};
}

}  // namespace tempera::check
