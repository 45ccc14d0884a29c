#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gpu/engine/engine.hpp"
#include "gpu/lottery/winner.hpp"
#include "gpu/session/presets.hpp"
#include "lab/claims/join_case.hpp"
#include "lab/claims/paper_tables.hpp"
#include "lab/claims/truncated_metropolis.hpp"
#include "lab/contest/exact_comparison.hpp"
#include "lab/defects/gallery.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/named_sampler_law.hpp"
#include "lab/laws/program_law.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "reference/analysis/convergence_bound.hpp"
#include "reference/analysis/diagnostics.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/analysis/gamma_family.hpp"
#include "reference/analysis/ladder_design.hpp"
#include "reference/analysis/power_family.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/spectral_gap.hpp"
#include "reference/analysis/structural_bias.hpp"
#include "reference/analysis/swap_rate.hpp"
#include "reference/analysis/tagged_replica.hpp"
#include "reference/analysis/total_variation.hpp"
#include "reference/kernels/block_extension.hpp"
#include "reference/kernels/cached_ratio.hpp"
#include "reference/kernels/continuation_mass.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "reference/kernels/swap.hpp"
#include "reference/kernels/token_proposal.hpp"
#include "reference/kernels/truncating_kernel.hpp"

namespace tempera::lab {

/// q_r(y | x) as a function of (r, x, y).
using SuffixLaw = std::function<reference::Rational(std::size_t, std::size_t, std::size_t)>;

/// g_α(y_t | y_{<t}) of the padded record y as a function of (y, t).
using TokenLaw = std::function<reference::Rational(std::size_t, std::size_t)>;

SuffixLaw suffix_law(const reference::RecordSpace& space, const reference::Power& power);
TokenLaw padded_token_law(const reference::RecordSpace& space, const reference::Power& power);

/// Σ_{t=r}^{T} ζ_t of one record of a finite model at `power`, as production caches it.
double cached_zeta(const reference::FiniteModel& model, std::size_t horizon, double power,
                   const std::vector<reference::Token>& tokens, std::size_t r);

/// The kernel whose restart position is uniform on 1..len(x), with the factor len(x)/len(y) in its
/// acceptance ratio or without (subsec:implementation-local).
reference::Matrix restart_within_record(const reference::FixedHorizonSpace& space,
                                        const reference::Power& power, bool factor);

/// Everything that a small run of the tempering sampler leaves, as bits.
std::vector<std::uint64_t> bits_of_run(std::size_t batch, gpu::WorkOrder order,
                                       std::size_t threads);

/// How many passes a small run of the tempering sampler asks its model for: one block, then three
/// rounds of so many local moves and ordered sweeps.
std::size_t passes_of_run(std::size_t local_moves, std::size_t sweeps);

/// What block extension alone asks of a model.
struct ExtensionCalls {
  std::size_t passes = 0;            ///< of the model
  std::vector<std::size_t> lengths;  ///< of the records that it ends with
  std::size_t terminated = 0;        ///< how many of them
};
/// Three rungs of a small transformer from one prompt to 20 tokens, by blocks of so many, without
/// rounds.
ExtensionCalls calls_of_extension(std::size_t block, std::uint64_t seed);

/// What local moves ask of a model, and what they leave in the caches.
struct RefinementCalls {
  std::size_t passes = 0;            ///< of the model, in all
  std::size_t extension_tokens = 0;  ///< drawn by block extension
  std::size_t move_tokens = 0;       ///< drawn by local moves
  std::size_t self_transitions = 0;  ///< local moves whose restart was past the terminal token
  std::size_t tokens_of_those = 0;   ///< that they drew
  std::size_t accepted = 0, rejected = 0;  ///< proposals that were another record
  bool caches_are_own = false;  ///< every record ends with the ℓ and ζ of its own tokens
};
/// Three rungs of a small transformer from one prompt to 20 tokens in one block, with six rounds of
/// two local moves and a sweep.
RefinementCalls calls_of_refinement(std::uint64_t seed);

/// log p0 of one record of a finite model, as production sums its cached ℓ_t.
double cached_score(const reference::FiniteModel& model, std::size_t horizon,
                    const std::vector<reference::Token>& tokens);

/// What the checks judge: each a function of reference/, gpu/ or lab/, under its own name. A test
/// replaces one by a defect and sees the check fail.
struct FunctionsUnderTest {
  using Chain = reference::ParallelTempering;
  using Fixed = reference::FixedHorizonSpace;
  using Comparison = reference::ComparisonSpace;
  using Kernel = reference::FactoredKernel;
  using Power = reference::Power;
  using Law = reference::Law;
  using Matrix = reference::Matrix;
  using Rational = reference::Rational;
  template <class Signature>
  using Function = std::function<Signature>;

