#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/cached_ratio.hpp"
#include "reference/kernels/continuation_mass.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/token_proposal.hpp"

namespace tempera::lab {

/// q_r(y | x) as a function of (r, x, y).
using SuffixLaw = std::function<reference::Rational(std::size_t, std::size_t, std::size_t)>;

/// g_α(y_t | y_{<t}) of the padded record y as a function of (y, t).
using TokenLaw = std::function<reference::Rational(std::size_t, std::size_t)>;

SuffixLaw suffix_law(const reference::RecordSpace& space, const reference::Power& power);
TokenLaw padded_token_law(const reference::RecordSpace& space, const reference::Power& power);

/// Σ_{t=r}^{T} ζ_t of one record of a finite model at `power`, as production caches it.
double cached_zeta(const reference::FiniteModel& model, std::size_t horizon, double power,
                   const std::vector<reference::Token>& tokens, std::size_t r);

/// log p0 of one record of a finite model, as production sums its cached ℓ_t.
double cached_score(const reference::FiniteModel& model, std::size_t horizon,
                    const std::vector<reference::Token>& tokens);

/// Records, targets and proposals, as the checks ask for them: see FunctionsUnderTest.
struct RecordFunctions {
  using Fixed = reference::FixedHorizonSpace;
  using Power = reference::Power;
  using Law = reference::Law;
  using Rational = reference::Rational;
  template <class Signature>
  using Function = std::function<Signature>;

  Function<reference::TokenRow(const reference::FiniteModel&, std::span<const reference::Token>)>
      token_row = &reference::FiniteModel::token_row;
  Function<Rational(const reference::RecordSpace&, std::size_t)> likelihood =
      &reference::RecordSpace::likelihood;
  Function<Law(const Fixed&)> base_law = [](const Fixed& s) { return reference::base_law(s); };
  Function<Law(const Fixed&, const Power&)> power_target = [](const Fixed& s, const Power& a) {
    return reference::power_target(s, a);
  };
  Function<Rational(const reference::TokenRow&, const Power&)> token_normalizer =
      reference::token_normalizer;
  Function<reference::TokenRow(const reference::TokenRow&, const Power&)> token_proposal =
      reference::token_proposal;
  Function<SuffixLaw(const reference::RecordSpace&, const Power&)> suffix_proposal = suffix_law;
  Function<TokenLaw(const reference::RecordSpace&, const Power&)> padded_token = padded_token_law;
  decltype(std::function(lab::cached_zeta)) cached_zeta = lab::cached_zeta;
  decltype(std::function(reference::power_conditional)) power_conditional =
      reference::power_conditional;
  decltype(std::function(reference::continuation_mass)) continuation_mass =
      reference::continuation_mass;
  decltype(std::function(reference::cached_ratio)) cached_ratio = reference::cached_ratio;
  decltype(std::function(reference::block_extension)) block_extension = reference::block_extension;
  decltype(std::function(lab::cached_score)) cached_score = lab::cached_score;
};

}  // namespace tempera::lab
