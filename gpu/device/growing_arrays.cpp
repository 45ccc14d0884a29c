#include "gpu/device/growing_arrays.hpp"

#include <utility>

#include "gpu/device/address_range.hpp"
#include "gpu/device/copied_arrays.hpp"
#include "gpu/device/mapped_arrays.hpp"

namespace tempera::gpu {

namespace {

std::unique_ptr<ArraysMemory> make_memory(const ArraysLayout& layout) {
  auto range = AddressRange::make(layout.arrays());
  if (range) return std::make_unique<MappedArrays>(layout, std::move(range));
  return std::make_unique<CopiedArrays>(layout);
}

}  // namespace

void GrowingArrays::grow(std::size_t elements) {
  if (elements == elements_) return;
  if (!memory_) memory_ = make_memory(layout_);
  elements_ = memory_->grow(elements);
}

}  // namespace tempera::gpu
