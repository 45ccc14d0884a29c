#pragma once

#include <functional>
#include <optional>

#include "lab/enumerate/program_walk.hpp"
#include "lab/enumerate/real.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/matrix.hpp"

namespace tempera::lab {

/// A run of one of the samplers that the paper compares.
struct SamplerQuestion {
  Program program;
  std::vector<Rational> powers;  ///< of the rungs, or the one of all particles
  gpu::Plan plan;
  MoveOptions options = {};  ///< which change no law, but what it takes to draw
  /// A run that ends without an answer begins anew, as often as that happens.
  bool repeats = false;
  TokenOptions tokens = {};  ///< of a tokenwise sampler
};

/// How the answer is chosen of rungs whose chains are independent, so that each is walked by
/// itself.
enum class ApartReadout {
  output_rung,  ///< the record at rung k*
  likeliest     ///< the likeliest record
};

/// What the definition of a sampler says, from reference/: the law of its answer on S_T, and the
/// decode tokens that it is expected to take.
struct DefinedSampler {
  reference::Law answer;
  Rational decode_tokens;
  Rational kept = 1;  ///< the probability that a run gives an answer
};
using Definition = std::function<DefinedSampler(const reference::FixedHorizonSpace&)>;
/// The same of a sampler whose answers may end before the horizon without a terminal token.
using TruncatingDefinition = std::function<DefinedSampler(const reference::ComparisonSpace&)>;

/// The bound on tv_own, and on tokens_own, of a sampler without local moves, with N <= 4 replicas,
/// records of T <= 4 tokens, |V| <= 4 and at most 3 looks at the weights: 1e-10. To first order,
/// and if no ESS is within 1e-9 of N/2 and no likelihood within 1e-9 of the edge of a tie
/// (there a decision could turn, and tv_own would be no such number):
///   a token's tickets are off by less than 1 each and add up to more than 2^44, so that its law is
///   off by |V| 2^-44 in TV: N T tokens by 3.7e-12;
///   a factor p0^α / g of a weight is off as its g is, so in expectation over the token by the
///   relative |V| 2^-44, and a ticket of the weight by 2^-44 of the largest: the worst of N weights
///   of T factors by e < N (T |V| + 1) 2^-44 < 3.9e-12 in expectation;
///   a cut of systematic resampling is where N S_j / W meets a whole number, W = S_N, and S_j / W
///   moves by at most e / 2: N − 1 cuts move by N (N − 1) e / 2 < 2.4e-11, three times by 7.1e-11;
///   the final draw is off by e;
///   a token that exact rejection draws and outlives is off by |V| 2^-44 (RejectionRules), T of
///   them by 1e-12, which the share kept divides: at least 1/16 in the cases that are
///   walked, 1.5e-11.
/// Together below 7.9e-11; an expected number of tokens, at most N T = 16 of them, by less than
/// N T times the 3.7e-12 of the tokens before them, 6e-11. Samplers with local moves have
/// program_bound.
extern const Real sampler_bound;

/// The exact law of the answer of a whole compiled sampler, compared with its definition.
struct SamplerReport {
  std::size_t outcomes = 0;  ///< answers that it can give
  std::size_t states = 0;    ///< in which it draws
  /// TV of the answer from the definition on the model that the float32 logits define: the
  /// program's own error.
  Real tv_own = 0;
  /// Like tv_own on the rational model: rounding to float32 logits included.
  Real tv_to_definition;
  /// |expected decode tokens − the definition's|, on the float32 logits' own model.
  /// 0 if moves reject early or begin ahead, which the definition does not.
  Real tokens_own = 0;
  /// The probability that a run gives an answer, of a sampler whose runs may end without one.
  std::optional<Rational> kept = std::nullopt;
  Rational defined_kept = 1;         ///< the definition's, on the rational model
  Rational decode_tokens;            ///< of a question that repeats, until there is an answer
  Rational defined_tokens;           ///< the definition's decode tokens, on the rational model
  std::size_t stale_records = 0;     ///< must be 0
  std::vector<std::string> records;  ///< of the space of answers, in its order
  reference::Law answer;             ///< as compiled, on these
  reference::Law defined;            ///< by the definition on the rational model, on these
};

/// The double that is nearest to a power, which the program takes in its place.
double nearest_double(const Rational& power);

/// Walks the sampler on the model, state by state.
/// @throw as walk_program and own_model
SamplerReport sampler_law(const SamplerQuestion& question, const reference::FiniteModel& model,
                          const Definition& definition);
/// The same of chains that are independent, one for each power: each is walked alone, and the
/// answer is read out of the product of their laws. Many states fewer than the product has.
SamplerReport sampler_law_apart(const SamplerQuestion& question, ApartReadout readout,
                                const reference::FiniteModel& model, const Definition& definition);
SamplerReport sampler_law(const SamplerQuestion& question, const reference::FiniteModel& model,
                          const TruncatingDefinition& definition);

}  // namespace tempera::lab
