#include "reference/report/chain_verdict.hpp"

#include "reference/analysis/detailed_balance.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/planted.hpp"

using namespace tempera::reference;

namespace {

ChainVerdict verdict_of(const Matrix& kernel, const Law& target,
                        const std::vector<std::string>& names,
                        const std::vector<std::size_t>& tokens) {
  return judge({FactoredKernel(kernel), target, names, tokens});
}

}  // namespace

TEST_CASE("a chain that keeps its target is told from one that moves it") {
  const std::vector<std::string> names{"long", "short"};
  const std::vector<std::size_t> tokens{2, 1};
  const Law even{q("1/2"), q("1/2")};
  const auto kept =
      verdict_of(matrix_of({{q("1/3"), q("2/3")}, {q("2/3"), q("1/3")}}), even, names, tokens);
  CHECK(kept.invariant());
  CHECK(kept.reversible());
  CHECK(kept.irreducible);

  const auto moved = verdict_of(matrix_of({{0, 1}, {0, 1}}), even, names, tokens);
  REQUIRE(moved.moved);
  CHECK(moved.moved->state == "short");  // the one with fewer tokens
  CHECK(moved.moved->before == q("1/2"));
  CHECK(moved.moved->after == 1);
  REQUIRE(moved.unbalanced);
  CHECK(moved.unbalanced->from == "long");
  CHECK(moved.unbalanced->to == "short");
  CHECK(moved.unbalanced->forward_flow == q("1/2"));
  CHECK(moved.unbalanced->reverse_flow == 0);
  CHECK_FALSE(moved.irreducible);
}

TEST_CASE("a cycle is invariant and not reversible") {
  const Law even(3, q("1/3"));
  const auto cycle =
      verdict_of(matrix_of({{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}), even, {"x", "y", "z"}, {1, 1, 1});
  CHECK(cycle.invariant());
  CHECK_FALSE(cycle.reversible());
  CHECK(cycle.irreducible);
}

TEST_CASE("each planted defect of the local kernel is found") {
  const FixedHorizonSpace space(four_state(), 2);
  const Power power(Rational(2));
  const Law target = power_target(space, power);
  const auto found = [&](planted::Defect defect) {
    return verdict_of(planted::local_kernel(space, power, defect), target, space.names(),
                      token_counts(space));
  };
  CHECK(found(planted::Defect::none).invariant());
  CHECK(found(planted::Defect::none).reversible());
  CHECK_FALSE(found(planted::Defect::transposed_acceptance).invariant());
  CHECK_FALSE(found(planted::Defect::unscored_proposal).invariant());
  CHECK_FALSE(found(planted::Defect::restart_within_length).invariant());
}
