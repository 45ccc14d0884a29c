#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/llm/models/opened_model.hpp"
#include "runs/coupling/coupled_runs.hpp"
#include "settings/choices.hpp"
#include "settings/fields.hpp"

namespace tempera::gpu {

/// Pairs of a certificate if neither they nor a goal are given.
inline constexpr std::size_t default_pairs = 30;
/// Confidence of a goal if none is given.
inline constexpr double default_goal_confidence = 0.95;

/// Tells by its text whether an answer is the one whose probability is asked for.
using AnswerTest = std::function<bool(const std::string& text)>;

/// True for a text that ends with `ending`, white space at the end of either aside.
/// @throw BadInput for an ending of white space alone
AnswerTest ends_with(std::string_view ending, Spelling spelling);

/// A user's wishes for a certificate; all that is left out has a default.
struct CertificateWish {
  std::optional<std::size_t> pairs = {};        ///< default_pairs; with a goal as many as it asks
  std::optional<std::size_t> lag = {};          ///< the rounds of the last stage
  std::optional<std::size_t> most_rounds = {};  ///< a hundred times lag and rounds together
  std::optional<double> until_tv = {};          ///< the goal, in (0, 1)
  std::optional<double> confidence = {};        ///< of the goal, in (0, 1)
  std::optional<std::size_t> token_limit = {};  ///< of all pairs together
  /// It sees the text of an answer that has ended; one that the horizon cuts is none. May be empty.
  AnswerTest is_answer = {};
};

/// The total variation that is to be reached.
struct TvGoal {
  double tv = 0.0;
  double confidence = default_goal_confidence;
};

/// The pairs after round t of Y.
struct MeetingRound {
  std::size_t round = 0;               ///< t
  std::size_t apart = 0;               ///< pairs with τ − L > t
  std::optional<Estimate> bound = {};  ///< of the total variation; none if a pair has not met
  std::optional<double> limit = {};    ///< of it, at 95 %
};

/// How far the answers of a run are from its target, by pairs of runs.
struct Certificate {
  std::vector<CoupledPair> pairs;
  std::size_t lag = 0;
  std::size_t rounds = 0;  ///< N of the run that is judged
  std::size_t most_rounds = 0;
  std::uint64_t tokens = 0;  ///< that all pairs drew
  bool is_cut = false;       ///< whether the limit on tokens has ended them
  std::optional<TvGoal> goal = {};
  bool asks_answer = false;  ///< true if CoupledValue::answer was asked for

  /// The rounds at which the goal is reached; nothing if that is not known yet. @pre a goal
  std::optional<std::size_t> reached() const;
  std::size_t met() const;
  std::optional<Estimate> mean(double CoupledValue::*part) const;
  /// The probability of the answer that was asked for; nothing if none was.
  std::optional<Estimate> answer() const;
  /// Half of the interval of 95 % of a probability. It is never 0: pairs that all agree miss a
  /// share as large as missed_share says.
  double margin(const Estimate& share) const;
  /// The rounds at which the bound is reported: 0, N, and powers of two until it is 0.
  std::vector<std::size_t> reported_rounds() const;
  /// False if the limit on tokens has ended pairs that had not met: then it is unknown how long
  /// they were apart.
  bool knows_meetings() const { return !is_cut || met() == pairs.size(); }
  /// 0, N, and every round at which a pair meets or the bound changes, in order: as far as the
  /// pairs were followed. @pre knows_meetings()
  std::vector<MeetingRound> meeting_rounds() const;
  nlohmann::ordered_json to_json() const;
};

/// meeting_rounds() as a table: round,apart,pairs,tv_at_most,standard_error,limit. An unknown bound
/// is empty.
std::string meetings_csv(const Certificate& found);

/// Runs the pairs of a request.
/// pair_ended: after each pair, with how many have ended, have met and are to be run
/// @throw BadInput for fewer pairs than the goal needs, a confidence without a goal or a stop
/// string; and as run_coupled
Certificate certify_run(const OpenedModel& model, const SampleRequest& request,
                        const CertificateWish& wish, const SessionOptions& session,
                        Spelling spelling,
                        const std::function<void(std::size_t ended, std::size_t met,
                                                 std::size_t pairs)>& pair_ended = {},
                        const std::function<void()>& before_pass = {});

}  // namespace tempera::gpu
