#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// A sharpening power α > 0, rational, numerator and denominator at most 1024.
class Power {
 public:
  /// @throw BadInput, naming `where`, if α is not positive or too large to raise exactly
  explicit Power(const Rational& value, const std::string& where = "power");
  const Rational& value() const { return value_; }

  /// probability^α.
  /// @throw BadInput, naming the probability, if that is not rational
  Rational raise(const Rational& probability) const;

 private:
  Rational value_;
};

/// Reads "2", "3/2" or "1.5".
/// @throw BadInput, naming `where`, if it is none of these or no power
Power parse_power(std::string_view text, const std::string& where);

/// Powers α_1 < α_2 < ... < α_K, K >= 1, from the most exploratory rung to the sharpest.
class Ladder {
 public:
  /// @throw BadInput, naming `where`, if the powers do not increase strictly or there are none
  explicit Ladder(std::vector<Power> powers, const std::string& where = "ladder");
  /// K.
  std::size_t rungs() const { return powers_.size(); }
  /// α_{k+1}: rungs are counted from 0 here, from 1 in the paper.
  const Power& operator[](std::size_t k) const { return powers_[k]; }

 private:
  std::vector<Power> powers_;
};

/// Reads powers separated by commas, "1,2,4".
/// @throw BadInput, naming `where`, if they are no ladder
Ladder parse_ladder(std::string_view text, const std::string& where);

}  // namespace tempera::reference
