#pragma once

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// 1 ∧ π(y) q(x|y) / (π(x) q(y|x)) (eq:implementation-local-mh-acceptance, eq:local-accept,
/// eq:accept-ratio), from its two flows; they need not be normalized. 0 if the reverse flow
/// vanishes; the forward flow must not.
inline Rational acceptance(const Rational& reverse_flow, const Rational& forward_flow) {
  return reverse_flow >= forward_flow ? Rational(1) : Rational(reverse_flow / forward_flow);
}

}  // namespace tempera::reference
