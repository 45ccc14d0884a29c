#include <thrust/copy.h>
#include <thrust/device_malloc_allocator.h>
#include <thrust/device_vector.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/error.hpp"
#include "gpu/device/device_memory.hpp"
#include "gpu/device/host_memory.hpp"
#include "gpu/device/planted_fault.hpp"

namespace tempera::gpu {

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

std::uint64_t device_allocations() { return allocations; }

PlantedFault& planted_fault() {
  static PlantedFault fault;
  return fault;
}

void count_device_allocation(std::size_t bytes) {
  ++allocations;
  const auto& memory = planted_fault().memory;
  if (memory && bytes > *memory) throw std::bad_alloc();
}

void count_device_copy() {
  auto& left = planted_fault().copies_until_lost;
  if (!left) return;
  if (*left == 0) throw DeviceError("a copy to or from the device failed");
  --*left;
}

namespace {

// Under AddressSanitizer every array is an allocation of its own, so that it sees where one ends.
#if defined(TEMPERA_DEVICE_CUDA) || defined(__SANITIZE_ADDRESS__)
template <class T>
using DeviceVector = thrust::device_vector<T>;
#else
/// Takes long arrays from HostMemory.
template <class T>
struct HostAllocator : thrust::device_malloc_allocator<T> {
  using Base = thrust::device_malloc_allocator<T>;
  template <class Other>
  struct rebind {
    using other = HostAllocator<Other>;
  };

  typename Base::pointer allocate(typename Base::size_type size) {
    if (size * sizeof(T) < HostMemory::least_bytes) return Base::allocate(size);
    return typename Base::pointer(reinterpret_cast<T*>(host_memory().take(size * sizeof(T))));
  }
  void deallocate(typename Base::pointer memory, typename Base::size_type size) noexcept {
    if (size * sizeof(T) < HostMemory::least_bytes) return Base::deallocate(memory, size);
    host_memory().give_back(reinterpret_cast<std::byte*>(thrust::raw_pointer_cast(memory)),
                            size * sizeof(T));
  }
};
template <class T>
using DeviceVector = thrust::device_vector<T, HostAllocator<T> >;
#endif

}  // namespace

template <class T>
struct DeviceMemory<T>::Storage {
  DeviceVector<T> elements;
};

template <class T>
DeviceMemory<T>::DeviceMemory() : storage_(std::make_unique<Storage>()) {}

template <class T>
DeviceMemory<T>::DeviceMemory(std::size_t size) : DeviceMemory() {
  resize(size);
}

template <class T>
DeviceMemory<T>::DeviceMemory(std::span<const T> host) : DeviceMemory() {
  if (!host.empty()) count_device_allocation(host.size_bytes());
  storage_->elements.assign(host.begin(), host.end());
}

template <class T>
DeviceMemory<T>::DeviceMemory(DeviceMemory&&) noexcept = default;

template <class T>
DeviceMemory<T>& DeviceMemory<T>::operator=(DeviceMemory&&) noexcept = default;

template <class T>
DeviceMemory<T>::~DeviceMemory() = default;

template <class T>
std::size_t DeviceMemory<T>::size() const {
  return storage_->elements.size();
}

template <class T>
void DeviceMemory<T>::resize(std::size_t size) {
  if (size > storage_->elements.capacity()) count_device_allocation(size * sizeof(T));
  // Thrust's own growth would hand memmove the null pointer of an empty array.
  if (storage_->elements.empty()) {
    storage_->elements = DeviceVector<T>(size);
  } else {
    storage_->elements.resize(size);
  }
}

template <class T>
T* DeviceMemory<T>::data() {
  return thrust::raw_pointer_cast(storage_->elements.data());
}

template <class T>
const T* DeviceMemory<T>::data() const {
  return thrust::raw_pointer_cast(storage_->elements.data());
}

template <class T>
void DeviceMemory<T>::upload(std::span<const T> host, std::size_t offset) {
  if (host.empty()) return;
  count_device_copy();
  thrust::copy(host.begin(), host.end(),
               storage_->elements.begin() + static_cast<std::ptrdiff_t>(offset));
}

template <class T>
std::vector<T> DeviceMemory<T>::download(std::size_t offset, std::size_t count) const {
  std::vector<T> host(count);
  if (count == 0) return host;
  count_device_copy();
  const auto first = storage_->elements.begin() + static_cast<std::ptrdiff_t>(offset);
  thrust::copy(first, first + static_cast<std::ptrdiff_t>(count), host.begin());
  return host;
}

template class DeviceMemory<std::byte>;
template class DeviceMemory<float>;
template class DeviceMemory<double>;
template class DeviceMemory<std::uint16_t>;
template class DeviceMemory<std::uint32_t>;
template class DeviceMemory<std::uint64_t>;

}  // namespace tempera::gpu
