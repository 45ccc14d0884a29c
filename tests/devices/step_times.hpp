#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/tried_forms.hpp"

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

/// One kernel of a step, as often as the step launches it.
struct KernelTime {
  std::string name;  ///< with its template arguments
  std::size_t launches = 0;
  double seconds = 0.0;  ///< of all of them
};

/// The kernels of one step, which step() queues, in the order in which they come first: by events
/// of CUDA as step_times, the median of five steps each, in a build for the host by a steady clock.
///
/// Nothing if the host queues a step more slowly than it is held.
std::optional<std::vector<KernelTime>> kernel_times(const CudaKernels& kernels,
                                                    const std::function<void()>& step);

/// The kernels that a figure of tensor cores is measured with: the device's own, and on a host
/// those of fibers.
const CudaKernels& measured_kernels();

/// Calls work() while the steps of these are in this form.
void with_form(const CudaKernels& kernels, StepForm form, const std::function<void()>& work);
/// The same; these have no joined layers.
void with_form(const CudaIntegerKernels& kernels, StepForm form, const std::function<void()>& work);

/// Calls work() while layers are joined, by the kernel of a trial.
void with_trial(const CudaKernels& kernels, JoinedTrial trial, const std::function<void()>& work);

/// Calls work() while the slots of steps are multiples of 8 (StepSlots::eights).
void with_slots_by_eights(const CudaKernels& kernels, const std::function<void()>& work);

/// Calls work() while the layers of a dense decoder are one kernel, in steps that it can take.
/// False, and no call, in a build for the host.
bool with_joined_layers(const CudaKernels& kernels, const std::function<void()>& work);

}  // namespace tempera::gpu
