#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace tempera::gpu {

/// Memory of the host for arrays that products read from end to end: weights above all. It asks the
/// system for pages of 2 MiB, because with 4 KiB ones the core looks up an address every few
/// hundred cycles. (One record of a model of 135 million float32 weights takes a quarter less
/// time.) Where the system has none, they are small ones.
///
/// Arrays lie side by side in regions, lest most of them end in the middle of a page. What is given
/// back takes up no memory from then on; its addresses are free when its whole region is.
class HostMemory {
 public:
  /// From how many bytes on it is worth it.
  static constexpr std::size_t least_bytes = std::size_t{1} << 20;

  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();

  /// Zeros, aligned to 4 KiB. Range: bytes >= 1.
  /// @throw std::bad_alloc
  std::byte* take(std::size_t bytes);
  /// @pre take(bytes) gave `memory`, and nobody has given it back
  void give_back(std::byte* memory, std::size_t bytes) noexcept;
  /// Bytes of address space that all regions take up.
  std::size_t mapped_bytes();

 private:
  struct Region {
    std::size_t size;
    std::size_t used;  // bytes, from its begin on
    std::size_t arrays;
    std::byte* mapped;  // what was mapped, so that it begins where a large page does
    std::size_t mapped_bytes;
  };
  std::byte* map_region(std::size_t bytes);

  std::mutex mutex_;
  std::map<std::byte*, Region> regions_;  // by their begin
  std::byte* open_ = nullptr;             // the region that takes small arrays
};

/// Asks for large pages from here on, where the system has some. Changes no content.
void ask_for_large_pages(std::byte* memory, std::size_t bytes) noexcept;

/// The process's.
HostMemory& host_memory();

}  // namespace tempera::gpu
