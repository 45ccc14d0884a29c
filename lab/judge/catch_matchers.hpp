#pragma once

// For a user's tests: it includes Catch2, 2 or 3, which tempera itself needs nowhere.
#if __has_include(<catch2/matchers/catch_matchers.hpp>)
#include <catch2/matchers/catch_matchers.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>
#include <utility>

#include "lab/judge/shrink.hpp"

namespace tempera::lab {

#if __has_include(<catch2/matchers/catch_matchers.hpp>)
using KernelMatcherBase = Catch::Matchers::MatcherBase<JudgedKernel>;
#else
using KernelMatcherBase = Catch::MatcherBase<JudgedKernel>;
#endif

/// CHECK_THAT(kernel, samples(judged)): the kernel is stochastic, preserves its target and reaches
/// it from everywhere; CHECK_THAT(kernel, is_reversible(judged)): and is reversible. If it is
/// not, the test's message is what `tempera check` prints: the smallest model, and the pair of
/// states whose flow is unbalanced with both flows as fractions.
class KernelMatcher : public KernelMatcherBase {
 public:
  enum class Claim { sampling, reversibility };
  KernelMatcher(JudgedCase judged, Claim claim, reference::Rational rounding)
      : judged_(std::move(judged)), claim_(claim), rounding_(std::move(rounding)) {}

  bool match(const JudgedKernel& kernel) const override {
    const KernelVerdict verdict = judge_kernel(kernel, judged_, rounding_);
    const bool holds = verdict.sound() && (claim_ == Claim::sampling || verdict.reversible());
    found_ = "";
    if (!holds)
      found_ = verdict.sound() ? explain({judged_, verdict, 1})
                               : explain(shrink(kernel, judged_, rounding_));
    return holds;
  }
  std::string describe() const override {
    return (claim_ == Claim::sampling ? "samples its target" : "is reversible for its target") +
           found_;
  }

 private:
  static std::string explain(const FailingCase& failing) {
    return "\n" + explanation(failing.verdict) + "\non horizon " +
           std::to_string(failing.judged.horizon()) + ", " + model_json(failing.judged.model());
  }

  JudgedCase judged_;
  Claim claim_;
  reference::Rational rounding_;
  mutable std::string found_;
};

inline KernelMatcher samples(JudgedCase judged, reference::Rational rounding = 0) {
  return {std::move(judged), KernelMatcher::Claim::sampling, std::move(rounding)};
}
inline KernelMatcher is_reversible(JudgedCase judged, reference::Rational rounding = 0) {
  return {std::move(judged), KernelMatcher::Claim::reversibility, std::move(rounding)};
}

}  // namespace tempera::lab
