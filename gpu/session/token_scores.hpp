#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// What `tempera score` prints of tokens x_1 … x_n; index t − 2 holds position t = 2, …, n.
struct TokenScores {
  std::vector<double> log_p;               ///< log p0(x_t | x_<t), `eq:theory-absorbing-law`
  std::vector<std::vector<double>> log_z;  ///< [position][power]: log z_α(x_<t)
};

/// Scores a sequence in the model's own arithmetic: float32 logits, then 2^-45.
/// @param before_pass called before each forward pass, of which there is one for each position
/// @throw BadInput for fewer than two tokens, tokens outside the vocabulary or of probability
/// zero, powers outside the range of a ladder's
/// @throw ModelError for logits that are no numbers
TokenScores score_tokens(LanguageModel& model, std::span<const TokenId> tokens,
                         std::span<const double> powers,
                         const std::function<void()>& before_pass = {});

}  // namespace tempera::gpu
