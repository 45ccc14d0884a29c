#include "gpu/llm/transformer/cache/page_pool.hpp"

#include <algorithm>
#include <new>

namespace tempera::gpu {

std::uint32_t PagePool::take() {
  if (free_.empty()) grow();
  const auto page = free_.back();
  free_.pop_back();
  holders_[page] = 1;
  most_held_ = std::max(most_held_, holders_.size() - free_.size());
  return page;
}

bool PagePool::release(std::uint32_t page) {
  if (--holders_[page] > 0) return false;
  free_.push_back(page);
  return true;
}

void PagePool::make_room(std::size_t pages) {
  if (holders_.size() < pages) resize(pages);
}

void PagePool::grow() {
  const std::size_t old_pages = holders_.size();
  // Twice as many, or, if the memory has no room for so many, as many more as it has.
  for (std::size_t more = old_pages < fewest_ ? fewest_ : old_pages;; more /= 2) {
    try {
      return resize(old_pages + more);
    } catch (const std::bad_alloc&) {
      if (more == 1) throw;
    }
  }
}

void PagePool::resize(std::size_t pages) {
  const std::size_t old_pages = holders_.size();
  arrays_.grow(pages);
  const std::size_t room = arrays_.elements();  // what there is room for is used
  free_.reserve(room);                          // so that release never throws
  holders_.resize(room);
  for (std::size_t page = room; page > old_pages; --page) {
    free_.push_back(static_cast<std::uint32_t>(page - 1));
  }
}

}  // namespace tempera::gpu
