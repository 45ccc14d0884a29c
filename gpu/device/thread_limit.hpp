#pragma once

#include <cstddef>

namespace tempera::gpu {

/// Whether this build's kernels run on threads of the host: all but CUDA's do.
bool runs_on_host_threads();

/// While it lives, on_host_threads takes no more than this many threads. It changes no bit. Not to
/// be made or ended within on_host_threads.
class ThreadLimit {
 public:
  /// Range: threads >= 1.
  explicit ThreadLimit(std::size_t threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  std::size_t before_;
};

}  // namespace tempera::gpu
