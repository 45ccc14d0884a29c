#include "lab/laws/shipped_laws.hpp"

#include <chrono>

#include "lab/laws/law.hpp"

namespace tempera::lab {

const Real target_bound("1e-6");
const Real own_bound("1e-11");

bool ShippedLaw::holds() const {
  return tv_to_target < target_bound && tv_own < own_bound && tv_one_step < own_bound &&
         stale_records == 0;
}

std::vector<ShippedLaw> shipped_laws(
    const std::vector<ShippedUse>& uses,
    const std::function<void(const ShippedLaw&, std::size_t)>& done, MakeRows rows,
    const WalkedSize& most) {
  struct Question {
    const ShippedUse& use;
    std::vector<double> powers;
  };
  std::vector<Question> questions;
  const auto ask = [&](const ShippedUse& use, const std::vector<double>& powers) {
    if (most.has(use.model, use.horizon, powers.size())) questions.push_back({use, powers});
  };
  for (const ShippedUse& use : uses) {
    ask(use, {static_cast<double>(use.power)});
    if (use.powers.size() > 1) ask(use, std::vector<double>(use.powers.begin(), use.powers.end()));
  }
  std::vector<ShippedLaw> laws;
  for (const auto& [use, powers] : questions) {
    const auto begin = std::chrono::steady_clock::now();
    const FiniteLogits logits(use.model);
    LawQuestion question{use.horizon, powers, use.restart};
    question.rows = rows;
    const LawReport report = compiled_law(logits.enumerable(), &use.model, question);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    laws.push_back({use.name, use.horizon, powers, use.restart, report.states.size(),
                    report.tv_to_target, report.tv_own, report.tv_one_step, report.stale_records,
                    elapsed.count()});
    if (done) done(laws.back(), questions.size());
  }
  return laws;
}

}  // namespace tempera::lab
