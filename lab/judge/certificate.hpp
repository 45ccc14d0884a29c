#pragma once

#include <string>
#include <vector>

#include "reference/kernels/ladder.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// The most states that a certificate holds.
inline constexpr std::size_t certified_limit = 256;

/// What was decided of an operator, with all that it takes to decide it again: written as JSON, and
/// checked by proofs/check_certificate.py, which knows nothing of this code.
struct Certificate {
  reference::FiniteModel model;
  std::size_t horizon;
  std::vector<reference::Power> powers;  ///< one for each record of a state
  std::string op;                        ///< local, truncating or round
  /// ω(1), ..., ω(T); empty for operators that restart otherwise.
  std::vector<reference::Rational> restart;
  std::vector<std::string> states;
  reference::Law target;
  reference::Matrix matrix;

  /// {"tempera_certificate": 1, "model", "horizon", "powers", "operator", "restart", "states",
  /// "target", "matrix", "claims": {"invariant", "reversible", "irreducible", "tv_one_step"}}, the
  /// claims decided here.
  std::string json() const;
};

/// L_k, P̃ or one round R C, by the number of powers and `op`.
/// @throw BadInput if there are more than certified_limit states or a power is
/// irrational
Certificate certify(const reference::FiniteModel& model, std::size_t horizon,
                    const reference::Ladder& ladder, const std::string& op,
                    const reference::RestartLaw& restart);

}  // namespace tempera::lab
