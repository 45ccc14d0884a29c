#include "reference/arithmetic/whole_attention.hpp"

#include <algorithm>
#include <optional>

namespace tempera::reference {

namespace {

constexpr std::size_t split_positions = 256;

Rational float32(const Rational& value) { return nearest_float32(value).value(); }

/// 256 numbers, the rest 0, added halves first.
Rational tree_sum(std::vector<Rational> terms) {
  terms.resize(split_positions);
  for (std::size_t half = split_positions / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) terms[i] = float32(terms[i] + terms[i + half]);
  }
  return terms[0];
}

bool all_zero(const WholeRow& row) {
  return std::ranges::all_of(row.values, [](const Integer& value) { return value == 0; });
}

}  // namespace

Rational whole_score(const WholeRow& query, const WholeRow& key, const Rational& scale) {
  return float32(segment_product(query, key).value() * scale);
}

WholeSplit whole_split(const std::vector<Rational>& exponentials, const std::vector<bool>& seen,
                       const std::vector<WholeRow>& values) {
  const std::size_t size = values.front().values.size();
  WholeSplit split{std::vector<Integer>(values.size()), 0, std::vector<Rational>(size)};
  std::vector<Rational> visible(values.size());
  std::optional<int> smallest;  // E
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!seen[i]) continue;
    visible[i] = exponentials[i];
    if (!all_zero(values[i])) smallest = std::min(smallest.value_or(63), values[i].exponent);
  }
  split.mass = tree_sum(visible);
  if (!smallest) return split;

  std::vector<Rational> folded(values.size());  // a_i
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!seen[i] || all_zero(values[i])) continue;
    const int shift = std::min(values[i].exponent - *smallest, 31);
    folded[i] = float32(visible[i] * power_of_two(-shift));
  }
  const Rational sum = tree_sum(folded);  // f
  const Rational reciprocal = float32(1 / sum);
  Integer total = 0;  // P
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Rational share = float32(float32(folded[i] * reciprocal) * power_of_two(15));
    split.weights[i] = std::min(Integer(32767), nearest_whole(share));
    total += split.weights[i];
  }
  const Rational scale =
      float32(float32(sum / float32(Rational(total))) * power_of_two(-*smallest));
  for (std::size_t d = 0; d < size; ++d) {
    Integer weighted = 0;  // N_d
    for (std::size_t i = 0; i < values.size(); ++i)
      weighted += split.weights[i] * values[i].values[d];
    split.attended[d] = float32(float32(Rational(weighted)) * scale);
  }
  return split;
}

std::vector<Rational> whole_attention(const std::vector<WholeSplit>& splits,
                                      const std::vector<Rational>& exponentials,
                                      const std::optional<WholeSink>& sink) {
  Rational mass = 0;
  std::vector<Rational> attended(splits.front().attended.size());
  for (std::size_t j = 0; j < splits.size(); ++j) {
    mass = float32(splits[j].mass * exponentials[j] + mass);
    for (std::size_t d = 0; d < attended.size(); ++d) {
      attended[d] = float32(splits[j].attended[d] * exponentials[j] + attended[d]);
    }
  }
  const Rational factor =
      sink ? float32(sink->shrink / float32(mass * sink->shrink + sink->mass)) : float32(1 / mass);
  for (Rational& element : attended) element = float32(element * factor);
  return attended;
}

}  // namespace tempera::reference
