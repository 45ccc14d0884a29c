// Whether the samplers that the paper compares are, as compiled, what they are defined to be.
#include <algorithm>

#include "gpu/core/sampler/progress.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/enumerate/real.hpp"
#include "lab/laws/named_sampler_law.hpp"

namespace tempera::lab {
namespace {

/// Walks these samplers on the uses' models; each must have its definition's law and decode tokens.
CheckResult walked(const CheckContext& context, const std::vector<std::string>& samplers) {
  Count count;
  Real worst = 0;
  for (const ShippedSampler& one : shipped_samplers(
           context.uses, samplers, context.functions.of<ProgramFunctions>().sampler_program)) {
    count.expect(one.holds(), one.run.sampler + " on " + one.model + ": TV " +
                                  to_scientific(one.report.tv_own) + " from its definition");
    // A law of one record alone would say little.
    count.expect(one.report.outcomes > 1, one.run.sampler + " on " + one.model + ": one answer");
    worst = std::max(worst, one.report.tv_own);
  }
  CheckResult finding = count.finding("laws and answers");
  if (finding.sound()) finding.detail += ", largest TV " + to_scientific(worst);
  return finding;
}

/// Exact rejection, without a limit on its tokens or with one: the law of an answer, the tokens,
/// and the probability that there is one.
Check rejection_check(bool is_limited) {
  return [is_limited](const CheckContext& context) {
    Count count;
    Real worst = 0;
    for (const ShippedSampler& one :
         shipped_samplers(context.uses, {"exact-rejection"},
                          context.functions.of<ProgramFunctions>().sampler_program)) {
      if ((one.run.most_tokens != 0) != is_limited) continue;
      count.expect(one.holds(),
                   one.model + ": TV " + to_scientific(one.report.tv_own) + " from the target");
      worst = std::max(worst, one.report.tv_own);
    }
    CheckResult finding = count.finding("laws");
    if (finding.sound()) finding.detail += ", largest TV " + to_scientific(worst);
    return finding;
  };
}

/// The probability with which the compiled program keeps a proposal, beside Z_α.
CheckResult rejection_share(const CheckContext& context) {
  Count count;
  for (const ShippedSampler& one :
       shipped_samplers(context.uses, {"exact-rejection"},
                        context.functions.of<ProgramFunctions>().sampler_program)) {
    if (one.run.most_tokens != 0) continue;
    const Real off = abs(to_real(one.report.kept.value() - one.report.defined_kept));
    count.expect(off < target_bound, one.model + ": " + to_scientific(off) + " from Z");
  }
  return count.finding("shares");
}

Check check_of(std::vector<std::string> samplers) {
  return [samplers = std::move(samplers)](const CheckContext& context) {
    return walked(context, samplers);
  };
}

}  // namespace

std::map<std::string, Check> sampler_checks() {
  return {{"sampler_tokenwise", check_of({"standard", "low-temperature"})},
          {"sampler_best_of_n", check_of({"best-of-n"})},
          {"sampler_power_smc", check_of({"power-smc"})},
          {"sampler_exact_rejection", rejection_check(false)},
          {"rejection_limited", rejection_check(true)},
          {"rejection_share", rejection_share},
          {"sampler_truncating", check_of({"power-sampling"})},
          {"sampler_fixed_horizon", check_of({"fixed-horizon"})},
          {"sampler_uncoupled", check_of({"uncoupled-ladder", "uncoupled-ladder-by-likelihood"})},
          {"sampler_ppt", check_of({"ppt"})}};
}

}  // namespace tempera::lab
