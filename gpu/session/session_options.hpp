#pragma once

#include <functional>

#include "gpu/core/engine/engine.hpp"
#include "tempera/options.hpp"

namespace tempera::gpu {

/// How a session lays out its work, which changes no bit of any answer. `cache_memory` is counted
/// by cache_bytes_of_run, and resolve_cache_memory says what 0 means.
struct SessionOptions : tempera::SessionOptions {
  WorkOrder order = WorkOrder::first_come;
  /// The clock, in seconds, by which clients have equal parts of the time (Engine::share_time);
  /// none: they have equal parts of the rows.
  std::function<double()> clock = {};
};

}  // namespace tempera::gpu
