#include "reference/kernels/tree_kernel.hpp"

#include "reference/kernels/carried_chain.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

namespace {

CarriedChain one_move(const RecordTree& tree, std::shared_ptr<const TreeKernel> kernel) {
  CarriedChain chain(tree, 1);
  chain.then_move(0, std::move(kernel));
  return chain;
}

}  // namespace

TEST_CASE("laws of the kernel on the tree") {
  law("every row of L_k is that of the dense matrix, whatever the restart law", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(4);
    const Power power = random::power();
    const RestartLaw restart = random::restart(horizon);
    const FixedHorizonSpace space(model, horizon);
    const Matrix dense = fixed_horizon_kernel(space, power, restart);
    const RecordTree tree(model, horizon);
    const auto kernel = std::make_shared<TreeKernel>(tree, power, restart);
    const CarriedChain chain = one_move(tree, kernel);
    RC_ASSERT(kernel->is_reversible());
    for (std::size_t x = 0; x < space.size(); ++x) {
      const Law row = chain.apply(point_mass(space.size(), x));
      for (std::size_t y = 0; y < space.size(); ++y) {
        RC_ASSERT(row[y] == dense(x, y));
        RC_ASSERT(kernel->denominator() % denominator(dense(x, y)) == 0);
      }
    }
  });

  law("records reach each other just when they share what every move keeps", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(4);
    const RestartLaw restart = random::restart(horizon);
    const FixedHorizonSpace space(model, horizon);
    const Matrix dense = fixed_horizon_kernel(space, Power(2), restart);
    const RecordTree tree(model, horizon);
    const auto first = TreeKernel(tree, Power(2), restart).first_reached();
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y)
        RC_ASSERT((x == y || dense(x, y) != 0) == (first[x] == first[y]));
  });
}
