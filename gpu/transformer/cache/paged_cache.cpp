#include "gpu/transformer/cache/paged_cache.hpp"

#include <stdexcept>

namespace tempera::gpu {

namespace {

std::size_t pages_for(std::size_t tokens) { return (tokens + page_tokens - 1) / page_tokens; }

}  // namespace

PagedCache::~PagedCache() {
  for (const auto page : pages_) pool_->release(page);
}

std::unique_ptr<Cache> PagedCache::fork(std::size_t length) const {
  if (length > this->length()) throw std::invalid_argument("a fork is no longer than its cache");
  auto copy = std::make_unique<PagedCache>(pool_);
  const auto shared = std::span(pages_).first(pages_for(length));
  copy->pages_.assign(shared.begin(), shared.end());
  for (const auto page : copy->pages_) pool_->hold(page);
  copy->hold(length);
  return copy;
}

void PagedCache::reserve(std::size_t length, std::vector<PageCopy>& copies) {
  const std::size_t begin = this->length() / page_tokens;  // the first page to be written
  if (length > this->length() && begin < pages_.size() && pool_->is_shared(pages_[begin])) {
    copies.reserve(copies.size() + 1);
    const auto target = pool_->take();
    // The copy happens before anything is computed, and until then another cache holds the source.
    copies.push_back({pages_[begin], target});
    pool_->release(pages_[begin]);
    pages_[begin] = target;
  }
  pages_.reserve(pages_for(length));
  while (pages_.size() < pages_for(length)) pages_.push_back(pool_->take());
}

}  // namespace tempera::gpu
