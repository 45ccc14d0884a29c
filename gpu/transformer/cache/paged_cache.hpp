#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "gpu/model/language_model.hpp"
#include "gpu/transformer/cache/page_pool.hpp"

namespace tempera::gpu {

/// The keys, values and final hidden states of a prefix, in pages. A fork shares them all; whoever
/// first appends to a page that others hold gets a copy of it.
class PagedCache : public Cache {
 public:
  explicit PagedCache(std::shared_ptr<PagePool> pool) : pool_(std::move(pool)) {}
  PagedCache(const PagedCache&) = delete;
  PagedCache& operator=(const PagedCache&) = delete;
  ~PagedCache() override;

  std::size_t length() const override { return length_; }
  /// @throw std::invalid_argument if length > length().
  std::unique_ptr<Cache> fork(std::size_t length) const override;

  const std::shared_ptr<PagePool>& pool() const { return pool_; }
  std::span<const std::uint32_t> pages() const { return pages_; }
  /// The page and slot of a token: pages()[token / page_tokens], token % page_tokens.
  std::uint32_t page_of(std::size_t token) const { return pages_[token / page_tokens]; }

  /// A page whose contents must be copied to another before anything is computed.
  struct PageCopy {
    std::uint32_t source;
    std::uint32_t target;
  };
  /// Makes room for tokens length() .. length - 1 in pages that no other cache holds. Appends to
  /// `copies` the copy that this asks for, if any.
  /// @throw BadInput where the memory of the device has no room, saying what would fit
  void reserve(std::size_t length, std::vector<PageCopy>& copies);
  /// Says that `tokens` more are computed; reserve made room.
  void hold(std::size_t tokens) { length_ += tokens; }

 private:
  std::shared_ptr<PagePool> pool_;
  std::vector<std::uint32_t> pages_;
  std::size_t length_ = 0;
};

}  // namespace tempera::gpu
