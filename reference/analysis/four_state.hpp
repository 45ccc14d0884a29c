#pragma once

#include <cstddef>
#include <string_view>

#include "reference/numbers/rational.hpp"

namespace tempera::reference {

/// The paper's four-state example (sec:endpoint-bias-example-condensed) as a finite model: horizon
/// 2, power 2. Its kernels are those of eq:condensed-fixed-kernel, its flows those of
/// eq:condensed-invariance-test, and all in one eq:condensed-finite-summary. Its comparison space
/// lists a = X_2, a a = X_4, a e = X_3, e = X_1.
inline constexpr std::string_view four_state_model =
    R"({"name": "four-state", "vocabulary": ["a", "e"], "terminal": ["e"],
        "default": {"a": "1/2", "e": "1/2"}})";

/// TV(δ_{X_4} (P^fix)^N, π): 5/6 at N = 0, 2/3 (5/8)^N from N = 1 (eq:condensed-tv-laws).
Rational four_state_fixed_tv(unsigned n);

/// TV(δ_{X_4} P-tilde^N, π): 5/6 at N = 0, max{1/6 + 1/3 (3/4)^N, 1/2 - 2/3 (3/4)^N} from N = 1
/// (eq:condensed-tv-laws).
Rational four_state_truncating_tv(unsigned n);

/// The mass on the prematurely censored X_2 after N >= 1 truncating steps from X_4, a lower bound
/// of the total variation: 1/2 - 2/3 (3/4)^N (eq:censored-mass-bound).
Rational four_state_censored_mass(unsigned n);

}  // namespace tempera::reference
