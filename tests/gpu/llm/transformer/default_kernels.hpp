// The kernels that a test computes with if it asks for none.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "gpu/device/device.hpp"
#include "gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

/// make_default_kernels on the current device, made once and kept to the end of the program.
/// @throw as make_default_kernels
inline const Kernels& default_kernels(Arithmetic arithmetic = Arithmetic::float32) {
  static std::mutex mutex;
  static std::map<std::pair<Arithmetic, std::size_t>, std::shared_ptr<const Kernels>> kept;
  const std::scoped_lock lock(mutex);
  std::shared_ptr<const Kernels>& here = kept[{arithmetic, current_device().index}];
  if (!here) here = make_default_kernels(arithmetic);
  return *here;
}

}  // namespace tempera::gpu
