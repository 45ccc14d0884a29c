#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/http/exchange.hpp"

namespace tempera::serve {

/// The most that may wait for an Intake or be worked on by it; more is refused.
struct IntakeLimits {
  std::size_t jobs = 1024;
  std::size_t bytes = std::size_t{128} << 20;  ///< of bodies together; a single one is always taken
  std::size_t small_bytes = std::size_t{64} << 10;  ///< a larger body is a large one
  std::size_t threads = 4;                          ///< @pre >= 2
};

/// Knows whether the client of an exchange has left, and reports it. Any thread may call.
class Leaving {
 public:
  /// Asks the exchange, whose on_leave() is this object's from then on.
  static std::shared_ptr<Leaving> watch(Exchange& exchange);
  bool has_left() const;
  /// Calls `then` when the client leaves; at once if it has left.
  void call(std::function<void()> then);

 private:
  void leave();

  mutable std::mutex mutex_;
  bool has_left_ = false;
  std::function<void()> then_;
};

/// Threads beside the connections' own: they read bodies and encode prompts, which may take long.
/// One of them takes small bodies alone, so that these never wait for large ones. The request of
/// a client that leaves before its turn is dropped.
class Intake {
 public:
  /// @throw std::system_error if the system gives too few threads
  explicit Intake(const IntakeLimits& limits);
  /// Drops what waits and joins the threads.
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// Reads a body. Must not throw; one that ends by std::bad_alloc is dropped.
  using Work = std::function<void(Leaving&)>;

  /// Does `work` later, on one of the threads, unless the exchange's client has left by then, or
  /// leaves while it encodes a text, when it calls `left`; false if as much as may wait does so
  /// already. Whoever wants to know later that the client leaves asks Leaving.
  bool post(const std::shared_ptr<Exchange>& exchange, Work work, std::function<void()> left = {});

 private:
  struct Job {
    std::size_t bytes = 0;
    std::shared_ptr<Leaving> leaving;
    Work work;
    std::function<void()> left;
  };

  /// Drops what waits and joins the threads.
  void stop();
  /// Takes jobs until the end.
  void work(bool takes_large);

  const IntakeLimits limits_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Job> small_;
  std::deque<Job> large_;
  std::size_t jobs_ = 0;   ///< that wait or are worked on
  std::size_t bytes_ = 0;  ///< of these
  bool is_stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tempera::serve