  // Records and proposals.
  Function<reference::TokenRow(const reference::FiniteModel&, std::span<const reference::Token>)>
      token_row = &reference::FiniteModel::token_row;
  Function<Rational(const reference::RecordSpace&, std::size_t)> likelihood =
      &reference::RecordSpace::likelihood;
  Function<Law(const Fixed&)> base_law = [](const Fixed& s) { return reference::base_law(s); };
  Function<Law(const Fixed&, const Power&)> power_target = [](const Fixed& s, const Power& a) {
    return reference::power_target(s, a);
  };
  Function<Rational(const reference::TokenRow&, const Power&)> token_normalizer =
      reference::token_normalizer;
  Function<reference::TokenRow(const reference::TokenRow&, const Power&)> token_proposal =
      reference::token_proposal;
  Function<SuffixLaw(const reference::RecordSpace&, const Power&)> suffix_proposal = suffix_law;
  Function<TokenLaw(const reference::RecordSpace&, const Power&)> padded_token = padded_token_law;
  decltype(std::function(lab::cached_zeta)) cached_zeta = lab::cached_zeta;
  decltype(std::function(reference::power_conditional)) power_conditional =
      reference::power_conditional;
  decltype(std::function(reference::continuation_mass)) continuation_mass =
      reference::continuation_mass;
  decltype(std::function(reference::cached_ratio)) cached_ratio = reference::cached_ratio;
  decltype(std::function(reference::block_extension)) block_extension = reference::block_extension;

  // Kernels.
  decltype(std::function(reference::fixed_horizon_kernel_at)) fixed_horizon_kernel_at =
      reference::fixed_horizon_kernel_at;
  decltype(std::function(reference::fixed_horizon_kernel)) fixed_horizon_kernel =
      reference::fixed_horizon_kernel;
  decltype(std::function(reference::truncating_kernel)) truncating_kernel =
      reference::truncating_kernel;
  decltype(std::function(reference::swap_acceptance)) swap_acceptance = reference::swap_acceptance;
  decltype(std::function(lab::restart_within_record)) restart_within_record =
      lab::restart_within_record;
  Function<Law(const Chain&)> product_target = &Chain::target;
  Function<Kernel(const Chain&)> local_sweep = &Chain::local_sweep;
  Function<Kernel(const Chain&, std::size_t)> swap = &Chain::swap;
  Function<Kernel(const Chain&)> ordered_sweep = &Chain::ordered_sweep;
  Function<Kernel(const Chain&)> odd_layer = &Chain::odd_layer;
  Function<Kernel(const Chain&)> even_layer = &Chain::even_layer;
  Function<Kernel(const Chain&, std::size_t, std::size_t)> transition = &Chain::transition;
  Function<Kernel(const Chain&)> deo_transition = &Chain::deo_transition;
  decltype(std::function(reference::stage_target)) stage_target = reference::stage_target;
  decltype(std::function(reference::stage_horizons)) stage_horizons = reference::stage_horizons;
  decltype(std::function(reference::progressive_law)) progressive_law = reference::progressive_law;
  decltype(std::function(reference::progressive_run)) progressive_run = reference::progressive_run;
  decltype(std::function(reference::truncating_swap_acceptance)) truncating_swap_acceptance =
      reference::truncating_swap_acceptance;
  decltype(std::function(lab::truncated_proposal)) truncated_proposal = lab::truncated_proposal;
  decltype(std::function(lab::truncated_metropolis)) truncated_metropolis =
      lab::truncated_metropolis;
  decltype(std::function(lab::restart_through_tau)) restart_through_tau = lab::restart_through_tau;
  decltype(std::function(reference::second_eigenvalue)) second_eigenvalue =
      reference::second_eigenvalue;
  decltype(std::function(reference::eigenvalues_above)) eigenvalues_above =
      reference::eigenvalues_above;

  // Distances and bounds.
  decltype(std::function(reference::total_variation)) total_variation = reference::total_variation;
  decltype(std::function(reference::total_variation_curve)) total_variation_curve =
      reference::total_variation_curve;
  Function<Rational(const Fixed&, const reference::Ladder&, const reference::RestartLaw&)>
      full_restart_weight =
          [](const Fixed& s, const reference::Ladder& l, const reference::RestartLaw& r) {
            return reference::full_restart_weight(s, l, r);
          };
  decltype(std::function(reference::convergence_bound)) convergence_bound =
      reference::convergence_bound;
  decltype(std::function(reference::rung_bias)) rung_bias = reference::rung_bias;
  decltype(std::function(reference::joint_bias_bound)) joint_bias_bound =
      reference::joint_bias_bound;
  decltype(std::function(reference::output_bias_bound)) output_bias_bound =
      reference::output_bias_bound;
  decltype(std::function(reference::flow_bound)) flow_bound = reference::flow_bound;
  decltype(std::function(reference::four_state_fixed_tv)) four_state_fixed_tv =
      reference::four_state_fixed_tv;
  decltype(std::function(reference::four_state_truncating_tv)) four_state_truncating_tv =
      reference::four_state_truncating_tv;
  decltype(std::function(reference::four_state_censored_mass)) four_state_censored_mass =
      reference::four_state_censored_mass;

