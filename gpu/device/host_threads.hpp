#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu {

/// Calls work(context, item) for every item < items on the host's threads, in any order. If it
/// is called from within such a call, or beside one, the caller does all of it.
/// @throw what one of the calls of `work` throws; which of the others were made is open
void on_host_threads(std::size_t items, void (*work)(const void* context, std::size_t item),
                     const void* context);

/// Sets how many threads on_host_threads has, the caller's among them. Returns how many it had.
/// Range: threads >= 1.
std::size_t limit_host_threads(std::size_t threads);

/// Memory of the calling thread, aligned to 64 bytes; valid until it asks again.
float* host_scratch(std::size_t floats);

inline namespace TEMPERA_INSTRUCTION_SET {

/// Calls kernel(item) for every item < items, as above. What is compiled for each instruction set
/// is the kernel alone: the threads are started by code that every machine can run.
template <class Kernel>
void on_host_threads(std::size_t items, const Kernel& kernel) {
  on_host_threads(
      items,
      [](const void* context, std::size_t item) { (*static_cast<const Kernel*>(context))(item); },
      &kernel);
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
