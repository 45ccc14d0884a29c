#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tempera::serve {

/// One thread beside the connections' own: it reads bodies and encodes prompts, which may take
/// long, so that small requests never wait for large ones.
class Intake {
 public:
  explicit Intake(std::size_t most_waiting) : most_waiting_(most_waiting) {}
  /// Drops what waits and joins the thread.
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// Runs `job` later; false if as many as may wait do so already. Jobs must not throw.
  bool post(std::function<void()> job);

 private:
  void run();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::function<void()>> jobs_;
  bool is_stopping_ = false;
  std::thread thread_{[this] { run(); }};
};

}  // namespace tempera::serve
