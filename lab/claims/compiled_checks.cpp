#include "gpu/core/lottery/philox.hpp"
#include "gpu/core/lottery/winner.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/device/device.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/defects/gallery.hpp"
#include "lab/enumerate/compiled_space.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/enumerate/real.hpp"
#include "lab/enumerate/small_transformer.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

/// The word of this value, below 2^128.
gpu::Word word_of(reference::Integer value) {
  gpu::Word word;
  for (std::uint32_t& limb : word.limb) {
    limb = static_cast<std::uint32_t>(value & 0xFFFFFFFFU);
    value >>= 32;
  }
  return word;
}

/// Every threshold of every lottery with up to 4 tickets on each of up to 4 outcomes is won once
/// for each ticket; and the words that set threshold j are those from ceil(j 2^128 / total) on, at
/// totals up to 2^64 - 1.
CheckResult lottery_winner(const CheckContext& context) {
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
      ++wins.at(context.functions.of<ProgramFunctions>().winner_of(tickets.data(), tickets.size(),
                                                                   threshold));
    count.expect(wins == tickets, "lottery " + std::to_string(code));
  }
  for (const std::uint64_t total :
       {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{7}, (std::uint64_t{1} << 44) + 1,
        (std::uint64_t{1} << 63) - 25, ~std::uint64_t{0}})
    for (const std::uint64_t j : {std::uint64_t{1}, total / 3 + 1, total / 2, total - 1}) {
      const reference::Integer first =
          (reference::Integer(j) * (reference::Integer(1) << 128) + total - 1) / total;
      count.expect(
          context.functions.of<ProgramFunctions>().threshold_of(word_of(first), total) == j &&
              context.functions.of<ProgramFunctions>().threshold_of(word_of(first - 1), total) ==
                  j - 1,
          "threshold " + std::to_string(j) + " of " + std::to_string(total));
    }
  return count.finding("lotteries and thresholds");
}

/// Whether an error is below its bound. A NaN is below nothing.
bool below(const Real& error, const Real& bound) { return error < bound; }

/// Judges the errors that `errors`(law) names, each against its bound, on the shipped laws that
/// `concerned` picks.
using Bounded = std::vector<std::pair<Real, Real>>;
template <class Concerned, class Errors>
CheckResult within_bounds(const CheckContext& context, Concerned&& concerned, Errors&& errors) {
  Count count;
  Real worst = 0;
  for (const ShippedLaw& law : context.laws()) {
    if (!concerned(law)) continue;
    const std::string name = law.model + ", horizon " + std::to_string(law.horizon);
    count.expect(law.stale_records == 0, name + ": a stale record");
    const Bounded bounded = errors(law);
    for (const auto& [error, bound] : bounded) {
      count.expect(below(error, bound), name + ": " + to_scientific(error));
      worst = std::max(worst, error);
    }
  }
  CheckResult finding = count.finding("errors and caches");
  if (finding.sound()) finding.detail += ", largest TV " + to_scientific(worst);
  return finding;
}

bool is_local(const ShippedLaw& law) { return law.powers.size() == 1; }

/// TV(Π~ P, Π~) of one local move: Π~ is the target of the model's own logits.
CheckResult lottery_invariant(const CheckContext& context) {
  return within_bounds(context, is_local, [](const ShippedLaw& law) {
    return Bounded{{law.tv_one_step, own_bound}};
  });
}

/// The same of one complete transition.
CheckResult lottery_ensemble(const CheckContext& context) {
  return within_bounds(
      context, [](const ShippedLaw& law) { return !is_local(law); },
      [](const ShippedLaw& law) {
        return Bounded{{law.tv_one_step, own_bound}};
      });
}

/// TV of the stationary law from both targets.
CheckResult compiled_law_check(const CheckContext& context) {
  return within_bounds(
      context, [](const ShippedLaw&) { return true; },
      [](const ShippedLaw& law) {
        return Bounded{{law.tv_to_target, target_bound}, {law.tv_own, own_bound}};
      });
}

/// A random transformer of vocabulary 3, through the real cache, fork and swap, in each arithmetic.
CheckResult compiled_transformer(const CheckContext& context) {
  Count count;
  Real worst = 0;
  for (const gpu::Arithmetic arithmetic : gpu::arithmetics) {
    const auto transformer = small_transformer(3, 7, arithmetic);
    const EnumerableModel model{*transformer, {{0}, {2}}, {"a", "b", "e"}};
    for (const std::vector<double>& powers : {std::vector{4.0}, std::vector{1.0, 2.5}}) {
      const std::string where =
          std::string(gpu::name_of(arithmetic)) + ", K = " + std::to_string(powers.size());
      const LawReport report =
          context.functions.of<ProgramFunctions>().compiled_law(model, {2, powers, {}});
      count.expect(report.stale_records == 0, where + ": a stale record");
      for (const Real& error : {report.tv_own, report.tv_one_step}) {
        count.expect(below(error, own_bound), where + ": " + to_scientific(error));
        worst = std::max(worst, error);
      }
    }
  }
  CheckResult finding = count.finding("");
  if (finding.sound())
    finding.detail = "K = 1 and 2, every arithmetic, largest TV " + to_scientific(worst);
  return finding;
}

/// Each of the five defects is caught on some model, by a pair of different states and two
/// different values; the sound kernels pass on every one.
CheckResult planted_defects(const CheckContext& context) {
  Count count;
  std::map<std::string, bool> caught;
  for (const ShippedUse& use : context.uses) {
    if (use.powers.size() != 2 || use.horizon > 3) continue;
    const FiniteLogits logits(use.model);
    const std::vector<double> powers(use.powers.begin(), use.powers.end());
    count.expect(!context.functions.of<ProgramFunctions>().check_kernels(logits.enumerable(),
                                                                         use.horizon, powers),
                 use.name + ": the sound kernels fail");
    for (const Exhibit& exhibit : context.functions.of<ProgramFunctions>().defect_gallery(
             logits.enumerable(), use.name, use.horizon, powers))
      caught[exhibit.defect] =
          caught[exhibit.defect] || (exhibit.caught && exhibit.caught->x != exhibit.caught->y &&
                                     exhibit.caught->compiled != exhibit.caught->exact);
  }
  count.expect(caught.size() == 5, std::to_string(caught.size()) + " defects, not 5");
  for (const auto& [defect, was_caught] : caught) count.expect(was_caught, defect + " is missed");
  CheckResult finding = count.finding("");
  if (finding.sound()) finding.detail = "5 of 5 caught; the sound kernels pass";
  return finding;
}

}  // namespace

std::map<std::string, Check> compiled_checks() {
  return {{"lottery_winner", lottery_winner},
          {"lottery_invariant", lottery_invariant},
          {"lottery_ensemble", lottery_ensemble},
          {"compiled_law", compiled_law_check},
          {"compiled_transformer", compiled_transformer},
          {"planted_defects", planted_defects}};
}

}  // namespace tempera::lab
