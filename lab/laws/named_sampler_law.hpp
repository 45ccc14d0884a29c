#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/laws/sampler_law.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/kernels/progressive.hpp"

namespace tempera::lab {

/// A run of a sampler that `tempera sample --sampler` knows, small enough to be walked.
struct NamedRun {
  std::string sampler;
  std::size_t horizon = 0;                  ///< T
  std::size_t block = 0;                    ///< B; of power-smc, the tokens between two looks
  std::vector<Rational> powers;             ///< of the rungs; of a sampler of one power, that one
  std::size_t particles = 0;                ///< N, of power-smc and best-of-n
  reference::StageSchedule stage{1, 1, 1};  ///< of every stage
  gpu::Schedule schedule = gpu::Schedule::adj;
  gpu::Rung output = 0;  ///< k*, from 0
  /// What becomes of irrational powers in the definition's law.
  reference::Irrational irrational = reference::Irrational::rounded;
  std::vector<std::uint64_t> restart_weights = {};  ///< as gpu::Plan's
  gpu::RestartRange restart_range = gpu::RestartRange::horizon;
  MoveOptions options = {};
  /// The limit on the tokens of the proposals of exact-rejection, whose law is walked whole; 0: one
  /// proposal is walked. Those of a run without a limit are independent and have that law each, so
  /// that its answer has the law of one that is kept, and takes 1 / (share kept) times the tokens.
  std::size_t most_tokens = 0;
  TokenOptions tokens = {};  ///< of a tokenwise sampler
};

/// The program that runs under a name: gpu::sampler_named.
Program program_named(const std::string& sampler);

/// The law over records that the sampler of that name is defined to have, in rationals, from
/// reference/: records of S_T, of power-sampling also such as end open before the horizon.
/// @throw BadInput for a horizon, block or powers that make no run
std::map<std::vector<reference::Token>, Rational> defined_answer(
    const NamedRun& run, const reference::FiniteModel& model);

/// The exact law of the program's answer beside the law that the sampler of that name is defined to
/// have, in rationals, from reference/.
/// @throw BadInput for a name, horizon, block, powers or restart weights that make no run
SamplerReport named_sampler_law(const NamedRun& run, const reference::FiniteModel& model,
                                Program program);
/// The same of the sampler that runs under its name, the chains of an uncoupled ladder each walked
/// by itself. The law is the same.
SamplerReport named_sampler_law(const NamedRun& run, const reference::FiniteModel& model);

/// The bound on tv_own and tokens_own: sampler_bound without local moves, else program_bound.
const Real& bound_of(const NamedRun& run);

/// How far penalties may move tv_own, and the expected tokens, which are at most T: 0 without them,
/// else T² α (2 L' + |r - 1| L) 2^-24. Here L is the largest -log p0 of the model, and
/// L' = r L + T |f| + |a| bounds a logit that is penalized. The program rounds that to float32, by
/// L' 2^-24. The rows of the own model are normalised, which moves all its logits by one c,
/// |c| <= L 2^-24, and those that are penalized by r c. To first order a token's law moves by no
/// more than α times what its logits do beside each other, and T tokens add up.
Real penalty_rounding(const NamedRun& run, const reference::FiniteModel& model);

/// A sampler walked on a shipped model.
struct ShippedSampler {
  std::string model;
  NamedRun run;
  SamplerReport report;
  double seconds = 0.0;
  Real penalty_rounding = 0;  ///< of its penalties

  /// Whether the distances, decode tokens and the probability of an answer are within their bounds,
  /// with no stale record. Under rules of a token the distance to the rational model has no bound:
  /// where a bound of a rule is a probability of the model, its rounding to float32 decides.
  bool holds() const;
};

/// What shipped_samplers walks of one sampler, model by model; powers 1 and α of the use.
std::vector<NamedRun> shipped_runs(const ShippedUse& use, const std::string& sampler);

/// Walks these samplers, in two stages of T = 3 if that leaves at most 6 records, else 2, N = 3,
/// on each of the uses' models that has from 2 to 6; ladders with k* the first rung and the last,
/// ppt under both schedules. `program` makes the program of a
/// name. `done` is told each.
std::vector<ShippedSampler> shipped_samplers(
    const std::vector<ShippedUse>& uses, const std::vector<std::string>& samplers,
    const std::function<Program(const std::string&)>& program = program_named,
    const std::function<void(const ShippedSampler&)>& done = {});

}  // namespace tempera::lab
