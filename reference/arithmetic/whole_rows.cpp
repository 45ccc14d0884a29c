#include "reference/arithmetic/whole_rows.hpp"

#include <algorithm>

namespace tempera::reference {

namespace {

const Integer largest_value = 32767;
constexpr int largest_exponent = 63;

std::vector<Integer> at_exponent(const std::vector<Rational>& row, int exponent) {
  const Rational scale = power_of_two(exponent);
  std::vector<Integer> values;
  for (const Rational& x : row) values.push_back(nearest_whole(x * scale));
  return values;
}

bool fits(const std::vector<Integer>& values, const std::optional<Integer>& bound) {
  Integer squares = 0;
  for (const Integer& value : values) {
    if (abs(value) > largest_value) return false;
    squares += value * value;
  }
  return !bound || squares <= *bound;
}

}  // namespace

Integer bound_of_inputs() { return (Integer(1) << 32) - 1; }

Integer bound_of_weights() { return (Integer(1) << 30) - 1; }

std::optional<WholeRow> whole_row(const std::vector<Rational>& row,
                                  const std::optional<Integer>& bound) {
  for (int exponent = largest_exponent; exponent >= -largest_exponent; --exponent) {
    auto values = at_exponent(row, exponent);
    if (!fits(values, bound)) continue;
    const bool zeros = std::ranges::all_of(values, [](const Integer& value) { return value == 0; });
    if (exponent == largest_exponent && zeros) exponent = 0;
    return WholeRow{std::move(values), exponent};
  }
  return std::nullopt;
}

std::optional<std::vector<WholeRow>> whole_segments(const std::vector<Rational>& row,
                                                    const Integer& bound, std::size_t length) {
  std::vector<WholeRow> segments;
  for (std::size_t begin = 0; begin < row.size(); begin += length) {
    const std::size_t end = std::min(row.size(), begin + length);
    auto segment = whole_row({row.begin() + static_cast<std::ptrdiff_t>(begin),
                              row.begin() + static_cast<std::ptrdiff_t>(end)},
                             bound);
    if (!segment) return std::nullopt;
    segments.push_back(std::move(*segment));
  }
  return segments;
}

Integer whole_sum(const WholeRow& inputs, const WholeRow& weights) {
  Integer sum = 0;
  for (std::size_t i = 0; i < inputs.values.size(); ++i) {
    sum += inputs.values[i] * weights.values[i];
  }
  return sum;
}

std::optional<Rational> segment_product(const WholeRow& inputs, const WholeRow& weights) {
  const auto sum = nearest_float32(Rational(whole_sum(inputs, weights)));
  return nearest_float32(*sum * power_of_two(-(inputs.exponent + weights.exponent)));
}

std::optional<Rational> whole_product(const std::vector<WholeRow>& inputs,
                                      const std::vector<WholeRow>& weights) {
  std::optional<Rational> product;
  for (std::size_t segment = 0; segment < inputs.size(); ++segment) {
    const auto next = segment_product(inputs[segment], weights[segment]);
    if (!next) return std::nullopt;
    product = product ? nearest_float32(*product + *next) : next;
    if (!product) return std::nullopt;
  }
  return product;
}

std::optional<Rational> whole_mean_square(const WholeRow& row) {
  const auto squares = nearest_float32(Rational(whole_sum(row, row)));
  const auto scaled = nearest_float32(*squares * power_of_two(-2 * row.exponent));
  if (!scaled) return std::nullopt;
  return nearest_float32(*scaled / Rational(row.values.size()));
}

}  // namespace tempera::reference
