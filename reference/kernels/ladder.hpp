#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// What becomes of a power of a probability that is irrational.
enum class Irrational {
  refused,
  rounded,  ///< down, to `bits_of_rounded_power` significant bits: for laws that are compared with
            ///< others to within a rounding
};
inline constexpr std::size_t bits_of_rounded_power = 160;

/// A sharpening power α > 0, rational, numerator and denominator at most 1024.
class Power {
 public:
  /// @throw BadInput, naming `where`, if α is not positive or too large to raise exactly
  explicit Power(const Rational& value, const std::string& where = "power",
                 Irrational irrational = Irrational::refused);
  const Rational& value() const { return value_; }
  Irrational irrational() const { return irrational_; }

  /// probability^α, exactly where that is rational.
  /// @throw BadInput, naming the probability, if it is not and Irrational::refused
  Rational raise(const Rational& probability) const;

 private:
  Rational value_;
  Irrational irrational_;
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
