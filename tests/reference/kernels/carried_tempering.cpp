#include "reference/kernels/carried_tempering.hpp"

#include "reference/analysis/carried_laws.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/analysis/total_variation.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

/// The same joint chain in both forms, of up to so many rungs.
struct BothForms {
  int most_rungs;
  FiniteModel model = random::model();
  std::size_t horizon = random::horizon(2);
  Ladder ladder = random::ladder(random::between(1, most_rungs));
  RestartLaw restart = random::restart(horizon);
  FixedHorizonSpace space{model, horizon};
  ParallelTempering dense{space, ladder, restart};
  CarriedTempering carried{model, horizon, ladder, restart};
};

Law drawn_law(std::size_t size) { return random::weights(size); }

}  // namespace

TEST_CASE("laws of carried chains") {
  law("a law is carried to what the matrices make of it", [] {
    const BothForms both{3};
    const Law law = drawn_law(both.carried.local_sweep().size());
    RC_ASSERT(both.carried.local_sweep().apply(law) == both.dense.local_sweep().apply(law));
    RC_ASSERT(both.carried.ordered_sweep().apply(law) == both.dense.ordered_sweep().apply(law));
    RC_ASSERT(both.carried.odd_layer().apply(law) == both.dense.odd_layer().apply(law));
    RC_ASSERT(both.carried.even_layer().apply(law) == both.dense.even_layer().apply(law));
    RC_ASSERT(both.carried.transition(2, 1).apply(law) == both.dense.transition(2, 1).apply(law));
    RC_ASSERT(both.carried.deo_transition().apply(law) == both.dense.deo_transition().apply(law));
  });

  law("targets, acceptances and curves are those of the matrices", [] {
    const BothForms both{3};
    const Law target = both.dense.target();
    for (std::size_t state = 0; state < target.size(); ++state)
      RC_ASSERT(both.carried.target(state) == target[state]);
    if (both.ladder.rungs() > 1)
      RC_ASSERT(both.carried.swap_acceptances() ==
                diagnose_ladder(both.space, both.ladder).acceptances);
    const auto start = random::between<std::size_t>(0, target.size() - 1);
    RC_ASSERT(total_variation_curve(both.carried, {both.carried.transition(1, 2)}, start, 3) ==
              total_variation_curve({both.dense.transition(1, 2)}, start, target, 3));
  });

  law("invariance, irreducibility and the flows of small states are those of the matrices", [] {
    const BothForms both{2};
    const CarriedChain chain = both.carried.transition(1, 1);
    const FactoredKernel dense = both.dense.transition(1, 1);
    const auto tokens = token_counts(both.space, both.ladder.rungs());
    RC_ASSERT(is_invariant(both.carried, chain));
    RC_ASSERT(chain.is_irreducible() == is_irreducible(dense));
    const auto expected = first_violation_of_detailed_balance(dense, both.dense.target(), tokens);
    const auto found = violation_among_small_states(both.carried, chain, tokens, tokens.size());
    RC_ASSERT(found.has_value() == expected.has_value());
    if (!found) return;
    RC_ASSERT(std::pair(found->x, found->y) == std::pair(expected->x, expected->y));
    RC_ASSERT(found->forward_flow == expected->forward_flow);
    RC_ASSERT(found->reverse_flow == expected->reverse_flow);
  });

  law("a palindrome of reversible factors is reversible", [] {
    const BothForms both{3};
    const auto tokens = token_counts(both.space, both.ladder.rungs());
    if (both.carried.deo_transition().is_palindrome())
      RC_ASSERT(!first_violation_of_detailed_balance(both.dense.deo_transition(),
                                                     both.dense.target(), tokens));
    if (both.carried.transition(1, 1).is_palindrome())
      RC_ASSERT(!first_violation_of_detailed_balance(both.dense.transition(1, 1),
                                                     both.dense.target(), tokens));
    // One rung, and two under DEO, are palindromes; an ordered sweep of two is none.
    RC_ASSERT(both.carried.transition(1, 1).is_palindrome().has_value() ==
              (both.ladder.rungs() == 1));
    RC_ASSERT(both.carried.deo_transition().is_palindrome().has_value() ==
              (both.ladder.rungs() < 3));
  });
}

// The law of one rung with the power of another: nearly right, and to be seen.
TEST_CASE("a chain that preserves another target is caught") {
  const FiniteModel model = four_state();
  const RestartLaw restart = RestartLaw::uniform(3);
  const CarriedTempering kernels(model, 3, parse_ladder("1,2", "test"), restart);
  const RecordTree& tree = kernels.tree();
  CarriedChain planted(tree, 2);
  planted.then_move(0, std::make_shared<TreeKernel>(tree, Power(2), restart));
  CHECK_FALSE(is_invariant(kernels, planted));
  CarriedChain steeper(tree, 2);
  steeper.then_swap(0, std::make_shared<TreeSwap>(tree, Power(1), Power(3)));
  CHECK_FALSE(is_invariant(kernels, steeper));
  CHECK(is_invariant(kernels, kernels.transition(3, 2)));
}

TEST_CASE("a law too large for its residues is refused") {
  const FiniteModel coin({"coin", {{"a", "b"}, "coin"}, {}, {}, TokenRow{q("2/3"), q("1/3")}},
                         "coin");
  const CarriedTempering kernels(coin, 18, parse_ladder("2", "test"), RestartLaw::uniform(18));
  CHECK_THROWS_WITH(total_variation_curve(kernels, {kernels.local_sweep()}, 0, 10'000),
                    Catch::Contains("GiB of residues"));
  CHECK_THROWS_WITH(
      CarriedTempering(coin, 12, parse_ladder("1,2", "test"), RestartLaw::uniform(12)),
      Catch::Contains("16777216 joint states, more than the limit of 4194304"));
}
