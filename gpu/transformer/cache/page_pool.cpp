#include "gpu/transformer/cache/page_pool.hpp"

#include <algorithm>

namespace tempera::gpu {

std::uint32_t PagePool::take() {
  if (free_.empty()) grow();
  const auto page = free_.back();
  free_.pop_back();
  holders_[page] = 1;
  most_held_ = std::max(most_held_, holders_.size() - free_.size());
  return page;
}

void PagePool::release(std::uint32_t page) {
  if (--holders_[page] == 0) free_.push_back(page);
}

void PagePool::grow() {
  constexpr std::size_t fewest = 64;
  const std::size_t old_pages = holders_.size();
  const std::size_t new_pages = old_pages < fewest ? fewest : old_pages * 2;
  free_.reserve(new_pages);  // so that release never throws
  bytes_.grow(new_pages * page_bytes_);
  holders_.resize(new_pages);
  for (std::size_t page = new_pages; page > old_pages; --page) {
    free_.push_back(static_cast<std::uint32_t>(page - 1));
  }
}

}  // namespace tempera::gpu
