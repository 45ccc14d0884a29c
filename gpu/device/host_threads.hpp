#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu {

/// Calls work(context, item) for every item < items on the host, in any order and in parallel where
/// Thrust's device system is threads of the host.
void on_host_threads(std::size_t items, void (*work)(const void* context, std::size_t item),
                     const void* context);

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
