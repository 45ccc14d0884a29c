#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "reference/arithmetic/whole_rows.hpp"

// Attention over rows of whole numbers, from exponentials that are given as exact numbers: what is
// left is rational. Every result is a float32, rounded where docs/explanation/integer.md says so.

namespace tempera::reference {

/// scale · the float32 of Σ Q_d K_d 2^-(e_q + e_k), rounded again.
Rational whole_score(const WholeRow& query, const WholeRow& key, const Rational& scale);

/// The result of a split of at most 256 positions.
struct WholeSplit {
  std::vector<Integer> weights;    ///< p_i, 0 of a position that is not seen or has no value
  Rational mass;                   ///< l, the tree of the exponentials
  std::vector<Rational> attended;  ///< u_d
};

/// A split whose seen positions have the exponentials t_i = exp(score_i − largest score), given as
/// float32s; `seen` has a position for each of them. @pre one t_i is 1; t_i and V_i belong together
WholeSplit whole_split(const std::vector<Rational>& exponentials, const std::vector<bool>& seen,
                       const std::vector<WholeRow>& values);

/// A logit that weighs beside the scores and has no value: given as float32s, with M' the larger of
/// it and of the largest score.
struct WholeSink {
  Rational shrink;  ///< exp(the largest score − M')
  Rational mass;    ///< exp(the sink − M')
};

/// The splits that have a seen position, in ascending order, each times exp(its largest score − the
/// largest of all), given as float32s.
std::vector<Rational> whole_attention(const std::vector<WholeSplit>& splits,
                                      const std::vector<Rational>& exponentials,
                                      const std::optional<WholeSink>& sink = std::nullopt);

}  // namespace tempera::reference
