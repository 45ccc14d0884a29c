#include "gpu/core/sampler/chain.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/lab/claims/planted.hpp"
#include "tests/reference/planted.hpp"

namespace tempera::test {
namespace in_kernels {
namespace {

using namespace reference;
using lab::FunctionsUnderTest;
using Chain = ParallelTempering;

/// Every proposal of q_r accepted.
Matrix always_accepted(const FixedHorizonSpace& space, const Power& power, std::size_t r) {
  const SuffixProposal q(space, power);
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t y = 0; y < space.size(); ++y) kernel(x, y) = q(r, x, y);
  return kernel;
}

/// A joint kernel that moves nothing.
FactoredKernel at_rest(const Chain& chain) { return FactoredKernel(chain.shape()); }

/// `kernel`, and then the last edge's swap with its powers transposed.
FactoredKernel and_transposed(FactoredKernel kernel, const Chain& chain) {
  const std::size_t edge = chain.shape().size() - 1;
  if (edge > 0)
    kernel.then_swap(edge - 1,
                     swap_acceptance(chain.rung_target(edge), chain.rung_target(edge - 1)));
  return kernel;
}

/// Every local kernel without acceptance: its target is not its rung's.
FactoredKernel unscored_sweep(const Chain& chain) {
  FactoredKernel sweep(chain.shape());
  std::vector<Matrix> kernels;
  for (const std::size_t size : chain.shape()) {
    Matrix& kernel = kernels.emplace_back(size, size);
    for (std::size_t x = 0; x < size; ++x)
      for (std::size_t y = 0; y < size; ++y) kernel(x, y) = Rational(1) / Rational(size);
  }
  sweep.then_move(kernels);
  return sweep;
}

}  // namespace

std::vector<Planted> planted() {
  using planted::Defect;
  std::vector<Planted> all{
      {"local_reversible", "every proposal accepted",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel_at = always_accepted;
       }},
      {"local_mixture", "the uniform law whatever the restart law",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel =
             [](const auto& space, const auto& power, const auto&) {
               return fixed_horizon_kernel(space, power, RestartLaw::uniform(space.horizon()));
             };
       }},
      {"local_mixture", "an acceptance without the proposal's score",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel =
             [](const auto& space, const auto& power, const auto&) {
               return planted::local_kernel(space, power, Defect::unscored_proposal);
             };
       }},
      {"sweep_invariant", "local moves without acceptance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().local_sweep = unscored_sweep;
       }},
      {"sweep_invariant", "a sweep at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().local_sweep = at_rest;
       }},
      {"swap_invariant", "transposed powers",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().swap = [](const Chain& chain, std::size_t) {
           return and_transposed(at_rest(chain), chain);
         };
       }},
      {"swap_invariant", "swaps at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().swap = [](const Chain& chain, std::size_t) {
           return at_rest(chain);
         };
       }},
      {"adj_invariant", "transposed powers at the last edge",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().ordered_sweep = [](const Chain& chain) {
           return and_transposed(chain.ordered_sweep(), chain);
         };
       }},
      {"adj_invariant", "a sweep at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().ordered_sweep = at_rest;
       }},
      {"deo_invariant", "transposed powers in the even layer",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().even_layer = [](const Chain& chain) {
           return and_transposed(at_rest(chain), chain);
         };
       }},
      {"deo_invariant", "transposed powers in the odd layer",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().odd_layer = [](const Chain& chain) {
           return and_transposed(at_rest(chain), chain);
         };
       }},
      {"transition_invariant", "transposed powers where there are three sweeps",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition = [](const Chain& chain, std::size_t local,
                                                              std::size_t sweeps) {
           const FactoredKernel round = chain.transition(local, sweeps);
           return sweeps == 3 ? and_transposed(round, chain) : round;
         };
       }},
      {"transition_invariant", "a product target with its rungs reversed",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().product_target = [](const Chain& chain) {
           std::vector<Law> laws;
           for (std::size_t k = chain.shape().size(); k-- > 0;)
             laws.push_back(chain.rung_target(k));
           return product_law(laws);
         };
       }},
      {"transition_invariant_deo", "transposed powers",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().deo_transition = [](const Chain& chain) {
           return and_transposed(chain.deo_transition(), chain);
         };
       }},
      {"output_marginal", "the product in reversed order of the rungs",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().product_target = [](const Chain& chain) {
           std::vector<Law> laws;
           for (std::size_t k = chain.shape().size(); k-- > 0;)
             laws.push_back(chain.rung_target(k));
           return product_law(laws);
         };
       }},
      {"swap_ratio", "transposed powers",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().swap_acceptance =
             [](const Law& lower, const Law& upper) { return swap_acceptance(upper, lower); };
       }},
      {"swap_ratio", "every swap accepted",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().swap_acceptance = [](const Law& lower, const Law&) {
           return swap_acceptance(lower, lower);
         };
       }},
      {"restart_factor", "the factor left out",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().restart_within_record = [](const auto& space,
                                                                         const auto& power, bool) {
           return lab::restart_within_record(space, power, false);
         };
       }},
      {"restart_factor", "a kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().restart_within_record = [](const auto& space,
                                                                         const auto&, bool) {
           Matrix kernel(space.size(), space.size());
           complete_rows_on_diagonal(kernel);
           return kernel;
         };
       }},
      {"restart_without_factor", "the factor where there should be none",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().restart_within_record = [](const auto& space,
                                                                         const auto& power, bool) {
           return lab::restart_within_record(space, power, true);
         };
       }},
      {"restart_without_factor", "another power",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().restart_within_record = [](const auto& space,
                                                                         const auto&, bool factor) {
           return lab::restart_within_record(space, Power(Rational(3)), factor);
         };
       }},
      {"stage_targets", "another ladder's target",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().stage_target =
             [](const auto& model, auto horizon, auto block, const auto& ladder, auto m) {
               std::vector<Power> powers;
               for (std::size_t k = 0; k < ladder.rungs(); ++k)
                 powers.emplace_back(ladder[k].value() + 1);
               return stage_target(model, horizon, block, Ladder(powers), m);
             };
       }},
      {"stage_targets", "transposed powers in the refinement",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition = [](const Chain& chain, std::size_t local,
                                                              std::size_t sweeps) {
           return and_transposed(chain.transition(local, sweeps), chain);
         };
       }},
  };
  return all;
}

}  // namespace in_kernels

std::vector<Planted> planted_in_kernels() { return in_kernels::planted(); }

}  // namespace tempera::test
