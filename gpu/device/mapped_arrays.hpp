#pragma once

#include <memory>
#include <vector>

#include "gpu/device/address_range.hpp"
#include "gpu/device/arrays_memory.hpp"

namespace tempera::gpu {

/// Arrays that grow where they are: each has addresses for as many elements as all memory of the
/// device would hold, and memory is given to what comes after its own. Nothing is copied, no byte
/// is held twice, and pointers stay good. At most one granule an array is not used.
class MappedArrays final : public ArraysMemory {
 public:
  /// range: of layout.arrays() spare granules
  MappedArrays(const ArraysLayout& layout, std::unique_ptr<AddressRange> range);
  ~MappedArrays() override;
  MappedArrays(const MappedArrays&) = delete;
  MappedArrays& operator=(const MappedArrays&) = delete;

  std::byte* data() override { return range_->begin(); }
  std::size_t pitch() const override { return pitch_; }
  std::size_t grow(std::size_t elements) override;

 private:
  std::size_t in_granules(std::size_t bytes) const;
  /// Gives an array memory up to `end`, beyond what it has.
  void map_until(std::size_t array, std::size_t end);

  ArraysLayout layout_;
  std::unique_ptr<AddressRange> range_;
  std::size_t capacity_;  // elements that addresses are reserved for
  std::size_t pitch_;
  std::vector<std::size_t> mapped_;  // bytes of each array that have memory
};

}  // namespace tempera::gpu
