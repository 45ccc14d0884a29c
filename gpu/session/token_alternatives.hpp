#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "gpu/model/language_model.hpp"

namespace tempera::gpu {

/// What a model thinks of one given token of a text.
struct TokenAlternatives {
  /// log p0(x_t | x_<t), `eq:theory-absorbing-law`; -infinity for a token that the model forbids.
  double log_p = 0.0;
  /// The likeliest tokens at this position with their log p0, most likely first, the smaller number
  /// first of equals.
  std::vector<std::pair<TokenId, double>> likeliest;
};

/// Scores x_2 … x_n given those before them; index t - 2 holds position t. The bits of log p0 are
/// those that score_tokens gives and that a sampler's record keeps.
///
/// The text is computed once, in passes of 512 tokens; the logits at each position come from the
/// cache, `batch` positions at a time.
/// @pre tokens.size() >= 2, every token below the vocabulary's size, batch >= 1
/// @throw ModelError for logits that are no numbers
std::vector<TokenAlternatives> score_alternatives(LanguageModel& model,
                                                  std::span<const TokenId> tokens,
                                                  std::size_t likeliest, std::size_t batch = 64);

}  // namespace tempera::gpu
