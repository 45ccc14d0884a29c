#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "gpu/core/engine/engine.hpp"
#include "gpu/core/lottery/winner.hpp"
#include "lab/claims/join_case.hpp"
#include "lab/contest/exact_comparison.hpp"
#include "lab/defects/gallery.hpp"
#include "lab/laws/law.hpp"
#include "lab/laws/named_sampler_law.hpp"
#include "lab/laws/program_law.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "lab/ptx/row_lottery.hpp"
#include "settings/presets.hpp"

namespace tempera::lab {

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

/// The compiled program, its laws and its defects, and Coq's matrices, as the checks ask for them:
/// see FunctionsUnderTest.
struct ProgramFunctions {
  template <class Signature>
  using Function = std::function<Signature>;

  decltype(std::function(gpu::winner_of)) winner_of = gpu::winner_of;
  decltype(std::function(gpu::threshold_of)) threshold_of = gpu::threshold_of;
  Function<std::vector<ShippedLaw>(const std::vector<ShippedUse>&)> shipped_laws =
      [](const std::vector<ShippedUse>& uses) { return lab::shipped_laws(uses); };
  Function<LawReport(const EnumerableModel&, const LawQuestion&)> compiled_law =
      [](const EnumerableModel& model, const LawQuestion& question) {
        return lab::compiled_law(model, nullptr, question);
      };
  decltype(std::function(lab::program_named)) sampler_program = lab::program_named;
  MakeRows ptx_rows = ptx::make_row_lottery;
  decltype(std::function(lab::check_kernels)) check_kernels = lab::check_kernels;
  decltype(std::function(lab::defect_gallery)) defect_gallery = lab::defect_gallery;
  decltype(std::function(lab::bits_of_run)) bits_of_run = lab::bits_of_run;
  decltype(std::function(lab::passes_of_run)) passes_of_run = lab::passes_of_run;
  decltype(std::function(lab::calls_of_extension)) calls_of_extension = lab::calls_of_extension;
  decltype(std::function(lab::calls_of_refinement)) calls_of_refinement = lab::calls_of_refinement;
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
