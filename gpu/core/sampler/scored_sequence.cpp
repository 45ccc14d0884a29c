#include "gpu/core/sampler/scored_sequence.hpp"

#include "base/error.hpp"

namespace tempera::gpu {
namespace {

template <class T>
std::vector<T> beginning(const std::vector<T>& values, std::size_t count) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

ScoredSequence ScoredSequence::first(std::size_t length) const {
  ScoredSequence prefix;
  const std::size_t blocks = (length + block_tokens - 1) / block_tokens;
  prefix.blocks_.assign(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(blocks));
  prefix.size_ = length;
  prefix.rungs_ = length == 0 ? 0 : rungs_;
  return prefix;
}

ScoredSequence::Block& ScoredSequence::open_block() {
  const std::size_t kept = size_ % block_tokens;
  if (kept == 0) return *blocks_.emplace_back(std::make_shared<Block>());
  std::shared_ptr<Block>& last = blocks_.back();
  if (last.use_count() > 1 || last->tokens.size() > kept)
    last = std::make_shared<Block>(
        Block{beginning(last->tokens, kept), beginning(last->log_p, kept),
              beginning(last->log_z, kept * rungs_), beginning(last->entropies, kept)});
  return *last;
}

void ScoredSequence::append(const ScoredToken& token) {
  if (size_ == 0) rungs_ = token.log_z.size();
  if (token.log_z.size() != rungs_)
    throw Bug("a token is scored for another ladder than those before it");
  Block& block = open_block();
  block.tokens.push_back(token.id);
  block.log_p.push_back(token.log_p);
  block.log_z.insert(block.log_z.end(), token.log_z.begin(), token.log_z.end());
  block.entropies.push_back(token.negative_entropy);
  ++size_;
}

}  // namespace tempera::gpu
