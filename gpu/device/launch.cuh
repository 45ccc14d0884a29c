#pragma once

#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>

#include <cstddef>

namespace tempera::gpu {

/// Calls kernel(item) for every item < items, in any order and in parallel.
template <class Kernel>
void launch(std::size_t items, const Kernel& kernel) {
  thrust::for_each_n(thrust::device, thrust::counting_iterator<std::size_t>(0), items, kernel);
}

}  // namespace tempera::gpu
