#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "reference/arithmetic/rounding.hpp"

// Rows as whole numbers and their products, by the definitions of docs/explanation/integer.md.

namespace tempera::reference {

/// A segment of a row: x_i is about values_i · 2^-exponent.
struct WholeRow {
  std::vector<Integer> values;
  int exponent;

  bool operator==(const WholeRow&) const = default;
};

/// The most that the squares of a row may add up to.
Integer bound_of_inputs();   ///< 2^32 − 1, of queries and rows of norms too
Integer bound_of_weights();  ///< 2^30 − 1, of keys too

/// The row's whole numbers at the largest exponent in −63 … 63 at which each is at most 32,767 in
/// size and their squares add up to at most `bound` (to anything without one, as for values). A row
/// that is all zeros at 63 has the exponent 0. Nothing where −63 is too large.
std::optional<WholeRow> whole_row(const std::vector<Rational>& row,
                                  const std::optional<Integer>& bound);

/// The row cut at every multiple of `length`, each segment by itself.
std::optional<std::vector<WholeRow>> whole_segments(const std::vector<Rational>& row,
                                                    const Integer& bound, std::size_t length = 512);

/// Σ X_i W_i. @pre as many values in one as in the other
Integer whole_sum(const WholeRow& inputs, const WholeRow& weights);

/// The float32 of Σ X_i W_i, times 2^-(e_x + e_w): rounded once, for the scale is exact. Nothing
/// where it is infinite.
std::optional<Rational> segment_product(const WholeRow& inputs, const WholeRow& weights);

/// The segments' products, added in float32 in ascending order.
std::optional<Rational> whole_product(const std::vector<WholeRow>& inputs,
                                      const std::vector<WholeRow>& weights);

/// The mean of a norm's squares: Σ X_i² as a float32, times 2^-2e, divided by their number in
/// float32. Nothing where that is infinite.
std::optional<Rational> whole_mean_square(const WholeRow& row);

}  // namespace tempera::reference
