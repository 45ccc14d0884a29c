#include "gpu/transformer/cache/paged_cache.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>

#include "gpu/device/device_system.hpp"
#include "gpu/input/bad_input.hpp"

namespace tempera::gpu {

namespace {

std::size_t pages_for(std::size_t tokens) { return (tokens + page_tokens - 1) / page_tokens; }

/// A page for a text of `length` tokens.
/// @throw BadInput saying what would fit, where the memory of the device has no more
std::uint32_t take_page(PagePool& pool, std::size_t length) {
  try {
    return pool.take();
  } catch (const std::bad_alloc&) {
    const std::size_t pages = pool.pages();
    const std::size_t records = pages / pages_for(length);
    throw BadInput("the memory of the device",
                   "holds " + std::to_string(pages) + " pages of " + std::to_string(page_tokens) +
                       " tokens (" + in_gibibytes(pages * pool.page_bytes()) +
                       "), all in use: room for keys and values of " +
                       (records > 0 ? std::to_string(records) + " records of " +
                                          std::to_string(length) + " tokens each, prompt included"
                                    : "texts of " + std::to_string(pages * page_tokens) +
                                          " tokens in all, and one of " + std::to_string(length) +
                                          " is asked for"),
                   "lower --horizon, the number of rungs or --samples to what fits");
  }
}

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
    const auto target = take_page(*pool_, length);
    // The copy happens before anything is computed, and until then another cache holds the source.
    copies.push_back({pages_[begin], target});
    pool_->release(pages_[begin]);
    pages_[begin] = target;
  }
  pages_.reserve(pages_for(length));
  while (pages_.size() < pages_for(length)) pages_.push_back(take_page(*pool_, length));
}

}  // namespace tempera::gpu
