#pragma once

#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// The formulas on which exact rejection hangs, each in one place, so that lab/ can replace one
/// line and show that its checks notice.
struct RejectionRules {
  /// log of the probability with which a proposal outlives its newest token x_t: ζ_t = log p0(x_t |
  /// x_<t)^α / g_α(x_t | x_<t), which for exact numbers is log z_α(x_<t) <= 0, α >= 1.
  ///
  /// g is that of the tickets which were drawn with, so a token that is drawn and outlived has the
  /// probability g · exp ζ = p0^α whatever the rounding of its tickets, but where ζ > 0: there it
  /// has g instead, and loses p0^α − g. With a = 2^44 exp(α(ℓ − max ℓ)) and w = max(1, round(a))
  /// of W tickets that is less than (a − w)/W <= 2^-45, since W >= 2^44, or the error of a log (ζ
  /// is off by 2^-24 at most, PaperRules::largest_log_z). Acceptance tickets round down by less
  /// than 2^-62. So one token's law is off by less than |V| 2^-44 in all.
  static double log_survival(const Record& x, Rung k) { return x.tokens().log_z(x.length())[k]; }

  /// Another proposal may begin if its T tokens are within the limit, whatever it becomes.
  ///
  /// A limit that cut a proposal would favour short answers. This one looks only at proposals that
  /// have died, so that a proposal which begins and is kept has the law p0^α / Z_α, and so has the
  /// answer of a run that gives one.
  static bool may_begin(const Plan& plan, const Progress& progress, std::size_t horizon) {
    return progress.local_moves < addressable_turns &&
           (plan.most_tokens == 0 || progress.drawn + horizon <= plan.most_tokens);
  }
};

/// How many tokens an answer takes on average, by what the proposals of `progress` have seen:
/// (mean tokens of a proposal) / Π_t (mean z at position t of those that reached it), where no
/// proposal has come beyond a position as if its mean continued. Infinite if nothing was drawn.
double tokens_of_an_answer(const Progress& progress, std::size_t horizon);

/// Counts a proposal that has reached position t with this ζ_t.
void note_survival(Progress& progress, std::size_t t, double log_z);

/// One proposal: tokens of g_α until the record is complete, or the proposal dies. Draws x_t at
/// (turn, t − 1, proposal_token) and whether it is outlived at (turn, t − 1, survival).
template <class Rules>
Task propose(Record& x, Turn turn, Progress& progress) {
  Event event{.restart = 1, .proposed = true, .accepted = true, .horizon = x.horizon()};
  while (x.open() && event.accepted) {
    x.append(co_await turn.next_token(x));
    ++event.tokens;
    const double log_z = Rules::log_survival(x, turn.rung());
    event.log_ratio += log_z;
    note_survival(progress, x.length(), log_z);
    event.accepted = turn.survives(log_z, x.length());
  }
  event.changed = event.accepted;
  progress.drawn += event.tokens;
  turn.note(event);
  if (!event.accepted) x = x.prefix_before(1);
}

/// Exact draws from p0^α / Z_α on the records of horizon T: every token of a proposal from g_α,
/// `eq:proposal`; after it the proposal survives with probability z_α(x_<t) = Σ_v p0(v | x_<t)^α,
/// else it dies and another begins. A record is kept with probability Π_t g_α z_α = p0(x)^α, so
/// that the answer has the law of the target, and a proposal is kept with probability Z_α = Σ_x
/// p0(x)^α. An answer takes 1 / Z_α proposals on average.
///
/// Ends with the record empty if none was kept before may_begin said no: nothing was drawn.
/// Position::local_moves counts the proposals. The stages play no part but for their last horizon,
/// T. Range: a ladder of one power, at least 1.
template <class Rules = RejectionRules>
Task exact_rejection(Chain& chain, const Plan& plan, Progress& progress, Observer* observer) {
  const std::size_t horizon = plan.stages.back().horizon;
  if (progress.replicas.empty()) {
    co_await initialize_records(chain, 1, progress.replicas);
    progress.replicas.front().raise_horizon(horizon);
    progress.stage = plan.stages.size() - 1;
    progress.extended = true;
  }
  Record& x = progress.replicas.front();
  while (x.length() == 0 && Rules::may_begin(plan, progress, horizon)) {
    co_await propose<Rules>(x, Turn(chain, 0, progress.local_moves, Purpose::proposal_token),
                            progress);
    ++progress.local_moves;
    report(chain, progress, observer);
  }
}

/// The rules are compiled once, in exact_rejection.cpp: what lab/ enumerates is what runs.
extern template Task exact_rejection<RejectionRules>(Chain& chain, const Plan& plan,
                                                     Progress& progress, Observer* observer);

}  // namespace tempera::gpu
