#pragma once

/// @file
/// Finite models and exact laws, in fractions.

#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tempera/error.hpp"

namespace tempera::exact {

/// A fraction in lowest terms with whole numbers of any size.
class Fraction {
 public:
  /// @pre denominator != 0
  Fraction(long long numerator = 0, long long denominator = 1);
  /// Reads "3/8", "-2" or "0.25".
  /// @throw BadInput for anything else
  explicit Fraction(const std::string& text);

  /// The sum. All operations here are exact.
  Fraction operator+(const Fraction& other) const;
  /// The difference.
  Fraction operator-(const Fraction& other) const;
  /// The product.
  Fraction operator*(const Fraction& other) const;
  /// @pre other is not 0
  Fraction operator/(const Fraction& other) const;
  /// Whether both are the same number.
  bool operator==(const Fraction& other) const;
  /// Compares the sizes.
  std::strong_ordering operator<=>(const Fraction& other) const;

  /// "3/8", "0", "1".
  std::string text() const;
  /// The nearest double.
  double value() const;

  /// @cond
  struct Number;
  explicit Fraction(std::shared_ptr<const Number> number) : number_(std::move(number)) {}
  const Number& number() const { return *number_; }
  /// @endcond

 private:
  std::shared_ptr<const Number> number_;
};

/// An autoregressive model p0 over a small vocabulary, given by rows of fractions.
class FiniteModel {
 public:
  /// Reads a model file (docs/reference/exact.md has the format).
  /// @throw BadInput naming file, place and remedy
  static FiniteModel open(const std::string& file);
  /// Reads the same format from a text; messages name the text `name`.
  static FiniteModel parse(const std::string& json, const std::string& name = "model");

  /// The model in the file format, in one line.
  std::string json() const;
  /// Models that are simpler in one respect each: a token less, a row less, simpler probabilities.
  std::vector<FiniteModel> smaller() const;

  /// Its name.
  const std::string& name() const;
  /// The text of each token.
  const std::vector<std::string>& vocabulary() const;
  /// Whether each token of the vocabulary ends a record.
  std::vector<bool> terminal() const;
  /// The next-token law p0(· | prefix) (`eq:theory-absorbing-law`), by the vocabulary's order.
  /// @param prefix numbers of tokens. @pre none is terminal
  std::vector<Fraction> next(const std::vector<std::size_t>& prefix) const;
  /// The records of horizon T (`eq:theory-positive-support`), depth-first in the vocabulary's
  /// order: tokens joined by one space.
  std::vector<std::string> records(std::size_t horizon) const;
  /// p0(x) of each record (`eq:record-prob`).
  std::vector<Fraction> base_law(std::size_t horizon) const;
  /// p0(x)^α / Σ p0^α of each record (`eq:theory-power-target`).
  /// @throw BadInput for a power whose values are no fractions
  std::vector<Fraction> power_law(std::size_t horizon, const Fraction& power) const;

  /// @cond
  struct Parts;
  explicit FiniteModel(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  const Parts& parts() const { return *parts_; }
  /// @endcond

 private:
  std::shared_ptr<const Parts> parts_;
};

/// TV(p, q) = ½ Σ |p_i − q_i|.
/// @pre p.size() == q.size()
Fraction total_variation(const std::vector<Fraction>& p, const std::vector<Fraction>& q);

/// The law of the compiled local move of tempera's own sampler at one power (`eq:local-accept`,
/// `eq:implementation-local-mh-acceptance`): row x has the probabilities of the records after one
/// move from x, in fractions.
/// @throw BadInput for a horizon with too many records
std::vector<std::vector<Fraction>> compiled_local_move(const FiniteModel& model,
                                                       std::size_t horizon, double power);

}  // namespace tempera::exact
