#pragma once

#include <cstddef>

#include "gpu/llm/transformer/cache/page_part.hpp"

namespace tempera::gpu {

/// So many pages, their arrays side by side: pages · layout.bytes() bytes.
inline PageMemory pages_at(void* bytes, std::size_t pages, const ArraysLayout& layout) {
  return {static_cast<std::byte*>(bytes), pages * layout.element_bytes, layout};
}

}  // namespace tempera::gpu
