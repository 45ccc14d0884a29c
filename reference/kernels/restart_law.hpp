#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// The positions that a local move of a record x chooses among.
enum class RestartRange {
  horizon,  ///< 1..T, whatever the record
  record,   ///< 1..τ(x), τ of a censored record being T: each regenerates something
};

/// ω over the restart positions 1..T, the same whatever the current record.
class RestartLaw {
 public:
  /// @throw BadInput, naming `where`, unless ω(r) >= 0 and Σ ω(r) = 1
  explicit RestartLaw(std::vector<Rational> weights, const std::string& where = "restart law");
  /// ω(r) = 1/T, the law of the implementation.
  static RestartLaw uniform(std::size_t horizon);
  /// ω(r) in proportion to the weight of r's part, the parts being as many equal ones of 1..T as
  /// there are weights: part floor(J (r - 1) / T) of J, counted from 0.
  /// @throw BadInput, naming `where`, if there are more weights than positions, none, one below 0,
  /// or none above 0
  static RestartLaw in_parts(const std::vector<Rational>& weights, std::size_t horizon,
                             const std::string& where = "restart weights");

  std::size_t horizon() const { return weights_.size(); }
  /// ω(r) for r in 1..T.
  const Rational& operator()(std::size_t r) const { return weights_[r - 1]; }
  /// Σ_{s <= r} ω(s) for r in 1..T.
  Rational up_to(std::size_t r) const;

 private:
  std::vector<Rational> weights_;
};

/// Reads T weights separated by commas, "1/2,1/4,1/4".
/// @throw BadInput, naming `where`, if they are not T or no law
RestartLaw parse_restart_law(std::string_view text, std::size_t horizon, const std::string& where);

}  // namespace tempera::reference
