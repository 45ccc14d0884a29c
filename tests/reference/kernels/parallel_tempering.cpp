#include "reference/kernels/parallel_tempering.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

TEST_CASE("an ordered sweep carries a record through the whole ladder, a layer does not") {
  // Equal likelihoods: every exchange is accepted.
  const FiniteModel coin = parse_finite_model(
      R"({"name": "coin", "vocabulary": ["a", "b"], "terminal": [],
          "default": {"a": "1/2", "b": "1/2"}})",
      "coin");
  const FixedHorizonSpace space(coin, 1);
  const ParallelTempering kernels(space, parse_ladder("1,2,3", "test"), RestartLaw::uniform(1));
  const auto at = [&](const char* text) { return parse_joint_state(space, 3, text, "test"); };
  const auto carried = [&](const FactoredKernel& kernel, const char* from) {
    return kernel.apply(point_mass(8, at(from)));
  };
  CHECK(carried(kernels.ordered_sweep(), "b|a|a") == point_mass(8, at("a|a|b")));
  CHECK(carried(kernels.ordered_sweep(), "a|a|b") == point_mass(8, at("a|b|a")));
  CHECK(carried(kernels.odd_layer(), "b|a|a") == point_mass(8, at("a|b|a")));
  CHECK(carried(kernels.odd_layer(), "a|a|b") == point_mass(8, at("a|a|b")));
  CHECK(carried(kernels.even_layer(), "a|b|a") == point_mass(8, at("a|a|b")));
}

TEST_CASE("an ordered sweep of three rungs need not be reversible") {
  const FixedHorizonSpace space(four_state(), 2);
  const ParallelTempering kernels(space, parse_ladder("1,2,4", "test"), RestartLaw::uniform(2));
  CHECK(first_violation_of_detailed_balance(kernels.ordered_sweep(), kernels.target(),
                                            token_counts(space, 3)));
}

TEST_CASE("too large a ladder is refused before its kernels are built") {
  const FixedHorizonSpace space(four_state(), 40);
  CHECK_THROWS_AS(ParallelTempering(space, parse_ladder("1,2,3", "test"), RestartLaw::uniform(40)),
                  BadInput);
}

namespace {

// Records of unequal probabilities, the longest of them censored at the horizon.
FiniteModel biased() {
  return {{"biased",
           {{"a", "e"}, "test"},
           {1},
           {{{0}, {q("1/4"), q("3/4")}}},
           TokenRow{q("2/3"), q("1/3")}},
          "test"};
}

Matrix product(const Matrix& first, const Matrix& second) {
  Matrix result(first.rows(), second.columns());
  for (std::size_t x = 0; x < first.rows(); ++x)
    for (std::size_t z = 0; z < first.columns(); ++z)
      for (std::size_t y = 0; first(x, z) != 0 && y < second.columns(); ++y)
        result(x, y) += first(x, z) * second(z, y);
  return result;
}

Matrix power_of(const Matrix& matrix, std::size_t n) {
  Matrix result(matrix.rows(), matrix.rows());
  for (std::size_t x = 0; x < matrix.rows(); ++x) result(x, x) = 1;
  for (std::size_t i = 0; i < n; ++i) result = product(result, matrix);
  return result;
}

// The kernels as dense joint matrices, from their definitions in the paper and p0 alone.
class DenseKernels {
 public:
  DenseKernels(const FixedHorizonSpace& space, const Ladder& ladder, const RestartLaw& restart)
      : space_(space), ladder_(ladder), shape_(ladder.rungs(), space.size()) {
    for (std::size_t k = 0; k < ladder.rungs(); ++k)
      local_.push_back(fixed_horizon_kernel(space, ladder[k], restart));
  }

  Matrix local_sweep() const {
    const std::size_t size = joint_size(shape_);
    Matrix sweep(size, size);
    for (std::size_t s = 0; s < size; ++s)
      for (std::size_t t = 0; t < size; ++t) {
        sweep(s, t) = 1;
        const auto x = coordinates(shape_, s), y = coordinates(shape_, t);
        for (std::size_t k = 0; k < shape_.size(); ++k) sweep(s, t) *= local_[k](x[k], y[k]);
      }
    return sweep;
  }

  // W_k, k from 1.
  Matrix swap(std::size_t k) const {
    const std::size_t size = joint_size(shape_);
    Matrix kernel(size, size);
    for (std::size_t s = 0; s < size; ++s) {
      auto x = coordinates(shape_, s);
      const Rational lower = space_.likelihood(x[k - 1]), upper = space_.likelihood(x[k]);
      const Power gap(ladder_[k].value() - ladder_[k - 1].value());
      const Rational accepted = std::min(Rational(1), gap.raise(lower / upper));
      kernel(s, s) += 1 - accepted;
      std::swap(x[k - 1], x[k]);
      kernel(s, joint_state(shape_, x)) += accepted;
    }
    return kernel;
  }

 private:
  const FixedHorizonSpace& space_;
  const Ladder& ladder_;
  Shape shape_;
  std::vector<Matrix> local_;
};

}  // namespace

