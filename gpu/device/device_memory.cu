#include <thrust/copy.h>
#include <thrust/device_vector.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/error.hpp"
#include "gpu/device/device_memory.hpp"
#include "gpu/device/planted_fault.hpp"

namespace tempera::gpu {

namespace {

std::atomic<std::uint64_t> allocations{0};
thread_local std::uint64_t own_allocations = 0;

}  // namespace

std::uint64_t device_allocations() { return allocations; }
std::uint64_t device_allocations_of_thread() { return own_allocations; }

PlantedFault& planted_fault() {
  static PlantedFault fault;
  return fault;
}

void count_device_allocation(std::size_t bytes) {
  ++allocations;
  ++own_allocations;
  const auto& memory = planted_fault().memory;
  if (memory && bytes > *memory) throw std::bad_alloc();
}

void count_growing_array() {
  auto& left = planted_fault().arrays_until_full;
  if (!left) return;
  if (*left == 0) throw std::bad_alloc();
  --*left;
}

void count_device_copy() {
  auto& left = planted_fault().copies_until_lost;
  if (!left) return;
  if (*left == 0) throw DeviceError("a copy to or from the device failed");
  --*left;
}

template <class T>
struct DeviceMemory<T>::Storage {
  thrust::device_vector<T> elements;
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
    storage_->elements = thrust::device_vector<T>(size);
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

template <class T>
void DeviceMemory<T>::copy(const DeviceMemory& from, std::size_t offset, std::size_t count,
                           std::size_t target) {
  if (count == 0) return;
  const auto first = from.storage_->elements.begin() + static_cast<std::ptrdiff_t>(offset);
  thrust::copy(first, first + static_cast<std::ptrdiff_t>(count),
               storage_->elements.begin() + static_cast<std::ptrdiff_t>(target));
}

template class DeviceMemory<std::byte>;
template class DeviceMemory<float>;
template class DeviceMemory<double>;
template class DeviceMemory<std::uint16_t>;
template class DeviceMemory<std::uint32_t>;
template class DeviceMemory<std::uint64_t>;

}  // namespace tempera::gpu
