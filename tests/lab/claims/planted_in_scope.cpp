#include <algorithm>

#include "lab/claims/bound_functions.hpp"
#include "lab/claims/experiment_functions.hpp"
#include "lab/claims/kernel_functions.hpp"
#include "lab/claims/ladder_functions.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/contest/contest.hpp"
#include "lab/contest/exact_comparison.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/diagnostics.hpp"
#include "reference/analysis/gamma_family.hpp"
#include "reference/analysis/power_family.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/kernels/continuation_mass.hpp"
#include "reference/kernels/factored_kernel.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/kernels/truncating_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/matrix.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/lab/claims/planted.hpp"

namespace tempera::test {
namespace {

using namespace reference;
using lab::FunctionsUnderTest;

void swaps_at_rest(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().swap = [](const ParallelTempering& chain, std::size_t) {
    return FactoredKernel(chain.shape());
  };
}

/// Swaps that always happen.
void swaps_of_all(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().swap = [](const ParallelTempering& chain, std::size_t k) {
    FactoredKernel kernel(chain.shape());
    const std::size_t size = chain.shape()[k - 1];
    Matrix accepted(size, size);
    for (std::size_t x = 0; x < size; ++x)
      for (std::size_t y = 0; y < size; ++y) accepted(x, y) = 1;
    kernel.then_swap(k - 1, accepted);
    return kernel;
  };
}

/// Always from the first position, whatever the restart law.
void full_restarts(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().fixed_horizon_kernel = [](const auto& space,
                                                                 const auto& power, const auto&) {
    return fixed_horizon_kernel_at(space, power, 1);
  };
}

std::function<void(FunctionsUnderTest&)> spoilt_refinement(void (*spoil)(lab::RefinementCalls&)) {
  return [spoil](FunctionsUnderTest& functions) {
    functions.of<lab::ProgramFunctions>().calls_of_refinement = [spoil](std::uint64_t seed) {
      lab::RefinementCalls calls = lab::calls_of_refinement(seed);
      spoil(calls);
      return calls;
    };
  };
}

/// Every record goes to the first one, which is the shortest open or ended.
void truncating_that_gathers(FunctionsUnderTest& functions) {
  functions.of<lab::KernelFunctions>().truncating_kernel = [](const ComparisonSpace& space,
                                                              const Power&) {
    std::size_t open = 0;
    for (std::size_t x = 0; x < space.size(); ++x)
      if (!space[x].terminated && space[x].length() == 1) open = x;
    Matrix kernel(space.size(), space.size());
    for (std::size_t x = 0; x < space.size(); ++x) kernel(x, open) = 1;
    return kernel;
  };
}

}  // namespace

std::vector<Planted> planted_in_scope() {
  return {
      {"growth_at_constant", "a sweep for a layer",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().deo_round_trip_formula =
             [](const EdgeAcceptances& a) {
               return Rational(adj_round_trip_formula(a).total() * Rational(a.size()));
             };
       }},
      {"growth_at_constant", "rejections left out",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().adj_round_trip_formula =
             [](const EdgeAcceptances& a) {
               return adj_round_trip_formula(EdgeAcceptances(a.size(), Rational(1)));
             };
         functions.of<lab::LadderFunctions>().deo_round_trip_formula =
             [](const EdgeAcceptances& a) {
               return deo_round_trip_formula(EdgeAcceptances(a.size(), Rational(1)));
             };
       }},
      {"padding_in_vocabulary", "another row",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_row = [](const FiniteModel& model,
                                                             std::span<const Token>) {
           TokenRow row(model.vocabulary_size());
           row.back() = 1;
           return row;
         };
       }},
      {"record_blind_schedules", "swaps that always happen", swaps_of_all},
      {"record_blind_schedules", "swaps at rest", swaps_at_rest},
      {"figure_powers", "the power turned round",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().power_target = [](const FixedHorizonSpace& space,
                                                                const Power& power) {
           return power_target(space, Power(Rational(7 - power.value())));
         };
       }},
      {"terminal_frozen", "a kernel at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = [](const ComparisonSpace& space,
                                                                     const Power&) {
           Matrix kernel(space.size(), space.size());
           complete_rows_on_diagonal(kernel);
           return kernel;
         };
       }},
      {"full_restart_positive", "a last record that is never proposed",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().suffix_proposal = [](const RecordSpace& space,
                                                                   const Power& power) {
           const auto q = lab::suffix_law(space, power);
           const std::size_t last = space.size() - 1;
           return [q, last](std::size_t r, std::size_t x, std::size_t y) -> Rational {
             return y == last ? Rational(0) : q(r, x, y);
           };
         };
       }},
      {"proposing_and_entering", "the truncated scores",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncated_metropolis = truncating_kernel;
       }},
      {"proposing_and_entering", "a truncating kernel that never shortens",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = lab::truncated_metropolis;
       }},
      {"independent_randomness", "a sweep that swaps",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().local_sweep = [](const ParallelTempering& chain) {
           FactoredKernel kernel(chain.shape());
           const std::size_t size = chain.shape()[0];
           Matrix accepted(size, size);
           for (std::size_t x = 0; x < size; ++x)
             for (std::size_t y = 0; y < size; ++y) accepted(x, y) = 1;
           kernel.then_swap(0, accepted);
           return kernel;
         };
       }},
      {"zero_local_moves", "at least one local move",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition =
             [](const ParallelTempering& chain, std::size_t local, std::size_t sweeps) {
               return chain.transition(std::max<std::size_t>(local, 1), sweeps);
             };
       }},
      {"sweeps_in_bound", "one local move whatever is asked",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().transition = [](const ParallelTempering& chain,
                                                              std::size_t, std::size_t) {
           return FactoredKernel(chain.shape());
         };
       }},
      {"sweeps_in_bound", "a bound that counts no rounds",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().convergence_bound =
             [](const Rational&, unsigned, const Rational& initial) { return initial; };
       }},
      {"full_restart_sufficient", "swaps at rest", swaps_at_rest},
      {"full_restart_sufficient", "a kernel at rest", local_at_rest},
      {"full_restart_sufficient", "a full restart whatever the law", full_restarts},
      {"inconsistent_stages", "the base law",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().power_target =
             [](const FixedHorizonSpace& space, const Power&) { return base_law(space); };
       }},
      {"both_directions", "a proposal of shorter records alone",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().suffix_proposal = [](const RecordSpace& space,
                                                                   const Power& power) {
           const auto q = lab::suffix_law(space, power);
           return [q, &space](std::size_t r, std::size_t x, std::size_t y) -> Rational {
             return space[y].length() > space[x].length() ? Rational(0) : q(r, x, y);
           };
         };
       }},
      {"last_continuation", "the mass of the token too",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().continuation_mass =
             [](const auto& space, const auto& power, const auto& prefix, Token token) {
               return Rational(continuation_mass(space, power, prefix, token) / 2);
             };
       }},
      {"power_one", "a power more",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().power_target = [](const FixedHorizonSpace& space,
                                                                const Power& power) {
           return power_target(space, Power(power.value() + 1));
         };
       }},
      {"power_one", "a proposal of another power",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().token_proposal = [](const TokenRow& row,
                                                                  const Power& power) {
           return token_proposal(row, Power(power.value() + 1));
         };
       }},
      {"smaller_than_uniform", "the restarts alone",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::BoundFunctions>().full_restart_weight =
             [](const auto& space, const auto& ladder, const auto&) {
               Rational weight = 1;
               for (std::size_t k = 0; k < ladder.rungs(); ++k) weight /= Rational(space.horizon());
               return weight;
             };
       }},
      {"one_sweep_is_exact", "a sweep at rest",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().local_sweep = [](const ParallelTempering& chain) {
           return FactoredKernel(chain.shape());
         };
       }},
      {"divided_by_length", "a term of nothing",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ExperimentFunctions>().negative_entropy =
             [](const TokenRow&, long bits) { return Interval(0, bits); };
       }},
      {"gamma_acceptances", "a function of the gap",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().gamma_acceptance =
             [](unsigned shape, const Rational& lower, const Rational& upper) {
               return gamma_acceptance(shape, 1, Rational(1 + upper - lower));
             };
       }},
      {"gamma_acceptances", "one acceptance for all",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().gamma_acceptance =
             [](unsigned, const Rational&, const Rational&) { return Rational(1, 2); };
       }},
      {"gamma_acceptances", "the mean for the variance",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().gamma_variance =
             [](unsigned shape, const Rational& power) { return Rational(shape / power); };
       }},
      {"geometric_rejections", "a sweep that does not reject",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().adj_chain = [](const EdgeAcceptances& a) {
           return adj_chain(EdgeAcceptances(a.size(), Rational(1)));
         };
       }},
      {"endpoint_stays", "two sweeps for one",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().adj_chain = [](const EdgeAcceptances& a) {
           const Matrix once = adj_chain(a);
           Matrix twice(once.rows(), once.columns());
           for (std::size_t x = 0; x < once.rows(); ++x)
             for (std::size_t y = 0; y < once.rows(); ++y)
               for (std::size_t z = 0; z < once.rows(); ++z) twice(x, z) += once(x, y) * once(y, z);
           return twice;
         };
       }},
      {"self_transition_calls", "a pass for each restart past the end",
       spoilt_refinement(
           [](lab::RefinementCalls& calls) { calls.passes += calls.self_transitions; })},
      {"self_transition_calls", "tokens for it", spoilt_refinement([](lab::RefinementCalls& calls) {
         calls.tokens_of_those += calls.self_transitions;
       })},
      {"caches_follow_records", "a stale cache",
       spoilt_refinement([](lab::RefinementCalls& calls) { calls.caches_are_own = false; })},
      {"cached_scores", "the last token left out",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::RecordFunctions>().cached_score =
             [](const FiniteModel& model, std::size_t horizon, std::vector<Token> tokens) {
               tokens.pop_back();
               return lab::cached_score(model, horizon, tokens);
             };
       }},
      {"joint_long_mass", "half the mass",
       spoilt_bias([](RungBias& bias) { bias.excluded_mass /= 2; })},
      {"flow_moves_target", "a kernel at rest, and a flow",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().truncating_kernel = [](const ComparisonSpace& space,
                                                                     const Power&) {
           Matrix kernel(space.size(), space.size());
           complete_rows_on_diagonal(kernel);
           return kernel;
         };
         spoilt_bias([](RungBias& bias) { bias.flow = 1; })(functions);
       }},
      {"shortened_by_terminal", "open records cut short", truncating_that_gathers},
      {"censored_terminates", "a kernel at rest", local_at_rest},
      {"earlier_blocks", "a kernel at rest", local_at_rest},
      {"tokens_grow", "tokens per rung",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::KernelFunctions>().progressive_run =
             [](const auto& model, auto horizon, auto block, const auto& ladder, const auto& stages,
                auto schedule, const auto& restart) {
               ProgressiveRun run =
                   progressive_run(model, horizon, block, ladder, stages, schedule, restart);
               run.decode_tokens /= Rational(ladder.rungs() * ladder.rungs());
               return run;
             };
       }},
      {"close_powers", "powers that are far apart",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::LadderFunctions>().equilibrium_acceptance =
             [](const std::vector<Rational>& p0, const Rational& lower, const Rational& upper,
                long bits) { return equilibrium_acceptance(p0, lower, Rational(upper + 4), bits); };
       }},
      {"single_chain_ahead", "a distance that swaps alone lower",
       [](FunctionsUnderTest& functions) {
         functions.of<lab::ProgramFunctions>().compare_exactly =
             [](const FiniteModel& model, const lab::ExactComparisonSettings& settings) {
               lab::ExactComparison comparison = lab::compare_exactly(model, settings);
               for (lab::ExactRow& row : comparison.rows)
                 if (row.sampler == "ppt") row.tv = 0;
               return comparison;
             };
       }},
  };
}

}  // namespace tempera::test
