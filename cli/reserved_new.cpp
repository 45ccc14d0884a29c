// The program's `new`: where the allocator has nothing, whoever may has the reserve of the server.
#include <cstdlib>
#include <new>

#include "base/memory_reserve.hpp"

namespace {

using tempera::MemoryReserve;

void* allocate(std::size_t bytes) {
  for (;;) {
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    if (void* const memory = MemoryReserve::take(bytes)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void release(void* memory) noexcept {
  if (!MemoryReserve::give_back(memory)) std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
// The library's own would call the one above, that of the sanitizers does not.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
