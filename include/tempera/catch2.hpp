#pragma once

/// @file
/// A matcher for Catch2, version 2 or 3, which a test brings itself.

#if __has_include(<catch2/matchers/catch_matchers.hpp>)
#include <catch2/matchers/catch_matchers.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>
#include <utility>

#include "tempera/check.hpp"

namespace tempera::check {

/// @cond
#if __has_include(<catch2/matchers/catch_matchers.hpp>)
using KernelMatcherBase = Catch::Matchers::MatcherBase<Kernel>;
#else
using KernelMatcherBase = Catch::MatcherBase<Kernel>;
#endif
/// @endcond

/// What samples() gives.
class SamplesMatcher : public KernelMatcherBase {
 public:
  /// Matches kernels on this case; `within` as for judge().
  SamplesMatcher(Case judged, exact::Fraction within)
      : judged_(std::move(judged)), within_(std::move(within)) {}
  /// Whether the kernel samples the target.
  bool match(const Kernel& kernel) const override {
    fault_ = fault(kernel, judged_, within_);
    return fault_.empty();
  }
  /// What Catch2 prints: the claim, and the counterexample of the last match.
  std::string describe() const override {
    return "samples its target" + (fault_.empty() ? "" : "\n" + fault_);
  }

 private:
  Case judged_;
  exact::Fraction within_;
  mutable std::string fault_;
};

/// CHECK_THAT(kernel, samples(judged)): the kernel is stochastic, preserves its target and reaches
/// it from everywhere. Otherwise the message has the smallest model and the counterexample on it.
inline SamplesMatcher samples(Case judged, exact::Fraction within = 0) {
  return {std::move(judged), std::move(within)};
}

}  // namespace tempera::check
