#include "gpu/model/table_model.hpp"

#include <stdexcept>

namespace tempera::gpu {
namespace {

class TokenCache final : public Cache {
 public:
  explicit TokenCache(std::vector<TokenId> tokens) : tokens_(std::move(tokens)) {}
  std::span<const TokenId> tokens() const override { return tokens_; }
  std::unique_ptr<Cache> fork(std::size_t length) const override {
    return std::make_unique<TokenCache>(std::vector<TokenId>(
        tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(length)));
  }
  const std::vector<TokenId>& extend_to(std::span<const TokenId> prefix) {
    for (std::size_t i = tokens_.size(); i < prefix.size(); ++i) tokens_.push_back(prefix[i]);
    return tokens_;
  }

 private:
  std::vector<TokenId> tokens_;
};

}  // namespace

std::unique_ptr<Cache> TableModel::empty_cache() const {
  return std::make_unique<TokenCache>(std::vector<TokenId>{});
}

void TableModel::next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) {
  std::vector<float> logits;
  logits.reserve(passes.size() * vocabulary_size_);
  for (const Pass& pass : passes) {
    auto& cache = dynamic_cast<TokenCache&>(*pass.cache);
    const std::vector<float> row = row_(cache.extend_to(pass.tokens));
    if (row.size() != vocabulary_size_) throw std::logic_error("a row of the wrong length");
    logits.insert(logits.end(), row.begin(), row.end());
  }
  if (rows.size() < logits.size()) rows.resize(logits.size());
  rows.upload(logits);
}

}  // namespace tempera::gpu
