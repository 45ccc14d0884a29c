#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/device/growing_arrays.hpp"
#include "gpu/llm/transformer/cache/page_part.hpp"

namespace tempera::gpu {

/// The pages, or the recurrent states, of all caches of one transformer, each with a count of the
/// caches that hold it. The pool grows when none is free.
class PagePool {
 public:
  /// layout: of a page in arrays; fewest: as many as it grows to first.
  explicit PagePool(const ArraysLayout& layout, std::size_t fewest = 64)
      : fewest_(fewest), arrays_(layout) {}

  /// A free page, held once.
  /// @throw std::bad_alloc if none is free and the memory has no room for another
  std::uint32_t take();
  /// Makes room for this many pages at once, without growing to them step by step.
  /// @throw std::bad_alloc if the memory has none
  void make_room(std::size_t pages);
  /// One more cache holds the page.
  void hold(std::uint32_t page) { ++holders_[page]; }
  /// One cache fewer holds it; at none it is free. Returns whether it is.
  bool release(std::uint32_t page);
  bool is_shared(std::uint32_t page) const { return holders_[page] > 1; }

  /// A number that no cache of this pool has had: 1, 2, …
  std::uint64_t new_number() { return ++caches_; }

  /// What a page takes in all arrays.
  std::size_t page_bytes() const { return arrays_.layout().bytes(); }
  std::size_t pages() const { return holders_.size(); }
  /// The most pages that were held at one time.
  std::size_t most_held() const { return most_held_; }
  std::size_t free_pages() const { return free_.size(); }
  /// Valid until the next take().
  PageMemory memory() { return {arrays_.data(), arrays_.pitch(), arrays_.layout()}; }

 private:
  void grow();
  void resize(std::size_t pages);

  std::size_t fewest_;
  GrowingArrays arrays_;
  std::vector<std::uint32_t> holders_;
  std::vector<std::uint32_t> free_;
  std::size_t most_held_ = 0;
  std::uint64_t caches_ = 0;
};

}  // namespace tempera::gpu
