#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "gpu/session/sample_request.hpp"
#include "gpu/session/session_options.hpp"

namespace tempera::gpu {

/// Settings of pairs of runs that share their draws, one of them `lag` rounds ahead.
struct CouplingSettings {
  /// Prompt, ladder, plan, seed: those of the run that is judged, whose last stage has N rounds.
  /// Pair i takes the words of the samples first_sample + 2i and first_sample + 2i + 1.
  /// @pre its sampler is parallel_power_tempering, and its last stage makes a local move or sweep
  SampleRequest request = {};
  std::size_t lag = 1;          ///< L, in rounds of the last stage
  std::size_t pairs = 1;        ///< how many, independent of each other
  std::size_t most_rounds = 1;  ///< a pair that has not met after this round of the run ahead ends
  /// Tokens of all pairs after which no other pass is made; 0: no limit. Pairs that have not ended
  /// then have not met.
  std::uint64_t most_tokens = 0;
  /// True if the record at the output rung, by its tokens, is the answer whose probability is asked
  /// for. Called only when that record has changed.
  std::function<bool(std::span<const TokenId> tokens)> is_answer = {};
  SessionOptions session = {};
  std::function<void()> before_pass = {};                             ///< before each forward pass
  std::function<void(std::size_t ended, std::size_t met)> told = {};  ///< after each pair
};

/// The values that are followed of the record at the output rung.
struct CoupledValue {
  double log_p0 = 0.0;
  double length = 0.0;
  double answer = 0.0;  ///< 1 if CouplingSettings::is_answer holds, else 0
};

/// One pair: X, and Y from a start of its own, `lag` rounds later.
struct CoupledPair {
  /// τ, the first round r >= L of X for which X_r = Y_{r-L} at all rungs; none if it is beyond
  /// most_rounds.
  std::optional<std::size_t> meeting;
  std::vector<CoupledValue> ahead;   ///< of X after round r, from r = 0
  std::vector<CoupledValue> behind;  ///< of Y_t, from t = 0 to the meeting
};

/// Runs the pairs. X is a run of the program: block extension, then the rounds of the last stage. Y
/// has the same law, begins as another sample does, and its round t takes the words of X's round
/// t + L. So Y_t has the law of X_t, both chains are the program's, and once they are equal they
/// stay equal.
///
/// A run is drawn in parts of `lag` rounds, so at most that many are wasted.
/// @param drawn_tokens receives the number of drawn tokens, if given
/// @throw BadInput for a lag of 0, fewer rounds than the lag, no pairs, more samples or local moves
/// than addresses, a sampler other than parallel_power_tempering, or a model whose bits depend on
/// more than the tokens
std::vector<CoupledPair> run_coupled(LanguageModel& model, const CouplingSettings& settings,
                                     std::uint64_t* drawn_tokens = nullptr);

/// A mean over independent pairs and its standard error √(s² / n).
struct Estimate {
  double mean = 0.0;
  double error = 0.0;
};

/// Standard errors on either side of a mean in an interval of a normal law at 95 %.
inline constexpr double errors_of_95 = 1.959964;

/// The same at another confidence in (0, 1): x with erf(x/√2) = confidence.
double errors_of(double confidence);

/// The bound of Biswas, Jacob and Vanetti (2019) on TV(law of the state after t rounds, π), π being
/// the target at all rungs: the mean over the pairs of max(0, ⌈(τ − L − t) / L⌉), whose expectation
/// is Σ_{j>=1} P(τ > t + jL). It bounds the total variation of the answer too.
///
/// Nothing if a pair has not met: the bound is then unknown.
std::optional<Estimate> tv_bound(const std::vector<CoupledPair>& pairs, std::size_t lag,
                                 std::size_t round);

/// The largest share of pairs that `pairs` independent ones miss with a probability of
/// 1 − confidence: 1 − (1 − C)^(1/n).
double missed_share(std::size_t pairs, double confidence);

/// An upper limit of that bound at a confidence C: mean + errors_of(C) · error + missed_share, each
/// of those pairs counted as one lag. The interval is asymptotic in n: a share of slow
/// pairs too small to be seen that takes many lags is not in it.
std::optional<double> upper_tv_bound(const std::vector<CoupledPair>& pairs, std::size_t lag,
                                     std::size_t round, double confidence = 0.95);

/// The first round t from which on that limit is at most `tv`; nothing if a pair has not met, or if
/// so few pairs never show it.
///
/// t is chosen by the data, and the limit holds there as at a fixed round: the bound falls with t,
/// so it is above `tv` at t only if the limit failed at the last round whose bound is above `tv`.
std::optional<std::size_t> rounds_for(const std::vector<CoupledPair>& pairs, std::size_t lag,
                                      double tv, double confidence = 0.95);

/// The fewest pairs whose limit can come down to tv/2 by the missed share alone, so that pairs
/// which have all met show `tv`: n with 1 − (1 − C)^(1/n) <= tv/2. Range: tv, C in (0, 1).
std::size_t pairs_for(double tv, double confidence);

/// The last meeting of all pairs; nothing if a pair has not met.
std::optional<std::size_t> last_meeting(const std::vector<CoupledPair>& pairs);

/// The unbiased estimate of E_π[f] of Jacob, O'Leary and Atchadé (2020), at the output rung: the
/// mean over k = N, …, N + L − 1 of f(X_k) + Σ_{j>=1, k + jL < τ} (f(X_{k+jL}) − f(Y_{k+(j−1)L})).
/// Nothing if a pair has not met.
std::optional<Estimate> unbiased_mean(const std::vector<CoupledPair>& pairs, std::size_t lag,
                                      std::size_t rounds,
                                      const std::function<double(const CoupledValue&)>& f);

}  // namespace tempera::gpu
