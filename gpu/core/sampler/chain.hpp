#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/core/engine/engine.hpp"
#include "gpu/core/lottery/accept_tickets.hpp"
#include "gpu/core/sampler/chain_options.hpp"
#include "gpu/core/sampler/event.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/record.hpp"
#include "gpu/core/sampler/restart_law.hpp"

namespace tempera::gpu {

/// Opens for a local move that has begun before its turn, when that turn comes.
struct TurnGate {
  bool is_open = false;                  ///< whether the move's turn has come
  std::coroutine_handle<> waiting = {};  ///< the move, if it can do no more before that
};

/// The chain of one sample: what its sampler needs besides its records.
///
/// Chains of different contexts, ladders and seeds share an engine. Two chains of one engine and
/// seed differ in prompt_index or sample_index, or they draw with the same words.
struct Chain {
  Engine& engine;
  const Context& context;
  const Ladder& ladder;
  std::uint64_t seed = 0;
  std::uint32_t prompt_index = 0;  ///< part of every draw's address
  std::uint32_t sample_index = 0;  ///< part of every draw's address; below addressable_samples
  /// The cache of the prompt, shared by the chains that begin with it, so that it is computed once;
  /// if there is none, the chain makes its own.
  std::shared_ptr<Cache> prompt_cache = nullptr;
  std::vector<Event> events = {};  ///< since the round began; sorted when it is finished
  ChainOptions options = {};
  std::uint8_t pilot = 0;  ///< part of every draw's address: no pilot shares a word with a run
};

/// `count` empty records, whose caches share the prompt.
Task initialize_records(Chain& chain, std::size_t count, std::vector<Record>& records);
/// Line 1 of Algorithm 1: K empty records, one for each rung.
inline Task initialize_replicas(Chain& chain, std::vector<Record>& replicas) {
  return initialize_records(chain, chain.ladder.rungs(), replicas);
}

/// One rung's turn: a block extension, a local move or a swap, with its draws, each at its own
/// address. `number` counts as DrawAddress::turn says.
class Turn {
 public:
  /// replica: the rung. A chain of one power may have many replicas, its particles: all move at
  /// that power, and their addresses tell them apart. gate: of a turn that may begin before it has
  /// come. rung: of a particle, whose power rises.
  Turn(Chain& chain, std::size_t replica, std::size_t number, Purpose token,
       TurnGate* gate = nullptr, std::optional<Rung> rung = std::nullopt)
      : chain_(&chain),
        rung_(rung.value_or(chain.ladder.rungs() == 1 ? 0 : replica)),
        replica_(replica),
        number_(static_cast<std::uint32_t>(number)),
        token_(token),
        gate_(gate) {}

  Rung rung() const { return rung_; }
  const Ladder& ladder() const { return chain_->ladder; }
  double power() const { return chain_->ladder.power(rung_); }
  /// x_r, x_{r+1}, … for an event, if the run keeps them.
  std::vector<TokenId> kept_for_audit(const Record& x, std::size_t r) const {
    std::vector<TokenId> tokens;
    if (chain_->options.auditable)
      for (std::size_t t = r; t <= x.length(); ++t) tokens.push_back(x.tokens().token(t));
    return tokens;
  }
  bool rejects_early() const { return chain_->options.early_rejection && power() >= 1.0; }

  /// r ~ ω, from 1.
  std::size_t draw(const RestartLaw& law) { return restart(law.tickets()); }
  /// r ∝ tickets, from 1: for restart laws over the positions of a record.
  std::size_t restart(std::span<const std::uint64_t> tickets) {
    return 1 + chain_->engine.draw(tickets, draw_at(0, Purpose::restart_position));
  }
  /// x_t ~ g_{α_k,t}(· | x_<t), `eq:implementation-extension`. The record must stay where it is.
  Engine::NextToken next_token(Record& record) {
    return chain_->engine.next_token(
        record.cache(), record.context().prompt.size() + record.length(),
        [&record] { return record.uncached_tokens(); },
        {chain_->ladder.powers(), rung_, draw_at(record.length(), token_), rules_after(record)},
        gate_ == nullptr ? nullptr : &gate_->is_open, chain_->options.confidence);
  }
  /// log z_α of what follows the record, for each rung. The record must stay where it is.
  Engine::LogNormalizers log_normalizers(Record& record) {
    return chain_->engine.log_normalizers(
        record.cache(), record.context().prompt.size() + record.length(),
        [&record] { return record.uncached_tokens(); }, chain_->ladder.powers());
  }
  /// Awaited: waits until this turn is granted, if it began before it came.
  auto granted() {
    struct Granted {
      TurnGate* gate;
      bool await_ready() const noexcept { return gate == nullptr || gate->is_open; }
      void await_suspend(std::coroutine_handle<> move) noexcept { gate->waiting = move; }
      void await_resume() const noexcept {}
    };
    return Granted{gate_};
  }
  /// True with probability 1 ∧ exp(log_ratio).
  bool accept(double log_ratio, Purpose purpose = Purpose::accept) {
    return chain_->engine.draw(accept_tickets(log_ratio), draw_at(0, purpose)) == 0;
  }
  /// accept at another ratio, by the same word. Earlier looks have shown that it accepts with
  /// `known` tickets.
  /// Range: accept_tickets(log_ratio) are no more than `known`.
  bool accept_again(double log_ratio, std::uint64_t known, Purpose purpose = Purpose::accept) {
    const std::uint64_t accepting = accept_tickets(log_ratio)[0];
    const std::array<std::uint64_t, 3> tickets{accepting, known - accepting,
                                               all_accept_tickets - known};
    return chain_->engine.redraw_conditioned(tickets, 2, draw_at(0, purpose)) == 0;
  }
  /// True with probability 1 ∧ exp(log_z), by the word of the survival of x_t. Range: t >= 1.
  bool survives(double log_z, std::size_t t) {
    return chain_->engine.draw(accept_tickets(log_z), draw_at(t - 1, Purpose::survival)) == 0;
  }
  /// Index i with probability tickets[i] / Σ tickets.
  std::size_t choose(std::span<const std::uint64_t> tickets, Purpose purpose) {
    return chain_->engine.draw(tickets, draw_at(0, purpose));
  }
  /// Adds the time until its end to this part of the engine's.
  Stopwatch time(double EngineTimes::*part) { return chain_->engine.time(part); }
  void note(Event event) {
    event.rung = replica_;
    event.turn = number_;
    chain_->events.push_back(std::move(event));
  }

 private:
  std::optional<RowRules> rules_after(const Record& record) const {
    const TokenOptions& options = chain_->options;
    if (!change_rows(options, record.length())) return std::nullopt;
    const Context& context = record.context();
    return RowRules{options, context.terminal, context.prompt, record.token_ids()};
  }
  Draw draw_at(std::size_t position, Purpose purpose) const {
    return {chain_->seed,
            {chain_->prompt_index, chain_->sample_index, static_cast<std::uint16_t>(replica_),
             number_, static_cast<std::uint32_t>(position), purpose, chain_->pilot}};
  }

  Chain* chain_;
  Rung rung_;            ///< whose power it has
  std::size_t replica_;  ///< in addresses and events
  std::uint32_t number_;
  Purpose token_;
  TurnGate* gate_;
};

}  // namespace tempera::gpu
