#pragma once

#include "gpu/core/engine/engine.hpp"
#include "tempera/options.hpp"

namespace tempera::gpu {

/// How a session lays out its work, which changes no bit of any answer. `cache_memory` is counted
/// by cache_bytes_of_run, and resolve_cache_memory says what 0 means.
struct SessionOptions : tempera::SessionOptions {
  WorkOrder order = WorkOrder::first_come;
  /// True for shares of time, false for shares of rows (Engine::share_time).
  bool shares_time = false;
};

}  // namespace tempera::gpu
