#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tempera::gpu {

/// How often this process has asked for memory of the device. While it stays the same, every
/// pointer into it stays good, and no step has waited for an allocation.
std::uint64_t device_allocations();
/// The same of the thread that calls, which other threads do not change.
std::uint64_t device_allocations_of_thread();
/// Counts one more, of this many bytes: for whatever takes memory of the device.
/// @throw std::bad_alloc for more bytes than a planted fault leaves
void count_device_allocation(std::size_t bytes);
/// For whatever makes room for more of one of several arrays, before it does.
/// @throw std::bad_alloc if a planted fault leaves none
void count_growing_array();
/// For whatever copies between host and device, before it does.
/// @throw DeviceError if a planted fault has lost the device
void count_device_copy();

/// An array in the memory of Thrust's device system: CUDA's, or the host's for
/// plain C++. Hides Thrust from every source that only carries the array around.
///
/// Instantiated for std::byte, float, double, std::uint16_t, std::uint32_t and std::uint64_t.
template <class T>
class DeviceMemory {
 public:
  DeviceMemory();
  explicit DeviceMemory(std::size_t size);
  explicit DeviceMemory(std::span<const T> host);
  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;
  ~DeviceMemory();

  std::size_t size() const;
  /// Keeps the contents up to the smaller size; new elements are zero.
  void resize(std::size_t size);
  /// Calls resize if it is shorter.
  void ensure_size(std::size_t size) {
    if (this->size() < size) resize(size);
  }
  /// A device pointer: kernels may follow it, host code may not.
  T* data();
  const T* data() const;
  void upload(std::span<const T> host, std::size_t offset = 0);
  std::vector<T> download(std::size_t offset, std::size_t count) const;
  /// Copies `count` elements of other memory of the device, from `offset` on, to `target` on.
  void copy(const DeviceMemory& from, std::size_t offset, std::size_t count, std::size_t target);

 private:
  struct Storage;
  std::unique_ptr<Storage> storage_;
};

}  // namespace tempera::gpu
