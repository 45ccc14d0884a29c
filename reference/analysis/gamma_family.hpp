#pragma once

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// The power family whose spread is inverse to the power: at power α > 0 the energy, less its least
/// value, is Gamma with a whole shape c >= 1 and rate α, of density α^c u^(c-1) e^(-αu) / (c-1)!
/// (rem:ar_geom_seq, cor:geometric-power-ladder).

/// Its variance at a power, from its first two moments: c (c+1) / α² - (c / α)².
Rational gamma_variance(unsigned shape, const Rational& power);

/// The exact equilibrium acceptance E[1 ∧ e^{(β - α)(U_β - U_α)}] of two powers α < β, U_α and U_β
/// independent at theirs. The densities f_α(u) f_β(v) and f_β(u) f_α(v) have the ratio e^G, so it
/// is P(U_α < U_β) of the two laws as they are plus the same of them exchanged if e^G < 1, each
///   P(U_α <= U_β) = Σ_{j<c} C(c-1+j, j) α^c β^j / (α+β)^(c+j),
/// integrated over U_α, the tail of U_β being e^{-βu} Σ_{j<c} (βu)^j / j!.
Rational gamma_acceptance(unsigned shape, const Rational& lower, const Rational& upper);

}  // namespace tempera::reference
