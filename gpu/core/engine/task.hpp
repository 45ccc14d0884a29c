#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

namespace tempera::gpu {

/// A sampler, or a step of one, as a coroutine: starts when awaited (or by start), and hands
/// control back to the one that awaits it when it ends. An exception inside it reaches the one that
/// awaits.
class [[nodiscard]] Task {
 public:
  struct promise_type {
    std::coroutine_handle<> continuation = std::noop_coroutine();
    std::exception_ptr exception;

    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct HandBack {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
        return done.promise().continuation;
      }
      void await_resume() noexcept {}
    };
    HandBack final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { exception = std::current_exception(); }
  };

  Task(Task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      coroutine_ = std::exchange(other.coroutine_, {});
    }
    return *this;
  }
  ~Task() { destroy(); }

  void start() { coroutine_.resume(); }
  bool done() const { return coroutine_.done(); }
  /// Hands control to `awaiting` when a task that has started ends. Range: not done.
  void hand_on_to(std::coroutine_handle<> awaiting) {
    coroutine_.promise().continuation = awaiting;
  }
  /// What the coroutine threw, or nothing.
  const std::exception_ptr& failure() const { return coroutine_.promise().exception; }
  /// @throw whatever the coroutine threw
  void rethrow() const {
    if (coroutine_.promise().exception) std::rethrow_exception(coroutine_.promise().exception);
  }

  struct Awaiter {
    std::coroutine_handle<promise_type> coroutine;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
      coroutine.promise().continuation = awaiting;
      return coroutine;
    }
    void await_resume() const {
      if (coroutine.promise().exception) std::rethrow_exception(coroutine.promise().exception);
    }
  };
  Awaiter operator co_await() const { return Awaiter{coroutine_}; }

 private:
  friend class AllOf;
  explicit Task(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
  void destroy() {
    if (coroutine_) coroutine_.destroy();
  }
  std::coroutine_handle<promise_type> coroutine_;
};

/// Awaits several tasks at once, so that the engine can answer their requests in one batch. Ends
/// when all have ended; then rethrows the first exception in the order of the tasks.
class AllOf {
 public:
  explicit AllOf(std::vector<Task> tasks) : tasks_(std::move(tasks)) {}

  bool await_ready() const noexcept { return tasks_.empty(); }
  bool await_suspend(std::coroutine_handle<> awaiting) {
    // One more than there are tasks: whoever ends last, a task or this loop, goes on.
    open_ = tasks_.size() + 1;
    awaiting_ = awaiting;
    notices_.reserve(tasks_.size());
    for (Task& task : tasks_) {
      notices_.push_back(notify());
      notices_.back().handle.promise().all = this;
      task.coroutine_.promise().continuation = notices_.back().handle;
      task.coroutine_.resume();
    }
    return --open_ != 0;
  }
  void await_resume() const {
    for (const Task& task : tasks_) task.rethrow();
  }

 private:
  /// A coroutine that, when resumed by the end of a task, counts it off; at its own end it hands
  /// control to the awaiting coroutine if it was the last. It does so from its final suspension, so
  /// that the awaiting coroutine may destroy it.
  struct Notice {
    struct promise_type {
      AllOf* all = nullptr;
      Notice get_return_object() {
        return Notice(std::coroutine_handle<promise_type>::from_promise(*this));
      }
      std::suspend_always initial_suspend() noexcept { return {}; }
      struct CountOff {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> notice) noexcept {
          AllOf& waiting = *notice.promise().all;
          if (--waiting.open_ == 0) return waiting.awaiting_;
          return std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      CountOff final_suspend() noexcept { return {}; }
      void return_void() {}
      void unhandled_exception() { std::terminate(); }
    };
    explicit Notice(std::coroutine_handle<promise_type> coroutine) : handle(coroutine) {}
    Notice(Notice&& other) noexcept : handle(std::exchange(other.handle, {})) {}
    ~Notice() {
      if (handle) handle.destroy();
    }
    std::coroutine_handle<promise_type> handle;
  };
  static Notice notify() { co_return; }

  std::vector<Task> tasks_;
  std::vector<Notice> notices_;
  std::size_t open_ = 0;
  std::coroutine_handle<> awaiting_;
};

inline AllOf all(std::vector<Task> tasks) { return AllOf(std::move(tasks)); }

}  // namespace tempera::gpu
