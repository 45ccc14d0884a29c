#include "gpu/core/sampler/record.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace tempera::gpu {

bool Context::is_terminal(TokenId token) const {
  return std::find(terminal.begin(), terminal.end(), token) != terminal.end();
}

Record::Record(const Context& context, std::unique_ptr<Cache> cache)
    : context_(&context), cache_(std::move(cache)) {}

std::size_t Record::terminal_position() const {
  return terminated_ ? length() : std::numeric_limits<std::size_t>::max();
}

std::vector<TokenId> Record::token_ids() const {
  std::vector<TokenId> ids;
  ids.reserve(length());
  for (std::size_t t = 1; t <= length(); ++t) ids.push_back(tokens_.token(t));
  return ids;
}

std::vector<TokenId> Record::uncached_tokens() const {
  const std::vector<TokenId>& prompt = context_->prompt;
  const std::size_t cached = cache_->length();
  std::vector<TokenId> rest;
  if (cached < prompt.size())
    rest.assign(prompt.begin() + static_cast<std::ptrdiff_t>(cached), prompt.end());
  const std::size_t first = cached < prompt.size() ? 1 : cached - prompt.size() + 1;
  for (std::size_t t = first; t <= length(); ++t) rest.push_back(tokens_.token(t));
  return rest;
}

double Record::log_p0() const {
  double sum = 0.0;
  for (std::size_t t = 1; t <= length(); ++t) sum += tokens_.log_p(t);
  return sum;
}

double Record::confidence() const {
  double sum = 0.0;
  for (std::size_t t = 1; t <= length(); ++t) sum += tokens_.negative_entropy(t);
  return length() == 0 ? 0.0 : sum / static_cast<double>(length());
}

double Record::sum_log_z(std::size_t r, std::size_t last, Rung k) const {
  double sum = 0.0;
  for (std::size_t t = r; t <= std::min(last, length()); ++t) sum += tokens_.log_z(t)[k];
  return sum;
}

Record Record::prefix_before(std::size_t r) const {
  const std::size_t kept = r - 1;
  Record prefix(*context_,
                cache_->fork(std::min(cache_->length(), context_->prompt.size() + kept)));
  prefix.horizon_ = horizon_;
  prefix.tokens_ = tokens_.first(kept);
  return prefix;
}

void Record::take_prefix_of(const Record& other, std::size_t r) {
  const std::size_t common = std::min(other.cache_->length(), context_->prompt.size() + r - 1);
  if (common > cache_->length()) cache_ = other.cache_->fork(common);
}

Record Record::copy() const {
  Record same(*context_, cache_->fork(cache_->length()));
  same.horizon_ = horizon_;
  same.tokens_ = tokens_;
  same.terminated_ = terminated_;
  return same;
}

void Record::append(const ScoredToken& token) {
  if (!open()) throw Bug("a record that is not open takes no token");
  tokens_.append(token);
  terminated_ = context_->is_terminal(token.id);
}

bool differ_from(std::size_t r, const Record& x, const Record& y) {
  if (x.length() != y.length()) return true;
  for (std::size_t t = r; t <= x.length(); ++t)
    if (x.tokens().token(t) != y.tokens().token(t)) return true;
  return false;
}

}  // namespace tempera::gpu
