#pragma once

#include <cstddef>
#include <vector>

namespace tempera::reference {

/// Rows of doubles, one after the other.
using Doubles = std::vector<double>;

/// A matrix without negative entries in doubles. Each entry is the true one times at most
/// `roundings` factors between 1 / (1 + 2^-53) and 1 / (1 - 2^-53), or is off by less than 2^-1000.
struct RoundedMatrix {
  Doubles entries;
  std::size_t roundings = 0;
};

/// An upper bound of what k roundings, each a share of 2^-53, change a number by, as a share of it:
/// γ_k = k u / (1 - k u) with u = 2^-53 (Higham, Accuracy and Stability of Numerical Algorithms,
/// 2002, Lemma 3.1), in doubles whose own roundings the factor covers. @pre k < 2^40
inline double share_of(std::size_t roundings) {
  return 1.001 * static_cast<double>(roundings) * 0x1p-53;
}

/// The roundings that product and times_transpose add to each entry, which is a sum over sums of
/// blocks: one of a product, and the additions of a block and of the blocks.
std::size_t product_roundings(std::size_t inner);

/// a b, a of `rows` rows of n, b of n rows of n.
Doubles product(const Doubles& a, std::size_t rows, const Doubles& b, std::size_t n);
/// a aᵀ, n x n.
Doubles times_transpose(const Doubles& a, std::size_t n);

/// Cholesky's factor L of a symmetric matrix, in its lower triangle, in place; false, and nothing
/// of use, if a pivot is not positive. If true, L Lᵀ differs from the matrix by one of norm at most
/// factor_error(n, trace).
bool factorise(Doubles& symmetric, std::size_t n);
/// Each entry of L Lᵀ is a sum of products that take part in at most c roundings each: their
/// own, the additions of a block, one subtraction for each block after it, and one for each column
/// of the last. So |A - L Lᵀ| <= γ_c |L| |Lᵀ|, entry by entry (Higham, Theorem 10.3, with n
/// additions replaced by those there are). By Cauchy and Schwarz an entry of |L| |Lᵀ| is at most
/// l_x l_y, l_x² = (L Lᵀ)(x, x) <= A(x, x) / (1 - γ_c), and the matrix l lᵀ has the norm Σ l_x².
double factor_error(std::size_t n, double trace);
/// L Lᵀ x = b, b in place.
void solve(const Doubles& factor, Doubles& b);

}  // namespace tempera::reference
