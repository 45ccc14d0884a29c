#pragma once

#include <cstddef>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::reference {

/// Which tokens tokenwise sampling may draw, of those that the model allows, and what it changes of
/// their weights.
struct TokenRules {
  Rational repetition = 1;        ///< r > 0, the power of the p0 of a token that the record has
  Rational frequency = 0;         ///< f and a: a token that the record has n > 0 times
  Rational presence = 0;          ///<   weighs exp(-(n f + a)) times its p0^r
  std::size_t min_tokens = 0;     ///< a record has as many tokens before its terminal one
  bool ignores_terminal = false;  ///< no terminal token at all
  std::size_t top_k = 0;          ///< 0: all
  Rational min_p = 0;             ///< of the likeliest token's weight
  Rational top_p = 1;             ///< of the weight of what the other rules leave
};

/// The proposal g_α(· | h) (eq:theory-tokenwise-proposal) of the weights that the penalties leave,
/// among the tokens that the rules leave. The logits of a finite model are log p0, at most 0; the
/// prompt is empty. What penalties make irrational is rounded down to bits_of_rounded_power.
///   the terminal ones are left out where a rule says so, unless no other token has a probability;
///   then all whose weight is below the k-th largest;
///   then all below min_p of the largest weight;
///   then every token v for which the tokens likelier than v have top_p of the weight that is left.
/// Tokens of one weight stay or go together.
/// @throw BadInput if a probability to the power is irrational
TokenRow ruled_proposal(const FiniteModel& model, std::span<const Token> history,
                        const Power& power, const TokenRules& rules);

/// Π_t of these for x in S_T: the law of tokenwise sampling under the rules.
/// @throw BadInput as ruled_proposal
Law ruled_tokenwise_law(const FixedHorizonSpace& space, const Power& power,
                        const TokenRules& rules);

}  // namespace tempera::reference
