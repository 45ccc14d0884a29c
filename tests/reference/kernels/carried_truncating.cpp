#include "reference/kernels/carried_truncating.hpp"

#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("the truncating kernel without a matrix is the one with it") {
  law("steps of any law, and every entry", [] {
    const FiniteModel model = random::model();
    const ComparisonSpace space(model, random::between<std::size_t>(1, 4));
    const Power power(Rational(random::between(1, 3)));
    const Matrix dense = truncating_kernel(space, power);
    const CarriedTruncating carried(space, power);
    const Law from = random::weights(space.size());
    CHECK(carried.apply(from) == FactoredKernel(dense).apply(from));
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        if (x != y) CHECK(carried.probability(x, y) == dense(x, y));
  });
}
