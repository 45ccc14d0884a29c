#include <algorithm>

#include "gpu/core/sampler/sweep.hpp"
#include "lab/claims/bound_functions.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/claims/truncated_metropolis.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/program_law.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/power_family.hpp"
#include "reference/analysis/spectral_gap.hpp"
#include "reference/analysis/stationary_law.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/joint_states.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {

using namespace reference;
using lab::FunctionsUnderTest;

void local_at_rest(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().fixed_horizon_kernel = [](const auto& space, const auto&,
                                                                 const auto&) {
    Matrix kernel(space.size(), space.size());
    complete_rows_on_diagonal(kernel);
    return kernel;
  };
}

namespace {

/// Every local move a draw from the target.
void drawn_from_target(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().fixed_horizon_kernel = [](const auto& space,
                                                                 const auto& power, const auto&) {
    const Law target = power_target(space, power);
    Matrix kernel(space.size(), space.size());
    for (std::size_t x = 0; x < space.size(); ++x)
      for (std::size_t y = 0; y < space.size(); ++y) kernel(x, y) = target[y];
    return kernel;
  };
}

void rounds_at_rest(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().transition = [](const ParallelTempering& chain, std::size_t,
                                                       std::size_t) {
    return FactoredKernel(chain.shape());
  };
}

void sweep_at_rest(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().local_sweep = [](const ParallelTempering& chain) {
    return FactoredKernel(chain.shape());
  };
}

}  // namespace

std::vector<Planted> planted_in_method() {
  return {
      {"power_raises_likelihood", "an energy of the other sign",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().mean_energy = [](const auto& p0, const auto& power,
                                                               long bits) {
           return Interval(0, bits) - mean_energy(p0, power, bits);
         };
       }},
      {"gap_against_power", "power 3 whatever the power",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().fixed_horizon_kernel =
             [](const auto& space, const auto&, const auto& restart) {
               return fixed_horizon_kernel(space, Power(Rational(3)), restart);
             };
         functions.of<lab::KernelFunctions>().second_eigenvalue =
             [](const Matrix& kernel, const Law&, unsigned halvings) {
               const Law target = *stationary_law(kernel);
               return second_eigenvalue(kernel, target, halvings);
             };
       }},
      {"gap_against_power", "the eigenvalue's place in the gap's",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().second_eigenvalue =
             [](const Matrix& kernel, const Law& target, unsigned halvings) {
               const Bracket value = second_eigenvalue(kernel, target, halvings);
               return Bracket{1 - value.upper, 1 - value.lower};
             };
       }},
      {"gap_at_most_base", "a draw from the target", drawn_from_target},
      {"gap_at_most_base", "one eigenvalue fewer",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().eigenvalues_above =
             [](const Matrix& kernel, const Law& law, const Rational& at) {
               const std::size_t number = eigenvalues_above(kernel, law, at);
               return number > 0 ? number - 1 : 0;
             };
       }},
      {"one_way_proposal", "a proposal through the horizon",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncated_proposal =
             [](const auto& space, const auto&, std::size_t, std::size_t y) {
               return Rational(space.in_fixed_horizon_space(y) ? 1 : 0) / Rational(space.size());
             };
       }},
      {"exact_on_truncated", "the truncated scores",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncated_metropolis = truncating_kernel;
       }},
      {"exact_on_truncated", "a kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncated_metropolis = [](const auto& space,
                                                                        const auto&) {
           Matrix kernel(space.size(), space.size());
           complete_rows_on_diagonal(kernel);
           return kernel;
         };
       }},
      {"stages_of_blocks", "a last stage of a whole block",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().stage_horizons = [](std::size_t horizon,
                                                                  std::size_t block) {
           auto stages = stage_horizons(horizon, block);
           stages.back() = stages.size() * block;
           return stages;
         };
       }},
      {"proposal_is_temperature", "temperature 1",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_proposal = [](const TokenRow& row,
                                                                  const Power&) { return row; };
       }},
      {"several_rungs", "the first swap alone",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().ordered_sweep = [](const ParallelTempering& chain) {
           return chain.swap(1);
         };
       }},
      {"zero_counts", "at least one local move",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition =
             [](const ParallelTempering& chain, std::size_t local, std::size_t sweeps) {
               return chain.transition(std::max<std::size_t>(local, 1), sweeps);
             };
       }},
      {"zero_counts", "at least one round",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().progressive_law =
             [](const auto& model, auto horizon, auto block, const auto& ladder,
                std::vector<StageSchedule> stages, Schedule schedule) {
               for (StageSchedule& stage : stages)
                 stage.rounds = std::max<std::size_t>(stage.rounds, 1);
               return progressive_law(model, horizon, block, ladder, stages, schedule);
             };
       }},
      {"zero_counts", "a program with at least one local move",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().outcomes_of_tempering =
             [](const auto& model, lab::ProgramQuestion question) {
               for (StageSchedule& stage : question.stages)
                 stage.local_moves = std::max<std::size_t>(stage.local_moves, 1);
               return lab::outcomes_of_tempering(model, question);
             };
       }},
      {"endings_move", "a kernel at rest", local_at_rest},
      {"swaps_accelerate", "rounds at rest", rounds_at_rest},
      {"swaps_accelerate", "a draw from the target", drawn_from_target},
      {"one_rung", "a local move for the sweeps",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition =
             [](const ParallelTempering& chain, std::size_t local, std::size_t sweeps) {
               return chain.transition(local + (sweeps > 0 ? 1 : 0), 0);
             };
       }},
      {"one_rung", "another power's target",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().power_target = [](const FixedHorizonSpace& space,
                                                                const Power& power) {
           return power_target(space, Power(power.value() + 1));
         };
       }},
      {"uncoupled_rungs", "swaps all the same",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition = [](const ParallelTempering& chain,
                                                              std::size_t local, std::size_t) {
           return chain.transition(local, 1);
         };
       }},
      {"implicit_tail", "a likelihood of nothing",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().likelihood = [](const RecordSpace&, std::size_t) {
           return Rational(0);
         };
       }},
      {"epsilon_is_largest", "half the weight of each rung",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().full_restart_weight =
             [](const auto& space, const auto& ladder, const auto& law) {
               Rational weight = full_restart_weight(space, ladder, law);
               for (std::size_t k = 0; k < ladder.rungs(); ++k) weight /= 2;
               return weight;
             };
       }},
      {"never_farther", "no distance between joint laws",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().total_variation = [](const Law& mu, const Law& nu) {
           return mu.size() >= 9 ? Rational(0) : total_variation(mu, nu);
         };
       }},
      {"never_farther", "a sweep that gathers all in one state",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().local_sweep = [](const ParallelTempering& chain) {
           std::vector<Matrix> kernels;
           for (const std::size_t size : chain.shape()) {
             Matrix& kernel = kernels.emplace_back(size, size);
             for (std::size_t x = 0; x < size; ++x) kernel(x, size - 1) = 1;
           }
           FactoredKernel sweep(chain.shape());
           sweep.then_move(kernels);
           return sweep;
         };
       }},
      {"sweep_contracts", "a sweep at rest", sweep_at_rest},
      {"round_is_not_reversible", "local moves alone",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition = [](const ParallelTempering& chain,
                                                              std::size_t local, std::size_t) {
           return chain.transition(local, 0);
         };
       }},
  };
}

}  // namespace tempera::test
