#include "serve/sessions/memory_reserve.hpp"

#include <sys/mman.h>

#include <atomic>
#include <exception>
#include <new>

namespace tempera::serve {
namespace {

/// The addresses themselves, which no allocator keeps for itself; null while they are gone.
std::atomic<void*> reserve = nullptr;

thread_local MemoryReserve::Thread this_thread = MemoryReserve::Thread::other;

void throw_or_give_back() {
  // A destructor that asks for memory while an exception is on its way would end the server.
  const bool is_unwinding = std::uncaught_exceptions() > 0;
  if (is_unwinding && MemoryReserve::give_back()) return;
  if (this_thread == MemoryReserve::Thread::draws) throw std::bad_alloc();
  if (!MemoryReserve::give_back() || this_thread == MemoryReserve::Thread::reads)
    throw std::bad_alloc();
}

}  // namespace

MemoryReserve::MemoryReserve() : before_(std::set_new_handler(throw_or_give_back)) { restore(); }

MemoryReserve::~MemoryReserve() {
  std::set_new_handler(before_);
  give_back();
}

bool MemoryReserve::give_back() {
  void* const held = reserve.exchange(nullptr);
  return held != nullptr && ::munmap(held, bytes) == 0;
}

void MemoryReserve::set_thread(Thread thread) { this_thread = thread; }

void MemoryReserve::restore() {
  if (reserve.load() != nullptr) return;
  void* const taken =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (taken == MAP_FAILED) return;
  void* expected = nullptr;
  if (!reserve.compare_exchange_strong(expected, taken)) ::munmap(taken, bytes);
}

}  // namespace tempera::serve
