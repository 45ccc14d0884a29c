#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "gpu/core/model/language_model.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/scored_sequence.hpp"

namespace tempera::gpu {

/// What stays the same for every record of a run: the prompt and the terminal tokens E. Held once;
/// records refer to it.
struct Context {
  std::vector<TokenId> prompt;
  std::vector<TokenId> terminal;

  bool is_terminal(TokenId token) const;
};

/// A completion record x ∈ S_{T_m}: the generated tokens, what was computed of each when it was
/// generated (ℓ_t and ζ_{t,j}), and the model's cache of prompt and tokens. The padding ⊥ after a
/// terminal token is implicit: ℓ_t = ζ_{t,j} = 0 there (`eq:theory-absorbing-law`).
///
/// Owns its cache, so it moves and is not copied; prefix_before forks it. Shares its tokens with
/// the records that it was forked from.
class Record {
 public:
  /// The empty record at horizon 0. The context must outlive the record.
  Record(const Context& context, std::unique_ptr<Cache> cache);

  std::size_t horizon() const { return horizon_; }
  /// Carries the record to a longer horizon; an open record can then be extended.
  void raise_horizon(std::size_t horizon) { horizon_ = horizon; }

  /// len(x): the tokens generated, the terminal one included.
  std::size_t length() const { return tokens_.size(); }
  bool terminated() const { return terminated_; }
  /// Neither terminated nor at the horizon.
  bool open() const { return !terminated_ && length() < horizon_; }
  /// τ(x), or the largest number if no terminal token occurs (the minimum of the empty set).
  std::size_t terminal_position() const;

  /// x_t, ℓ_t and ζ_{t,j}.
  const ScoredSequence& tokens() const { return tokens_; }
  std::vector<TokenId> token_ids() const;
  const Context& context() const { return *context_; }
  /// Prompt and tokens after those that the cache holds: what the model has yet to compute.
  std::vector<TokenId> uncached_tokens() const;
  Cache& cache() { return *cache_; }
  const Cache& cache() const { return *cache_; }
  /// Takes a cache of x_{<r} from another record that has these tokens, if the own one holds fewer:
  /// it was cut back while the other was drawn. Range: as prefix_before.
  void take_prefix_of(const Record& other, std::size_t r);
  void exchange_cache(Record& other) { std::swap(cache_, other.cache_); }

  /// log p0(x | x_0) = Σ_t ℓ_t(x), summed from the first token on (`eq:record-prob`,
  /// `eq:theory-terminated-sequence-law`).
  double log_p0() const;
  /// The paper's confidence C(x), the mean over the record's tokens of their negative entropy,
  /// if that was measured. 0 for the empty record.
  double confidence() const;
  /// Σ_{t=r}^{last} ζ_{t,k}(x); positions past the end count 0. Range: r >= 1.
  double sum_log_z(std::size_t r, std::size_t last, Rung k) const;

  /// The open record x_{<r} at the same horizon, with its own fork of the cache. Range: r in
  /// 1..len(x)+1, and r <= τ(x).
  Record prefix_before(std::size_t r) const;
  /// A record equal to this one, with its own fork of the cache.
  Record copy() const;
  /// Range: the record is open.
  /// @throw Bug otherwise
  void append(const ScoredToken& token);

 private:
  const Context* context_;
  ScoredSequence tokens_;
  std::unique_ptr<Cache> cache_;
  std::size_t horizon_ = 0;
  bool terminated_ = false;
};

/// Whether the tokens of x and y differ at or after position r.
bool differ_from(std::size_t r, const Record& x, const Record& y);

}  // namespace tempera::gpu