TEST_CASE("four rungs have a layer of two edges and a layer of one") {
  const FixedHorizonSpace space(biased(), 1);
  const Ladder ladder = parse_ladder("1,2,4,5", "test");
  const ParallelTempering kernels(space, ladder, RestartLaw::uniform(1));
  const DenseKernels dense(space, ladder, RestartLaw::uniform(1));
  const Matrix odd = product(dense.swap(1), dense.swap(3));
  CHECK(kernels.odd_layer().matrix() == odd);
  CHECK(product(dense.swap(3), dense.swap(1)) == odd);
  CHECK(kernels.even_layer().matrix() == dense.swap(2));
  const Matrix r = dense.local_sweep();
  CHECK(kernels.deo_transition().matrix() == product(product(r, odd), product(r, dense.swap(2))));
  const Matrix ordered = product(product(dense.swap(1), dense.swap(2)), dense.swap(3));
  CHECK(kernels.ordered_sweep().matrix() == ordered);
  CHECK(product(product(dense.swap(3), dense.swap(2)), dense.swap(1)) != ordered);
}

TEST_CASE("local sweeps and swap sweeps are counted each by its own number") {
  const FixedHorizonSpace space(biased(), 2);
  const Ladder ladder = parse_ladder("1,2,4", "test");
  const RestartLaw restart({q("1/3"), q("2/3")});
  const ParallelTempering kernels(space, ladder, restart);
  const DenseKernels dense(space, ladder, restart);
  const Matrix r = dense.local_sweep(), c = product(dense.swap(1), dense.swap(2));
  for (const auto& [local, sweeps] : {std::pair(1, 2), std::pair(2, 1), std::pair(3, 2)}) {
    CAPTURE(local, sweeps);
    CHECK(kernels.transition(static_cast<std::size_t>(local), static_cast<std::size_t>(sweeps))
              .matrix() == product(power_of(r, static_cast<std::size_t>(local)),
                                   power_of(c, static_cast<std::size_t>(sweeps))));
  }
  CHECK(product(r, c) != product(c, r));
}

TEST_CASE("a censored record swaps by its whole p0, as a terminated one does") {
  const FixedHorizonSpace space(biased(), 2);  // a a (censored) 1/6, a e 1/2, e 1/3
  const ParallelTempering kernels(space, parse_ladder("1,3", "test"), RestartLaw::uniform(2));
  const auto at = [&](const char* text) { return parse_joint_state(space, 2, text, "test"); };
  const Matrix swap = kernels.swap(1).matrix();
  CHECK(swap(at("a a|e"), at("e|a a")) == q("1/4"));  // (1/6 over 1/3) squared
  CHECK(swap(at("e|a a"), at("a a|e")) == 1);
  CHECK(swap(at("a a|a e"), at("a e|a a")) == q("1/9"));
  CHECK(swap(at("a e|a a"), at("a a|a e")) == 1);
  CHECK(swap(at("a a|a a"), at("a a|a a")) == 1);
}

TEST_CASE("a joint chain that starts from the longest records finds the target") {
  const FixedHorizonSpace space(biased(), 2);
  const Ladder ladder = parse_ladder("1,2,4", "test");
  const ParallelTempering kernels(space, ladder, RestartLaw::uniform(2));
  const DenseKernels dense(space, ladder, RestartLaw::uniform(2));
  const std::size_t start = parse_joint_state(space, 3, "a a|a a|a a", "test");
  const Matrix step = product(dense.local_sweep(), product(dense.swap(1), dense.swap(2)));
  const Law target = kernels.target();
  const auto curve = total_variation_curve({kernels.transition(1, 1)}, start, target, 12);
  CHECK(curve[0] == 1 - target[start]);
  Law law = point_mass(target.size(), start);
  for (std::size_t n = 1; n <= 3; ++n) {
    Law next(law.size());
    for (std::size_t x = 0; x < law.size(); ++x)
      for (std::size_t y = 0; y < law.size(); ++y) next[y] += law[x] * step(x, y);
    law = next;
    Rational above = 0;
    for (std::size_t x = 0; x < law.size(); ++x)
      if (law[x] > target[x]) above += law[x] - target[x];
    CHECK(curve[n] == above);
  }
  for (std::size_t n = 1; n < curve.size(); ++n) CHECK(curve[n] <= curve[n - 1]);
  CHECK(curve.back() < q("1/10"));
}

TEST_CASE("laws of Parallel Power Tempering") {
  // prop:fixed-stage-invariance
  law("R, every W_k, C, both layers and P leave the product target", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    RC_PRE(space.size() <= 6);
    const int rungs = random::between(1, 3);
    const ParallelTempering kernels(space, random::ladder(rungs), random::restart(space.horizon()));
    const Law target = kernels.target();
    const auto tokens = token_counts(space, static_cast<std::size_t>(rungs));
    const auto leaves = [&](const FactoredKernel& kernel) {
      return !first_violation_of_invariance(kernel, target, tokens);
    };
    RC_ASSERT(leaves(kernels.local_sweep()));
    for (std::size_t k = 1; k < kernels.shape().size(); ++k) RC_ASSERT(leaves(kernels.swap(k)));
    RC_ASSERT(leaves(kernels.ordered_sweep()));
    RC_ASSERT(leaves(kernels.odd_layer()));
    RC_ASSERT(leaves(kernels.even_layer()));
    RC_ASSERT(leaves(kernels.deo_transition()));
    RC_ASSERT(leaves(kernels.transition(2, 2)));
    RC_ASSERT(!first_violation_of_detailed_balance(kernels.local_sweep(), target, tokens));
  });

  law("with full restarts P is irreducible", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const ParallelTempering kernels(space, random::ladder(2), RestartLaw::uniform(space.horizon()));
    RC_ASSERT(is_irreducible(kernels.transition(1, 1)));
    RC_ASSERT(is_irreducible(kernels.deo_transition()));
  });
}
