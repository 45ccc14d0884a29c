#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// Numbers that are multiplied again and again, each distinct value kept once under an id. Along
/// the records of a model most products come back, so that a million of them take few
/// multiplications.
template <class Number>
class DistinctNumbers {
 public:
  using Id = std::uint32_t;

  Id of(const Number& value) {
    const auto [known, is_new] = ids_.try_emplace(value, static_cast<Id>(values_.size()));
    if (is_new) values_.push_back(value);
    return known->second;
  }
  /// The product of two of them, multiplied once for each pair.
  Id product(Id a, Id b) {
    return remembered(products_, a, b, [&] { return Number(values_[a] * values_[b]); });
  }
  /// The least common multiple of two of them; Number must be Integer.
  Id common_multiple(Id a, Id b) {
    if (a == b) return a;
    return remembered(multiples_, a, b, [&] { return Number(lcm(values_[a], values_[b])); });
  }
  const std::vector<Number>& values() const { return values_; }
  const Number& operator[](Id id) const { return values_[id]; }

 private:
  using Pairs = std::unordered_map<std::uint64_t, Id>;
  template <class Combine>
  Id remembered(Pairs& pairs, Id a, Id b, const Combine& combine) {
    const std::uint64_t pair = static_cast<std::uint64_t>(a) << 32U | b;
    const auto known = pairs.find(pair);
    if (known != pairs.end()) return known->second;
    const Id id = of(combine());
    pairs.emplace(pair, id);
    return id;
  }

  std::vector<Number> values_;
  std::map<Number, Id> ids_;
  Pairs products_, multiples_;
};

}  // namespace tempera::reference
