#include "tempera/check.hpp"

#include "api/exact/fraction.hpp"
#include "api/exact/model_parts.hpp"
#include "lab/judge/enumerated_kernel.hpp"
#include "lab/judge/shrink.hpp"

namespace tempera::check {
namespace {

/// The public lottery over the one that enumerates.
class Door final : public Lottery {
 public:
  explicit Door(gpu::Lottery& tree) : tree_(tree) {}
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
        Door door(tree);
        return state_of(kernel(public_case(judged), public_state(state), door));
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

}  // namespace tempera::check
