#pragma once
// Replaces `new` of a test program by one that fails on demand: one source of a program may include
// this, and no other.

#include <cstddef>
#include <cstdlib>
#include <new>

namespace tempera::failing_new {

/// How many `new` of the calling thread still succeed.
inline thread_local std::size_t left = static_cast<std::size_t>(-1);

/// Where memory may come from that the allocator does not give, as in the program itself.
inline void* (*take_from_reserve)(std::size_t bytes) noexcept = nullptr;
inline bool (*give_back_to_reserve)(void* memory) noexcept = nullptr;

/// Lets `many` more succeed and all after them fail, until the end of its life.
class After {
 public:
  explicit After(std::size_t many) { left = many; }
  ~After() { left = static_cast<std::size_t>(-1); }
  After(const After&) = delete;
  After& operator=(const After&) = delete;
  static bool have_failed() { return left == 0; }
};

inline void* allocate(std::size_t bytes) {
  if (left == 0) {
    if (take_from_reserve != nullptr)
      if (void* const memory = take_from_reserve(bytes)) return memory;
    throw std::bad_alloc();
  }
  if (left != static_cast<std::size_t>(-1)) --left;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
inline void release(void* memory) noexcept {
  if (give_back_to_reserve == nullptr || !give_back_to_reserve(memory)) std::free(memory);
}

}  // namespace tempera::failing_new

void* operator new(std::size_t bytes) { return tempera::failing_new::allocate(bytes); }
// The library's own would call the one above, that of the sanitizers does not.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return tempera::failing_new::allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { tempera::failing_new::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { tempera::failing_new::release(memory); }
