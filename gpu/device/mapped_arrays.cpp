#include "gpu/device/mapped_arrays.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "gpu/device/device_memory.hpp"

namespace tempera::gpu {

MappedArrays::MappedArrays(const ArraysLayout& layout, std::unique_ptr<AddressRange> range)
    : layout_(layout),
      range_(std::move(range)),
      capacity_(range_->memory() / layout.bytes()),
      pitch_(in_granules(capacity_ * layout.element_bytes)),
      mapped_(layout.arrays()) {}

MappedArrays::~MappedArrays() {
  for (std::size_t array = 0; array < mapped_.size(); ++array) {
    if (mapped_[array] > 0) range_->unmap(array * pitch_, mapped_[array]);
  }
}

std::size_t MappedArrays::in_granules(std::size_t bytes) const {
  const std::size_t granularity = range_->granularity();
  return (bytes + granularity - 1) / granularity * granularity;
}

void MappedArrays::map_until(std::size_t array, std::size_t end) {
  if (end == mapped_[array]) return;
  count_growing_array();
  range_->map(array * pitch_ + mapped_[array], end - mapped_[array]);
}

std::size_t MappedArrays::grow(std::size_t elements) {
  count_device_allocation(elements * layout_.bytes());
  if (elements > capacity_) throw std::bad_alloc();
  std::vector<std::size_t> ends;
  std::size_t room = std::numeric_limits<std::size_t>::max();
  for (std::size_t array = 0; array < mapped_.size(); ++array) {
    const std::size_t bytes = layout_.element_bytes_of(array);
    ends.push_back(std::max(mapped_[array], in_granules(elements * bytes)));
    room = std::min(room, ends.back() / bytes);
  }
  std::size_t array = 0;
  try {
    for (; array < ends.size(); ++array) map_until(array, ends[array]);
  } catch (const std::bad_alloc&) {
    // What the arrays before this one were given goes back: it would be of no use to anybody.
    while (array-- > 0) {
      const std::size_t given = ends[array] - mapped_[array];
      if (given > 0) range_->unmap(array * pitch_ + mapped_[array], given);
    }
    throw;
  }
  mapped_ = std::move(ends);
  return room;
}

}  // namespace tempera::gpu
