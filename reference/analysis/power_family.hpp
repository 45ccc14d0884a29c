#pragma once

#include <vector>

#include "reference/numbers/interval.hpp"

namespace tempera::reference {

/// The power family π_s(x) ∝ p0(x)^s of a finite law p0, positive everywhere, at any rational power
/// s > 0, with the energy U(x) = -log p0(x) (subsec:thermodynamic-coordinate). What it answers is
/// enclosed by intervals of `bits` bits; logarithms are natural.

/// E_{π_s} U.
Interval mean_energy(const std::vector<Rational>& p0, const Rational& power, long bits);

/// σ²(s) = Var_{π_s} U.
Interval energy_variance(const std::vector<Rational>& p0, const Rational& power, long bits);

/// a-bar(α, β) = E[1 ∧ e^{(β - α)(U(X_β) - U(X_α))}], X_α and X_β independent at their targets,
/// α < β.
Interval equilibrium_acceptance(const std::vector<Rational>& p0, const Rational& lower,
                                const Rational& upper, long bits);

/// d(α, β) = ∫_α^β σ(s) ds from its values at the middles of `cells` equal cells. On a cell of
/// width h, σ varies by a factor of at most e^{h R / 4}, R being the range of U: the derivative of
/// σ² is minus the third central moment, at most R σ².
Interval thermodynamic_distance(const std::vector<Rational>& p0, const Rational& lower,
                                const Rational& upper, unsigned cells, long bits);

/// A(d) = 2Φ(-d/√2) = erfc(d/2), the acceptance of the Gaussian surrogate at distance d
/// (thm:unique-maximin-ladder).
Interval gaussian_acceptance(const Interval& distance);

}  // namespace tempera::reference
