#include "gpu/sampler/record.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tempera::gpu {

bool Context::is_terminal(TokenId token) const {
  return std::find(terminal.begin(), terminal.end(), token) != terminal.end();
}

Record::Record(const Context& context, std::unique_ptr<Cache> cache)
    : context_(&context), history_(context.prompt), cache_(std::move(cache)) {}

std::size_t Record::terminal_position() const {
  return terminated_ ? length() : std::numeric_limits<std::size_t>::max();
}

std::vector<TokenId> Record::token_ids() const {
  return {history_.begin() + static_cast<std::ptrdiff_t>(context_->prompt.size()), history_.end()};
}

double Record::log_p0() const {
  double sum = 0.0;
  for (const ScoredToken& token : tokens_) sum += token.log_p;
  return sum;
}

double Record::sum_log_z(std::size_t r, std::size_t last, Rung k) const {
  double sum = 0.0;
  for (std::size_t t = r; t <= std::min(last, length()); ++t) sum += tokens_[t - 1].log_z[k];
  return sum;
}

Record Record::prefix_before(std::size_t r) const {
  Record prefix(*context_, nullptr);
  const std::size_t kept = r - 1;
  prefix.horizon_ = horizon_;
  prefix.tokens_.assign(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(kept));
  prefix.history_.assign(history_.begin(), history_.begin() + static_cast<std::ptrdiff_t>(
                                                                  context_->prompt.size() + kept));
  prefix.cache_ = cache_->fork(std::min(cache_->length(), prefix.history_.size()));
  return prefix;
}

Record Record::copy() const {
  Record same(*context_, cache_->fork(cache_->length()));
  same.horizon_ = horizon_;
  same.tokens_ = tokens_;
  same.history_ = history_;
  same.terminated_ = terminated_;
  return same;
}

void Record::append(ScoredToken token) {
  if (!open()) throw std::logic_error("a record that is not open takes no token");
  terminated_ = context_->is_terminal(token.id);
  history_.push_back(token.id);
  tokens_.push_back(std::move(token));
}

}  // namespace tempera::gpu
