#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/core/sampler/local_move.hpp"
#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// A local move that is started before its turn. It may draw tokens in rows that a batch has left,
/// but waits before its acceptance (Turn::granted) until its turn has come, which is when this
/// object is awaited. If it is destroyed earlier, it has no effect, and what it has thrown is
/// dropped.
class SpeculativeMove {
 public:
  SpeculativeMove() = default;
  SpeculativeMove(const SpeculativeMove&) = delete;
  SpeculativeMove& operator=(const SpeculativeMove&) = delete;

  /// The gate of the move's turn.
  TurnGate* gate() { return &gate_; }
  void begin(Task move) {
    move_ = std::move(move);
    move_->start();
  }

  struct Awaiter {
    SpeculativeMove& ahead;
    bool await_ready() {
      ahead.gate_.is_open = true;
      if (ahead.gate_.waiting) std::exchange(ahead.gate_.waiting, {}).resume();
      return ahead.move_->done();
    }
    void await_suspend(std::coroutine_handle<> sampler) { ahead.move_->hand_on_to(sampler); }
    void await_resume() const { ahead.move_->rethrow(); }
  };
  Awaiter operator co_await() { return Awaiter{*this}; }

 private:
  TurnGate gate_;
  std::optional<Task> move_;
};

/// The local moves of one rung that have begun and not ended, in the order of their turns: one
/// after the other from the move whose turn comes next.
using MovesAhead = std::deque<SpeculativeMove>;

/// Step 2 of Algorithm 1 for one rung: its n_local moves of one round, the kernel L_k^{n_local}.
///
/// Prefetching: up to run.options.prefetch moves begin ahead of the one whose turn it is, those of
/// the stage's later rounds among them, each at its own addresses, as if all before it rejected and
/// no swap between them took the record away. One begins only while the next batch has a row for
/// it. If that is so their proposals are the very ones
/// that their turns would have drawn; a move that leaves another record ends them, and the moves
/// that come begin again from that. So the law is the program's without it
/// (sampler_prefetch.prefetched_law, moves_ahead.stage_ahead_law).
///
/// begun: what earlier rounds of the stage have begun, all of it on x as it is now, and what this
/// one leaves to those that come. x, run and law must stay where they are while it holds any.
template <class Rules = PaperRules>
Task refine(Record& x, Chain& chain, Rung k, MoveNumbers numbers, const RestartLaw& law,
            MovesAhead& begun) {
  // At power 1 tickets accept but for their rounding: there is no reject path.
  Engine& engine = chain.engine;
  const std::size_t ahead =
      chain.ladder.power(k) == 1.0 ? 0 : std::min(chain.options.prefetch, engine.largest_batch());
  std::size_t next = numbers.first;
  const auto begin_until = [&](std::size_t count, std::size_t needed) {
    while (begun.size() < count && next + begun.size() < numbers.stage_end &&
           (begun.size() < needed || engine.free_rows() > 0)) {
      const std::size_t number = next + begun.size();
      SpeculativeMove& move = begun.emplace_back();
      move.begin(
          local_move<Rules>(x, Turn(chain, k, number, Purpose::proposal_token, move.gate()), law));
    }
  };
  while (next < numbers.round_end) {
    begin_until(1 + ahead, 1);
    co_await begun.front();
    begun.pop_front();
    ++next;
    if (Rules::outdates_those_ahead(chain.events.back())) begun.clear();
    co_await engine.pause(1);
  }
  begin_until(ahead, 0);  // while other rungs have moves of the round before them
}

/// Ends the moves ahead of rungs whose records the sweeps of a round have taken away.
/// events: of the round.
template <class Rules = PaperRules>
void end_outdated(std::vector<MovesAhead>& begun, const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (event.kind != Event::Kind::swap || !Rules::outdates_those_ahead(event)) continue;
    begun[event.rung].clear();
    begun[event.rung + 1].clear();
  }
}

/// Both are compiled once, in instances.cpp: what lab/ enumerates is what runs.
extern template Task refine<PaperRules>(Record& x, Chain& chain, Rung k, MoveNumbers numbers,
                                        const RestartLaw& law, MovesAhead& begun);
extern template Task refine<RecordRestartRules>(Record& x, Chain& chain, Rung k,
                                                MoveNumbers numbers, const RestartLaw& law,
                                                MovesAhead& begun);

}  // namespace tempera::gpu
