#pragma once

#include <cstddef>
#include <memory>

namespace tempera::gpu {

/// Addresses that are reserved once, and to which memory is given later, wherever it is wanted
/// among them. So what is there stays where it is when more is wanted.
class AddressRange {
 public:
  /// A range as long as all memory of the device, and `spare` granules more. Nothing if this
  /// device, its driver or a limit of the process does not allow it.
  static std::unique_ptr<AddressRange> make(std::size_t spare);

  virtual ~AddressRange() = default;
  virtual std::byte* begin() = 0;
  /// All memory of the device, in bytes.
  virtual std::size_t memory() const = 0;
  /// What offsets and lengths are multiples of.
  virtual std::size_t granularity() const = 0;
  /// Gives memory to `bytes` bytes from `offset` on, which have none. They are zero.
  /// @throw std::bad_alloc, and then nothing has changed
  virtual void map(std::size_t offset, std::size_t bytes) = 0;
  /// Takes it away again: all that one call of map, or several, gave.
  virtual void unmap(std::size_t offset, std::size_t bytes) = 0;
};

}  // namespace tempera::gpu
