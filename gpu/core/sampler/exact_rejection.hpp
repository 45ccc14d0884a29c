#pragma once

#include <algorithm>
#include <utility>

#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// The formulas on which exact rejection hangs, each in one place, so that lab/ can replace one
/// line and show that its checks notice.
struct RejectionRules {
  /// log of the probability with which a proposal outlives its newest token x_t: ζ_t = log p0(x_t |
  /// x_<t)^α / g_α(x_t | x_<t), which for exact numbers is log z_α(x_<t) <= 0, α >= 1.
  ///
  /// g is that of the tickets which were drawn with, so a token that is drawn and outlived has the
  /// probability g · exp ζ = p0^α whatever the rounding of its tickets, but where that is cut off:
  /// at ζ > 0, and of the first token at ζ > log z_α of the empty record. With a = 2^44 exp(α(ℓ −
  /// max ℓ)) and w = max(1, round(a)) of W tickets a cut loses less than (a − w)/W <= 2^-45, since
  /// W >= 2^44, or the error of a log (ζ is off by 2^-24 at most, PaperRules::largest_log_z).
  /// Acceptance tickets round down by less than 2^-62. So one token's law is off by less than
  /// |V| 2^-44 in all.
  static double log_survival(const Record& x, Rung k) { return x.tokens().log_z(x.length())[k]; }

  /// The part of the limit that a proposal takes: its tokens, and one if it died before it drew
  /// any.
  static std::size_t cost(const Event& proposal) {
    return std::max<std::size_t>(proposal.tokens, 1);
  }

  /// Another proposal may begin if its T tokens are within the limit, whatever it becomes.
  ///
  /// A limit that cut a proposal would favour short answers. This one looks only at proposals that
  /// have died, so that a proposal which begins and is kept has the law p0^α / Z_α, and so has the
  /// answer of a run that gives one.
  static bool may_begin(const Plan& plan, const Progress& progress, std::size_t horizon) {
    return progress.local_moves < addressable_turns &&
           (plan.most_tokens == 0 || progress.drawn + horizon <= plan.most_tokens);
  }

  /// The most dead proposals of one event: after them a run can be cut.
  static constexpr std::size_t reported_together = 1024;
};

/// The part of Plan::most_tokens that an answer takes on average, by what the proposals of
/// `progress` have seen: (the part of one) / Π_t (mean z at position t of those that reached it),
/// where no proposal has come beyond a position as if its mean continued. Infinite if none began.
double tokens_of_an_answer(const Progress& progress, std::size_t horizon);

/// The limit at which that many tokens' proposals give an answer with probability `chance`, their
/// number being geometric, and the last of them has its T tokens.
double tokens_for_an_answer(const Progress& progress, std::size_t horizon, double chance);

/// Counts a proposal that has reached position t with this ζ_t.
void note_survival(Progress& progress, std::size_t t, double log_z);

/// Adds the dead proposal of this number to the event of those before it.
void tell_with(Event& dead, Event proposal, std::size_t number);

/// One proposal: tokens of g_α until the record is complete, or the proposal dies. Draws x_t at
/// (turn, t − 1, proposal_token) and whether it is outlived at (turn, t − 1, survival).
///
/// log_z: log z_α of the empty record, which is the same for all proposals. So the word of the
/// first survival is looked at before the first token is drawn; its second look, at ζ_1, is against
/// the rounding of that token's tickets alone.
template <class Rules>
Task propose(Record& x, Turn turn, double log_z, Progress& progress, Event& event) {
  note_survival(progress, 1, log_z);
  event.log_ratio = log_z;
  event.accepted = turn.survives(log_z, 1);
  const std::uint64_t known = accept_tickets(log_z)[0];
  while (x.open() && event.accepted) {
    x.append(co_await turn.next_token(x));
    ++event.tokens;
    const double outlived = Rules::log_survival(x, turn.rung());
    if (x.length() == 1) {
      event.log_ratio = outlived;
      event.accepted = turn.accept_again(std::min(outlived, log_z), known, Purpose::survival);
    } else {
      event.log_ratio += outlived;
      note_survival(progress, x.length(), outlived);
      event.accepted = turn.survives(outlived, x.length());
    }
  }
  event.changed = event.accepted;
  event.drawn = turn.kept_for_audit(x, 1);
  if (!event.accepted && x.length() > 0) x = x.prefix_before(1);
}

/// Exact draws from p0^α / Z_α on the records of horizon T: every token of a proposal from g_α,
/// `eq:proposal`; it is outlived with probability z_α(x_<t) = Σ_v p0(v | x_<t)^α, else the proposal
/// dies and another begins. A record is kept with probability Π_t g_α z_α = p0(x)^α, so that the
/// answer has the law of the target, and a proposal is kept with probability Z_α = Σ_x p0(x)^α. An
/// answer takes 1 / Z_α proposals on average.
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
  if (x.length() > 0) co_return;  // a run that is resumed has its answer
  const std::vector<double> first_row =
      co_await Turn(chain, 0, 0, Purpose::survival).log_normalizers(x);
  const double log_z = std::min(0.0, first_row.front());
  Event dead{.proposals = 0};
  while (x.length() == 0 && Rules::may_begin(plan, progress, horizon)) {
    Event event{.restart = 1, .proposed = true, .horizon = horizon};
    Turn turn(chain, 0, progress.local_moves, Purpose::proposal_token);
    co_await propose<Rules>(x, turn, log_z, progress, event);
    progress.drawn += Rules::cost(event);
    const bool is_kept = event.accepted;
    if (!is_kept) tell_with(dead, event, progress.local_moves);
    ++progress.local_moves;
    const bool is_last = is_kept || !Rules::may_begin(plan, progress, horizon);
    if (dead.proposals == Rules::reported_together || (dead.proposals > 0 && is_last)) {
      Turn(chain, 0, dead.turn, Purpose::proposal_token)
          .note(std::exchange(dead, {.proposals = 0}));
      if (!is_kept) report(chain, progress, observer);
    }
    if (is_kept) {
      turn.note(event);
      report(chain, progress, observer);
    }
    co_await chain.engine.pause(1);
  }
}

/// The rules are compiled once, in exact_rejection.cpp: what lab/ enumerates is what runs.
extern template Task exact_rejection<RejectionRules>(Chain& chain, const Plan& plan,
                                                     Progress& progress, Observer* observer);

}  // namespace tempera::gpu
