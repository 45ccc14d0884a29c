#include "reference/analysis/irreducibility.hpp"

#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "tests/reference/four_state.hpp"

using namespace tempera::reference;

TEST_CASE("full restarts connect the records, their absence or truncation does not") {
  const FixedHorizonSpace space(four_state(), 2);
  const auto kernel = [&](const char* restart) {
    return FactoredKernel(
        fixed_horizon_kernel(space, Power(2), parse_restart_law(restart, 2, "test")));
  };
  CHECK(is_irreducible(kernel("1/2,1/2")));
  CHECK(is_irreducible(kernel("1,0")));
  CHECK_FALSE(is_irreducible(kernel("0,1")));  // e is kept for ever
  const ComparisonSpace enlarged(four_state(), 2);
  CHECK_FALSE(is_irreducible(FactoredKernel(truncating_kernel(enlarged, Power(2)))));
}

TEST_CASE("a way there without a way back is not enough, in either direction") {
  CHECK_FALSE(is_irreducible(FactoredKernel(matrix_of({{q("1/2"), q("1/2")}, {q("0"), q("1")}}))));
  CHECK_FALSE(is_irreducible(FactoredKernel(matrix_of({{q("1"), q("0")}, {q("1/2"), q("1/2")}}))));
  CHECK(is_irreducible(FactoredKernel(
      matrix_of({{q("0"), q("1"), q("0")}, {q("0"), q("0"), q("1")}, {q("1"), q("0"), q("0")}}))));
}
