#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// ω over the restart positions 1..T, the same whatever the current record.
class RestartLaw {
 public:
  /// @throw BadInput, naming `where`, unless ω(r) >= 0 and Σ ω(r) = 1
  explicit RestartLaw(std::vector<Rational> weights, const std::string& where = "restart law");
  /// ω(r) = 1/T, the law of the implementation.
  static RestartLaw uniform(std::size_t horizon);

  std::size_t horizon() const { return weights_.size(); }
  /// ω(r) for r in 1..T.
  const Rational& operator()(std::size_t r) const { return weights_[r - 1]; }

 private:
  std::vector<Rational> weights_;
};

/// Reads T weights separated by commas, "1/2,1/4,1/4".
/// @throw BadInput, naming `where`, if they are not T or no law
RestartLaw parse_restart_law(std::string_view text, std::size_t horizon, const std::string& where);

}  // namespace tempera::reference
