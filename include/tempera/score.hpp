#pragma once

/// @file
/// What a model thinks of given tokens.

#include <span>
#include <vector>

#include "tempera/model.hpp"

namespace tempera {

/// Scores of x_1 … x_n: index t − 2 is position t = 2, …, n.
struct Scores {
  std::vector<double> log_p = {};  ///< log p0(x_t | x_<t) (`eq:theory-absorbing-law`)
  /// [position][power]: log z_α(x_<t) = log Σ_v p0(v | x_<t)^α (`eq:theory-token-normalizer`).
  std::vector<std::vector<double>> log_z = {};
};

/// Scores a sequence in the model's own arithmetic. No other thread may compute with the model
/// meanwhile (Session says more).
/// @pre tokens.size() >= 2; powers from 2^-20 to 2^20
/// @throw BadInput for tokens outside the vocabulary or of probability zero, and other powers
/// @throw ModelError for logits that are no numbers
Scores score(const Model& model, std::span<const TokenId> tokens,
             std::span<const double> powers = {});

}  // namespace tempera
