#include "gpu/device/growing_memory.hpp"

#include <new>

#if !defined(TEMPERA_DEVICE_CUDA)
#include <sys/mman.h>
#endif

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)

GrowingMemory::~GrowingMemory() = default;

std::byte* GrowingMemory::data() { return mapped_ ? mapped_->data() : device_.data(); }

void GrowingMemory::grow(std::size_t size) {
  if (size == size_) return;
  if (size_ == 0 && !mapped_) mapped_ = MappedMemory::make();
  if (mapped_) {
    count_device_allocation(size);
    mapped_->grow(size);
  } else {
    device_.resize(size);
  }
  size_ = size;
}

#else

GrowingMemory::~GrowingMemory() {
  if (host_ != nullptr) munmap(host_, size_);
}

std::byte* GrowingMemory::data() { return host_; }

void GrowingMemory::grow(std::size_t size) {
  if (size == size_) return;
  count_device_allocation(size);
  void* grown = host_ == nullptr ? mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                 : mremap(host_, size_, size, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) throw std::bad_alloc();
  host_ = static_cast<std::byte*>(grown);
  size_ = size;
}

#endif

}  // namespace tempera::gpu
