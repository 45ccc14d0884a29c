#include <limits>

#include "gpu/lottery/winner.hpp"
#include "lab/claims/checks.hpp"
#include "lab/defect_gallery/gallery.hpp"
#include "lab/law.hpp"
#include "lab/small_transformer.hpp"

namespace tempera::lab {
namespace {

/// Every threshold of every lottery with up to 4 tickets on each of up to 4 outcomes.
Verdict lottery_winner(const Evidence&) {
  Count count;
  for (unsigned code = 1; code < 625; ++code) {
    std::vector<std::uint64_t> tickets;
    std::uint64_t total = 0;
    for (unsigned digits = code; digits != 0; digits /= 5) {
      tickets.push_back(digits % 5);
      total += digits % 5;
    }
    std::vector<std::uint64_t> wins(tickets.size());
    for (std::uint64_t threshold = 0; threshold < total; ++threshold)
      ++wins[gpu::winner_of(tickets.data(), tickets.size(), threshold)];
    count.expect(wins == tickets, "lottery " + std::to_string(code));
  }
  return count.verdict("lotteries: each outcome wins as often as it has tickets");
}

/// The largest of `error` over the shipped laws, held against its bound.
template <class Error>
Verdict largest(const Evidence& evidence, const Real& bound, Error&& error) {
  Real worst = 0;
  for (const ShippedLaw& law : evidence.laws()) {
    const Real value = error(law);
    if (value >= bound || law.stale_records != 0)
      return {false, "fails: " + law.model + ", horizon " + std::to_string(law.horizon) + ": " +
                         to_scientific(value)};
    worst = std::max(worst, value);
  }
  const std::size_t laws = evidence.laws().size();
  return {laws > 0, std::to_string(laws) + " laws, largest TV " + to_scientific(worst)};
}

Verdict compiled_law_check(const Evidence& evidence) {
  return largest(evidence, target_bound, [](const ShippedLaw& law) { return law.tv_to_target; });
}

Verdict lottery_invariant(const Evidence& evidence) {
  return largest(evidence, own_bound, [](const ShippedLaw& law) { return law.own_error(); });
}

/// A random transformer of vocabulary 3, through the real cache, fork and swap, in each arithmetic.
Verdict compiled_transformer(const Evidence&) {
  Real worst = 0;
  for (const gpu::Arithmetic arithmetic : gpu::arithmetics) {
    const auto transformer = small_transformer(3, 7, arithmetic);
    const EnumerableModel model{*transformer, {{0}, {2}}, {"a", "b", "e"}};
    for (const std::vector<double>& powers : {std::vector{4.0}, std::vector{1.0, 2.5}}) {
      const LawReport report = compiled_law(model, nullptr, {2, powers, {}});
      worst = std::max({worst, report.tv_own, report.tv_one_step});
      if (report.stale_records != 0) return {false, "fails: a stale record"};
    }
  }
  return {worst < own_bound, "K = 1 and 2, both arithmetics, largest TV " + to_scientific(worst)};
}

Verdict planted_defects(const Evidence& evidence) {
  Count count;
  std::map<std::string, std::string> shown;
  for (const ShippedUse& use : evidence.uses) {
    if (use.powers.size() != 2 || use.horizon > 3) continue;
    const FiniteLogits logits(use.model);
    const std::vector<double> powers(use.powers.begin(), use.powers.end());
    count.expect(!check_kernels(logits.enumerable(), use.horizon, powers),
                 use.name + ": the sound kernels fail");
    for (const Exhibit& exhibit :
         defect_gallery(logits.enumerable(), use.name, use.horizon, powers))
      if (exhibit.caught) shown.emplace(exhibit.defect, use.name);
  }
  count.expect(shown.size() == 5, std::to_string(shown.size()) + " of 5 defects caught");
  Verdict verdict = count.verdict("checks");
  if (verdict.holds) verdict.detail = "5 of 5 caught; the sound kernels pass";
  return verdict;
}

}  // namespace

std::map<std::string, Check> compiled_checks() {
  return {{"lottery_winner", lottery_winner},
          {"lottery_invariant", lottery_invariant},
          {"compiled_law", compiled_law_check},
          {"compiled_transformer", compiled_transformer},
          {"planted_defects", planted_defects}};
}

}  // namespace tempera::lab
