#pragma once

#include <cstddef>

#include "gpu/engine/engine.hpp"
#include "gpu/session/defaults.hpp"

namespace tempera::gpu {

/// How a session lays out its work, which changes no bit of any answer.
struct SessionOptions {
  std::size_t largest_batch = defaults::batch;  ///< the most records of one forward pass. @pre >= 1
  /// How many samples are under way at once. One holds a cache for each of its replicas, so this
  /// bounds the memory; more than largest_batch / K of them keep the batches full. @pre >= 1
  std::size_t in_flight = defaults::under_way;
  /// The most bytes that caches may take, by cache_bytes_of_run; 0: as resolve_cache_memory has
  /// it.
  std::size_t cache_memory = 0;
  WorkOrder order = WorkOrder::first_come;
};

}  // namespace tempera::gpu
