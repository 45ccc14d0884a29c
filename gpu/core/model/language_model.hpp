#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/device/device.hpp"
#include "gpu/device/device_memory.hpp"

namespace tempera::gpu {

using TokenId = std::uint32_t;

class CacheAccount;

/// What a model keeps of a prefix so that no token of it is computed twice: for a transformer its
/// pages of keys, values and final hidden states. A record owns one; a swap exchanges it.
class Cache {
 public:
  virtual ~Cache() = default;
  /// How many tokens (prompt included) it was computed from. It need not know which.
  virtual std::size_t length() const = 0;
  /// What tells the caches of one model from those of all others: null if its model does not ask.
  virtual const void* maker() const { return nullptr; }
  /// A cache of the first `length` tokens, sharing what it can; neither sees the other's later
  /// tokens. Range: length <= length().
  virtual std::unique_ptr<Cache> fork(std::size_t length) const = 0;

  /// The most bytes that it takes beyond what it holds until its length is `length`; 0 if what it
  /// holds is not counted.
  virtual std::size_t bytes_to_reach(std::size_t /*length*/) const { return 0; }
  /// Counts what it and its forks hold from now on. Range: it is empty.
  virtual void count_in(const std::shared_ptr<CacheAccount>& /*account*/) {}
  /// The number of those of its account that were made before it: the order in which they have
  /// memory if there is not enough for all.
  virtual std::uint64_t number_in_account() const { return 0; }
  /// Gives back all that it holds beyond the cache that stays whole which it was forked from
  /// (CacheAccount). Its length may fall; what is missing then is computed again, to the same bits.
  virtual void drop_own() {}
  /// False if drop_own has nothing to give back.
  virtual bool holds_own() const { return false; }
  /// Says that a request waits for it: until a pass uses it, it is not idle.
  virtual void begin_wait() {}
};

/// One request of a batch: the logits that follow what the cache holds and then `tokens`, which are
/// computed and enter it. What it holds already is never computed again. For a transformer the two
/// are not both empty.
struct Pass {
  Cache* cache;
  std::span<const TokenId> tokens;
};

/// Draws the tokens after passes in one step of the device, which leaves no logits to look at: what
/// a model offers for certain rows and a certain lottery. Whoever draws often asks for it once.
class FusedDraw {
 public:
  virtual ~FusedDraw() = default;
  /// The bits of LanguageModel::next_tokens with these rows and this lottery.
  virtual std::vector<ScoredToken> next_tokens(std::span<const Pass> passes,
                                               std::span<const RowDraw> draws,
                                               DeviceMemory<float>& logits) = 0;
};

/// A model p_LM(· | h) that answers batches of prefixes with rows of logits.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  /// |V_LM|, the length of a row of logits; at most 2^18.
  virtual std::size_t vocabulary_size() const = 0;
  virtual std::unique_ptr<Cache> empty_cache() const = 0;
  /// The device that it computes on, and that its rows of logits are on.
  virtual Device device() const { return current_device(); }
  /// The most bytes that a cache of this many tokens takes, sharing nothing; 0 if the model
  /// does not say.
  virtual std::size_t cache_bytes(std::size_t /*tokens*/) const { return 0; }
  /// The most tokens at its end that a fork comes to hold in memory of its own: 1 if it copies
  /// what it writes to, more if it computes some of them again.
  virtual std::size_t most_unshared_tokens() const { return 1; }
  /// The most bytes that all its caches together have taken at one time so far.
  virtual std::size_t most_cache_bytes() const { return 0; }
  /// Writes the float32 logits of the token after each pass to rows[pass * vocabulary_size
  /// + token], in device memory, growing it if needed. A logit of -infinity forbids its token.
  ///
  /// Bitwise: a row depends only on the tokens that its own cache then holds, never on the batch
  /// around it, on how the tokens were split over earlier passes, or on the number of threads.
  virtual void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) = 0;

  /// The shorter way that the model has to draw by these rows and this lottery; null if it has
  /// none. The model, the rows and the lottery must outlive it.
  virtual std::unique_ptr<FusedDraw> fused_draw(RowLottery& /*rows*/, Lottery& /*lottery*/) {
    return nullptr;
  }
  /// The passes computed, and a token drawn after each of the first draws.size() of them: the bits
  /// of next_logits and then draw_by_rules, by fused_draw if there is one. logits: memory that
  /// may be used for them.
  /// @throw as these two do
  std::vector<ScoredToken> next_tokens(std::span<const Pass> passes, std::span<const RowDraw> draws,
                                       RowLottery& rows, Lottery& lottery,
                                       DeviceMemory<float>& logits) {
    if (const auto fused = fused_draw(rows, lottery))
      return fused->next_tokens(passes, draws, logits);
    next_logits(passes, logits);
    return draw_by_rules(rows, logits, vocabulary_size(), draws, lottery);
  }
};

}  // namespace tempera::gpu
