#pragma once

#include <string>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/kernels/cuda/timed_plans.hpp"
#include "gpu/llm/transformer/weights/matrix_view.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// What times plans of this product of the matrix, on a stream and in memory of its own, which go
/// with it: each launch finds its weights in memory, not in a cache. Nothing on fibers, which have
/// no time.
TimePlan plan_clock(const MatrixView& matrix, const ProductCase& product);

/// What plans are kept by: the device, its driver and this build. Nothing on fibers.
std::string name_of_plans();

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
