#pragma once

#include <deque>
#include <optional>
#include <utility>

#include "gpu/sampler/local_move.hpp"

namespace tempera::gpu {

/// A step of a sampler that may begin before its turn. It waits at Turn::reached, and before it no
/// longer than for rows that a batch has left; awaited, its turn has come, and it goes on to its
/// end. Ended before, it leaves nothing behind.
class StepAhead {
 public:
  StepAhead() = default;
  StepAhead(const StepAhead&) = delete;
  StepAhead& operator=(const StepAhead&) = delete;

  /// What the turn of the step is told.
  Reach* reach() { return &reach_; }
  void begin(Task step) {
    step_ = std::move(step);
    step_->start();
  }

  struct Awaiter {
    StepAhead& ahead;
    bool await_ready() {
      ahead.reach_.is_reached = true;
      if (ahead.reach_.waiting) std::exchange(ahead.reach_.waiting, {}).resume();
      return ahead.step_->done();
    }
    void await_suspend(std::coroutine_handle<> sampler) { ahead.step_->hand_on_to(sampler); }
    void await_resume() const { ahead.step_->rethrow(); }
  };
  Awaiter operator co_await() { return Awaiter{*this}; }

 private:
  Reach reach_;
  std::optional<Task> step_;
};

/// Step 2 of Algorithm 1 for one rung: its n_local moves of one round, the kernel L_k^{n_local}.
///
/// Prefetching: up to run.prefetch moves begin ahead of the one whose turn it is, each at its own
/// addresses, as if all before it rejected. Where that is so their proposals are the very ones that
/// their turns would have drawn; an acceptance ends them, and the moves that come begin again from
/// the new record. So the law is the program's without it (sampler_prefetch.prefetched_law).
template <class Rules = PaperRules>
Task refine(Record& x, Run& run, Rung k, std::size_t first, std::size_t moves,
            const RestartLaw& law) {
  // At power 1 tickets accept but for their rounding: there is no reject path.
  const std::size_t ahead = run.ladder.power(k) == 1.0 ? 0 : run.prefetch;
  std::deque<StepAhead> begun;  // the move whose turn it is, and those ahead of it
  for (std::size_t a = 0; a < moves; ++a) {
    while (begun.size() <= ahead && a + begun.size() < moves) {
      const std::size_t number = first + a + begun.size();
      StepAhead& move = begun.emplace_back();
      move.begin(
          local_move<Rules>(x, Turn(run, k, number, Purpose::proposal_token, move.reach()), law));
    }
    co_await begun.front();
    begun.pop_front();
    if (Rules::outdates_those_ahead(run.events.back())) begun.clear();
  }
}

/// Both are compiled once, in refine.cpp: what lab/ enumerates is what runs.
extern template Task refine<PaperRules>(Record& x, Run& run, Rung k, std::size_t first,
                                        std::size_t moves, const RestartLaw& law);
extern template Task refine<RecordRestartRules>(Record& x, Run& run, Rung k, std::size_t first,
                                                std::size_t moves, const RestartLaw& law);

}  // namespace tempera::gpu
