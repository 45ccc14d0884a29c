#pragma once

#include <functional>
#include <vector>

#include "gpu/core/model/language_model.hpp"

namespace tempera::gpu {

/// What a table keeps of a prefix: its tokens, which stand for keys and values.
class TokenCache final : public Cache {
 public:
  std::span<const TokenId> tokens() const { return tokens_; }
  std::size_t length() const override { return tokens_.size(); }
  std::unique_ptr<Cache> fork(std::size_t length) const override;

 private:
  friend class TableModel;
  std::vector<TokenId> tokens_;
};

/// A model given by a function from prefixes to rows of float32 logits: how a finite model enters
/// production. It reads the prefix from the cache, as a transformer does, so that a stale cache
/// gives it the wrong row too.
class TableModel final : public LanguageModel {
 public:
  /// The logits that follow a prefix, |V| of them; -infinity forbids a token. It is asked again
  /// each time: a table of every prefix that was met would grow with the square of the horizon.
  using Row = std::function<std::vector<float>(std::span<const TokenId> prefix)>;

  TableModel(std::size_t vocabulary_size, Row row)
      : vocabulary_size_(vocabulary_size), row_(std::move(row)) {}
  std::size_t vocabulary_size() const override { return vocabulary_size_; }
  std::unique_ptr<Cache> empty_cache() const override;
  std::size_t cache_bytes(std::size_t tokens) const override { return tokens * sizeof(TokenId); }
  void next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) override;

 private:
  std::size_t vocabulary_size_;
  Row row_;
};

}  // namespace tempera::gpu
