// Which edges a sweep attempts may be chosen by anything but the records: then every choice keeps
// the product target, and else it need not.
#include "reference/analysis/invariance.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

/// Attempts edge 1 or edge 2, the first with this probability from each joint state.
template <class Share>
FactoredKernel one_edge(const ParallelTempering& kernels, const Share& share_of) {
  const Matrix first = kernels.swap(1).matrix();
  const Matrix second = kernels.swap(2).matrix();
  Matrix chosen(first.rows(), first.columns());
  for (std::size_t x = 0; x < first.rows(); ++x)
    for (std::size_t y = 0; y < first.columns(); ++y)
      chosen(x, y) = share_of(x) * first(x, y) + (1 - share_of(x)) * second(x, y);
  return FactoredKernel(chosen);
}

std::vector<std::size_t> no_sizes(const Law& target) {
  return std::vector<std::size_t>(target.size());
}

}  // namespace

TEST_CASE("laws of a chosen edge") {
  law("an edge that is drawn without a look at the records keeps the product target", [] {
    const FixedHorizonSpace space(random::model(), 1);
    const ParallelTempering kernels(space, random::ladder(3), RestartLaw::uniform(1));
    const Law target = kernels.target();
    const Rational share(random::between(0, 7), 7);
    RC_ASSERT(!first_violation_of_invariance(one_edge(kernels, [&](std::size_t) { return share; }),
                                             target, no_sizes(target)));
  });
}

// Edge 1 if rung 1 holds a likelier record than rung 2: exchanged for certain, and then not
// taken back.
TEST_CASE("a schedule that looks at the records of its own sweep is caught") {
  const FixedHorizonSpace space(four_state(), 2);
  const ParallelTempering kernels(space, parse_ladder("1,2,4", "test"), RestartLaw::uniform(2));
  const Law target = kernels.target();
  const auto by_records = [&](std::size_t state) {
    const auto at = coordinates(kernels.shape(), state);
    return Rational(space.likelihood(at[0]) > space.likelihood(at[1]) ? 1 : 0);
  };
  CHECK(first_violation_of_invariance(one_edge(kernels, by_records), target, no_sizes(target)));
  CHECK_FALSE(first_violation_of_invariance(
      one_edge(kernels, [](std::size_t) { return Rational(1, 3); }), target, no_sizes(target)));
}
