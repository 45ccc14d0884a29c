#pragma once

#include <cstddef>
#include <memory>

namespace tempera::gpu {

/// Whether this build's kernels run on several threads of the host: neither CUDA's nor plain C++.
bool runs_on_host_threads();

/// While it lives, what runs on the host's threads takes no more than this many of them. It changes
/// no bit.
class ThreadLimit {
 public:
  /// Range: threads >= 1. TBB takes no more than there are processors.
  explicit ThreadLimit(std::size_t threads);

 private:
  std::shared_ptr<void> limit_;  ///< what takes it back
};

}  // namespace tempera::gpu
