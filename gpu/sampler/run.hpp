#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/engine/engine.hpp"
#include "gpu/lottery/accept_tickets.hpp"
#include "gpu/sampler/ladder.hpp"
#include "gpu/sampler/record.hpp"
#include "gpu/sampler/restart_law.hpp"

namespace tempera::gpu {

/// What became of one block extension, one local move or one attempted swap.
struct Event {
  enum class Kind { extension, local_move, swap } kind = Kind::local_move;
  std::uint32_t round = 0;  ///< counted from the start of the run, per kind; extensions: stages
  Rung rung = 0;            ///< of the move; the edge's lower rung for a swap
  std::size_t restart = 0;  ///< restart position r of a local move; else 0
  std::size_t tokens = 0;   ///< tokens that were drawn
  bool proposed = false;    ///< false where r > τ(x): the proposal is x itself
  bool accepted = false;
  double log_ratio = 0.0;
};

/// One prompt's run: what its sampler needs besides its records.
struct Run {
  Engine& engine;
  const Context& context;
  const Ladder& ladder;
  std::uint32_t prompt = 0;   ///< number of the prompt, part of every draw's address
  std::vector<Event> events;  ///< since the round began; sorted when it is finished

  /// K empty records whose caches share the prompt, computed once.
  std::vector<Record> empty_replicas() const;
};

/// One rung's turn in one round: its draws, each at its own address.
class Turn {
 public:
  Turn(Run& run, Rung rung, std::uint32_t round, Purpose token)
      : run_(&run), rung_(rung), round_(round), token_(token) {}

  Rung rung() const { return rung_; }
  const Ladder& ladder() const { return run_->ladder; }

  /// r ~ ω, from 1.
  std::size_t draw(const RestartLaw& law) { return restart(law.tickets()); }
  /// r ∝ tickets, from 1. The truncating sampler's restart law depends on its record, so it has no
  /// RestartLaw to draw from.
  std::size_t restart(std::span<const std::uint64_t> tickets) {
    return 1 + run_->engine.draw(tickets, address(0, Purpose::restart_position));
  }
  /// x_t ~ g_{α_k,t}(· | x_<t), `eq:implementation-extension`.
  Engine::NextToken next_token(Record& record) {
    const auto position = static_cast<std::uint32_t>(record.length() + 1);
    return run_->engine.next_token(record, {rung_, address(position, token_)});
  }
  /// True with probability 1 ∧ exp(log_ratio).
  bool accept(double log_ratio, Purpose purpose = Purpose::accept) {
    return run_->engine.draw(accept_tickets(log_ratio), address(0, purpose)) == 0;
  }
  void note(Event event) {
    event.rung = rung_;
    event.round = round_;
    run_->events.push_back(event);
  }

 private:
  DrawAddress address(std::uint32_t position, Purpose purpose) const {
    return {run_->prompt, static_cast<std::uint16_t>(rung_), round_, position, purpose};
  }

  Run* run_;
  Rung rung_;
  std::uint32_t round_;
  Purpose token_;
};

}  // namespace tempera::gpu
