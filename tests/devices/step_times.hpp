#pragma once

#include <functional>
#include <optional>

#include "gpu/transformer/kernels/cuda/cuda_kernels.hpp"

namespace tempera::gpu {

/// How long a device works on one step, without what is between steps.
struct StepTimes {
  double graph = 0.0;    ///< seconds from the beginning of its graph to the end
  double kernels = 0.0;  ///< sum of the seconds of its kernels, queued one by one
};

/// Measures both by events of CUDA around whatever step() queues on the stream of these kernels,
/// which must be one whole step. Until all of it is queued the stream is held, so that no time of
/// the host is in it; what two events with nothing between them measure is taken off each time. The
/// median of five steps.
///
/// Nothing if the host queues a step more slowly than it is held, and in a build for the host.
/// @throw std::runtime_error if the device refuses
std::optional<StepTimes> step_times(const CudaKernels& kernels, const std::function<void()>& step);

/// Calls work() while the layers of a dense decoder are one kernel, in steps that it can take.
/// False, and no call, in a build for the host.
bool with_joined_layers(const CudaKernels& kernels, const std::function<void()>& work);

}  // namespace tempera::gpu
