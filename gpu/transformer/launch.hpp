#pragma once

#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include <cstddef>

#include "gpu/transformer/packed_matrix.hpp"

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)
/// Output features that one work item computes: a thread carries one lane of a block,
constexpr std::size_t item_lanes = 1;
#else
/// Output features that one work item computes: a vector register carries all lanes of a block.
constexpr std::size_t item_lanes = lanes;
#endif

/// Calls kernel(item) for every item < items, in any order and in parallel.
template <class Kernel>
void launch(std::size_t items, const Kernel& kernel) {
  thrust::for_each_n(thrust::device, thrust::counting_iterator<std::size_t>(0), items, kernel);
}

}  // namespace tempera::gpu
