#include "gpu/core/model/table_model.hpp"

#include "base/error.hpp"

namespace tempera::gpu {

std::unique_ptr<Cache> TokenCache::fork(std::size_t length) const {
  auto copy = std::make_unique<TokenCache>();
  copy->tokens_.assign(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(length));
  return copy;
}

std::unique_ptr<Cache> TableModel::empty_cache() const { return std::make_unique<TokenCache>(); }

void TableModel::next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) {
  std::vector<float> logits;
  logits.reserve(passes.size() * vocabulary_size_);
  for (const Pass& pass : passes) {
    std::vector<TokenId>& prefix = dynamic_cast<TokenCache&>(*pass.cache).tokens_;
    prefix.insert(prefix.end(), pass.tokens.begin(), pass.tokens.end());
    const std::vector<float> row = row_(prefix);
    if (row.size() != vocabulary_size_) throw Bug("a row of the wrong length");
    logits.insert(logits.end(), row.begin(), row.end());
  }
  if (rows.size() < logits.size()) rows.resize(logits.size());
  rows.upload(logits);
}

}  // namespace tempera::gpu
