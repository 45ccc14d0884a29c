#include "gpu/device/host_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <iterator>
#include <new>

namespace tempera::gpu {

namespace {

constexpr std::size_t small_page = 4096;
constexpr std::size_t large_page = std::size_t{2} << 20;
constexpr std::size_t region_bytes = std::size_t{64} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

void ask_for_large_pages(std::byte* memory, std::size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: where it is refused, pages are small
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

HostMemory& host_memory() {
  // Never destroyed: arrays that are static may be given back after everything else has ended.
  static auto* const memory = new HostMemory;
  return *memory;
}

HostMemory::~HostMemory() {
  for (const auto& [begin, region] : regions_) munmap(region.mapped, region.mapped_bytes);
}

std::byte* HostMemory::map_region(std::size_t bytes) {
  const std::size_t mapped_bytes = bytes + large_page;
  void* const mapped = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  std::byte* const begin = first + (rounded_up(address, large_page) - address);
  ask_for_large_pages(begin, bytes);
  regions_[begin] = {bytes, 0, 0, first, mapped_bytes};
  return begin;
}

std::byte* HostMemory::take(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const std::size_t size = rounded_up(bytes, small_page);
  std::byte* begin = open_;
  if (size > region_bytes / 2) {
    begin = map_region(size);
  } else if (begin == nullptr || regions_[begin].size - regions_[begin].used < size) {
    begin = open_ = map_region(region_bytes);
  }
  Region& region = regions_[begin];
  std::byte* const memory = begin + region.used;
  region.used += size;
  ++region.arrays;
  return memory;
}

void HostMemory::give_back(std::byte* memory, std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = std::prev(regions_.upper_bound(memory));
  Region& region = found->second;
  if (--region.arrays > 0) {
    madvise(memory, rounded_up(bytes, small_page), MADV_DONTNEED);
    return;
  }
  if (open_ == found->first) open_ = nullptr;
  munmap(region.mapped, region.mapped_bytes);
  regions_.erase(found);
}

std::size_t HostMemory::mapped_bytes() {
  const std::scoped_lock lock(mutex_);
  std::size_t result = 0;
  for (const auto& [begin, region] : regions_) result += region.mapped_bytes;
  return result;
}

}  // namespace tempera::gpu
