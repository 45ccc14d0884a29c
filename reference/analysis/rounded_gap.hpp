#pragma once

#include "reference/analysis/spectral_gap.hpp"
#include "reference/numbers/rounded_products.hpp"

namespace tempera::reference {

/// Whose second eigenvalue is meant: a kernel's P, in detailed balance, or that of P P*, where
/// P*(x, y) = π(y) P(y, x) / π(x).
enum class Reversible { itself, with_reverse };

/// That eigenvalue between rationals 2^-31 apart, or less where it is next to 1, in doubles with
/// bounds of their errors: a quotient xᵀ S x / xᵀ x below, and above a factor of Cholesky's, which
/// no matrix has that is not positive. n >= 2; some 2 n³ operations and 32 n² bytes. Wider only if
/// so many eigenvalues crowd around the second that nine attempts find no vector of it.
/// @pre target > 0, and the kernel preserves it
/// @throw Bug if the kernel does not, and is off by more than the errors
Bracket rounded_second_eigenvalue(RoundedMatrix kernel, const Law& target, Reversible meant);

}  // namespace tempera::reference
