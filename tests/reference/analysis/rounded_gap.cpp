#include "reference/analysis/rounded_gap.hpp"

#include "reference/kernels/parallel_tempering.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

const Rational most_width = Rational(1) / integer_power(Rational(2), 31);

// P P* as its definition says.
Matrix with_its_reverse(const Matrix& kernel, const Law& target) {
  const std::size_t n = target.size();
  Matrix product(n, n);
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y < n; ++y)
      for (std::size_t z = 0; z < n; ++z)
        product(x, y) += kernel(x, z) * target[y] * kernel(y, z) / target[z];
  return product;
}

// True if the bracket holds the second eigenvalue of this kernel, by inertia, and is narrow.
bool encloses_second(const Bracket& found, const Matrix& kernel, const Law& target) {
  return found.lower < found.upper && found.upper - found.lower <= most_width &&
         (found.lower == -1 || eigenvalues_above(kernel, target, found.lower) >= 2) &&
         eigenvalues_above(kernel, target, found.upper) < 2;
}

bool is_right(const FactoredKernel& chain, const Law& target, Reversible meant) {
  const Bracket found = rounded_second_eigenvalue(chain.rounded_matrix(), target, meant);
  const Matrix kernel = chain.matrix();
  return encloses_second(
      found, meant == Reversible::itself ? kernel : with_its_reverse(kernel, target), target);
}

// Doubles of fractions, as a kernel of one coordinate has them.
Bracket second_of(const Matrix& kernel, const Law& target) {
  return rounded_second_eigenvalue(FactoredKernel(kernel).rounded_matrix(), target,
                                   Reversible::itself);
}

bool is_tight_around(const Bracket& found, const Rational& value) {
  return found.lower <= value && value <= found.upper && found.upper - found.lower <= most_width;
}

// Every state goes to every other by the same probability: 1, and 1 - n c for all others.
Matrix all_alike(std::size_t n, const Rational& c) {
  Matrix kernel(n, n);
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y < n; ++y)
      kernel(x, y) = x == y ? Rational(1 - Rational(n - 1) * c) : c;
  return kernel;
}

// Groups of `of` states each; by a probability of `leak` a step draws from all, else from its
// group. Eigenvalues 1, 1 - leak for each further group, and 0.
Matrix leaking_groups(std::size_t n, std::size_t of, const Rational& leak) {
  Matrix kernel(n, n);
  for (std::size_t x = 0; x < n; ++x)
    for (std::size_t y = 0; y < n; ++y)
      kernel(x, y) = leak / n + (x / of == y / of ? Rational((1 - leak) / of) : Rational(0));
  return kernel;
}

Law even_law(std::size_t n) { return Law(n, Rational(1, n)); }

}  // namespace

TEST_CASE("laws of the gap in doubles") {
  law("one rung's bracket holds what inertia counts", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const ParallelTempering kernels(space, random::ladder(1), random::restart(space.horizon()));
    RC_PRE(kernels.target().size() > 1U);
    RC_ASSERT(is_right(kernels.local_sweep(), kernels.target(), Reversible::itself));
  });
  law("a ladder's, of the chain and its reverse, which no order of swaps leaves reversible", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const ParallelTempering kernels(space, random::ladder(2), random::restart(space.horizon()));
    RC_PRE(kernels.target().size() > 1U && kernels.target().size() <= 36U);
    RC_ASSERT(is_right(kernels.transition(1, 1), kernels.target(), Reversible::with_reverse));
  });
}

TEST_CASE("a double second eigenvalue, one of -1, and one of 0") {
  CHECK(is_tight_around(second_of(all_alike(3, Rational(1, 5)), even_law(3)), Rational(2, 5)));
  CHECK(
      is_tight_around(second_of(all_alike(100, Rational(1, 300)), even_law(100)), Rational(2, 3)));
  CHECK(is_tight_around(second_of(all_alike(2, 1), even_law(2)), -1));
  CHECK(is_tight_around(second_of(all_alike(7, Rational(1, 7)), even_law(7)), 0));
}

TEST_CASE("chains that hardly leave a group, or never do") {
  const Rational seldom(1, 1'000'000);
  // Blocks of a factor, of 64, and of a product, of 128: full, begun, and of one state more.
  for (const std::size_t states : {6U, 64U, 129U}) {
    const std::size_t of = states / (states % 3 == 0 ? 3 : 2);
    for (const Rational& leak : {seldom, Rational(seldom * seldom), Rational(3, 7), Rational(0)}) {
      CAPTURE(states, leak);
      const Bracket found = second_of(leaking_groups(states, of, leak), even_law(states));
      CHECK(is_tight_around(found, 1 - leak));
      CHECK((found.upper == 1) == (leak < seldom));
    }
  }
}

// A step up has q/4, a step down 1/4, q = 10^-200: a double has no place for the last mass,
// 10^-400.
TEST_CASE("masses that are too small for a double") {
  const Rational q = 1 / integer_power(Rational(10), 200), all = 1 + q + q * q;
  const Matrix kernel = matrix_of({{1 - q / 4, q / 4, 0},
                                   {Rational(1, 4), Rational(3, 4) - q / 4, q / 4},
                                   {0, Rational(1, 4), Rational(3, 4)}});
  const Law target{1 / all, q / all, q * q / all};
  CHECK(encloses_second(second_of(kernel, target), kernel, target));
}

// A state x is left with a probability l(x) of its own, for a state drawn by l: the eigenvalues λ
// but 1 are where Σ l² / (λ + l - 1) = Σ l, one between each pair of neighbours 1 - l. A hundred of
// them are so close to the second that one attempt does not tell them apart.
TEST_CASE("eigenvalues that crowd together") {
  const std::size_t states = 200;
  Law leaves;
  Rational all = 0;
  for (std::size_t x = 0; x < states; ++x)
    all += leaves.emplace_back(Rational(1, 2) +
                               (x < 100 ? Rational(x, 10'000'000) : Rational(x, 2 * states)));
  Matrix kernel(states, states);
  for (std::size_t x = 0; x < states; ++x)
    for (std::size_t y = 0; y < states; ++y)
      kernel(x, y) = leaves[x] * leaves[y] / all + (x == y ? Rational(1 - leaves[x]) : Rational(0));
  const Bracket found = second_of(kernel, even_law(states));
  CHECK(found.upper - found.lower <= most_width);
  CHECK(found.lower > 1 - leaves[1]);
  CHECK(found.upper < 1 - leaves[0]);
  // Grows between neighbours, and is 0 at the eigenvalue.
  const auto beyond = [&](const Rational& value) {
    Rational sum = all;
    for (const Rational& l : leaves) sum += l * l / (1 - l - value);
    return sum;
  };
  CHECK(beyond(found.lower) <= 0);
  CHECK(beyond(found.upper) >= 0);
}
