#include "reference/kernels/parallel_tempering.hpp"

#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/bad_input.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

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
    RC_ASSERT(leaves(kernels.even_odd_transition()));
    RC_ASSERT(leaves(kernels.transition(2, 2)));
    RC_ASSERT(!first_violation_of_detailed_balance(kernels.local_sweep(), target, tokens));
  });

  law("with full restarts P is irreducible", [] {
    const FixedHorizonSpace space(random::model(), random::horizon(2));
    const ParallelTempering kernels(space, random::ladder(2), RestartLaw::uniform(space.horizon()));
    RC_ASSERT(is_irreducible(kernels.transition(1, 1)));
    RC_ASSERT(is_irreducible(kernels.even_odd_transition()));
  });
}