  // Ladders and round trips.
  decltype(std::function(reference::adj_round_trip)) adj_round_trip =
      reference::adj_round_trip;
  decltype(std::function(reference::deo_round_trip)) deo_round_trip =
      reference::deo_round_trip;
  decltype(std::function(reference::adj_round_trip_formula)) adj_round_trip_formula =
      reference::adj_round_trip_formula;
  decltype(std::function(reference::deo_round_trip_formula)) deo_round_trip_formula =
      reference::deo_round_trip_formula;
  decltype(std::function(reference::equal_distance_ladder)) equal_distance_ladder =
      reference::equal_distance_ladder;
  decltype(std::function(reference::thermodynamic_gap)) thermodynamic_gap =
      reference::thermodynamic_gap;
  decltype(std::function(reference::maximin_ladder)) maximin_ladder = reference::maximin_ladder;
  decltype(std::function(reference::expected_swap_acceptance)) expected_swap_acceptance =
      reference::expected_swap_acceptance;
  decltype(std::function(reference::mean_energy)) mean_energy = reference::mean_energy;
  decltype(std::function(reference::energy_variance)) energy_variance = reference::energy_variance;
  decltype(std::function(reference::equilibrium_acceptance)) equilibrium_acceptance =
      reference::equilibrium_acceptance;
  decltype(std::function(reference::thermodynamic_distance)) thermodynamic_distance =
      reference::thermodynamic_distance;
  decltype(std::function(reference::gaussian_acceptance)) gaussian_acceptance =
      reference::gaussian_acceptance;
  decltype(std::function(reference::gamma_acceptance)) gamma_acceptance =
      reference::gamma_acceptance;
  decltype(std::function(reference::gamma_variance)) gamma_variance = reference::gamma_variance;
  decltype(std::function(reference::adj_chain)) adj_chain =
      reference::adj_chain;
  decltype(std::function(reference::deo_chain)) deo_chain = reference::deo_chain;
  decltype(std::function(reference::mean_round_trip)) mean_round_trip = reference::mean_round_trip;

  // Diagnostics, and the paper's tables.
  decltype(std::function(reference::effective_sample_size)) effective_sample_size =
      reference::effective_sample_size;
  decltype(std::function(reference::incremental_weight_variance)) incremental_weight_variance =
      reference::incremental_weight_variance;
  decltype(std::function(reference::negative_entropy)) negative_entropy =
      reference::negative_entropy;
  decltype(std::function(reference::majority_answer)) majority_answer = reference::majority_answer;
  decltype(std::function(lab::read_paper_tables)) paper_tables = lab::read_paper_tables;

  // The compiled program, and Coq's matrices.
  decltype(std::function(gpu::winner_of)) winner_of = gpu::winner_of;
  decltype(std::function(gpu::threshold_of)) threshold_of = gpu::threshold_of;
  Function<std::vector<ShippedLaw>(const std::vector<ShippedUse>&)> shipped_laws =
      [](const std::vector<ShippedUse>& uses) { return lab::shipped_laws(uses); };
  Function<LawReport(const EnumerableModel&, const LawQuestion&)> compiled_law =
      [](const EnumerableModel& model, const LawQuestion& question) {
        return lab::compiled_law(model, nullptr, question);
      };
  decltype(std::function(lab::program_named)) sampler_program = lab::program_named;
  decltype(std::function(lab::check_kernels)) check_kernels = lab::check_kernels;
  decltype(std::function(lab::defect_gallery)) defect_gallery = lab::defect_gallery;
  decltype(std::function(lab::bits_of_run)) bits_of_run = lab::bits_of_run;
  decltype(std::function(lab::passes_of_run)) passes_of_run = lab::passes_of_run;
  decltype(std::function(lab::calls_of_extension)) calls_of_extension = lab::calls_of_extension;
  decltype(std::function(lab::calls_of_refinement)) calls_of_refinement = lab::calls_of_refinement;
  decltype(std::function(lab::cached_score)) cached_score = lab::cached_score;
  std::vector<gpu::Preset> presets{gpu::presets().begin(), gpu::presets().end()};
  Function<ExactComparison(const reference::FiniteModel&, const ExactComparisonSettings&)>
      compare_exactly = [](const auto& model, const auto& settings) {
        return lab::compare_exactly(model, settings);
      };
  decltype(std::function(lab::outcomes_of_tempering)) outcomes_of_tempering =
      lab::outcomes_of_tempering;
  decltype(std::function(lab::reference_matrices)) reference_matrices = lab::reference_matrices;
};

}  // namespace tempera::lab
