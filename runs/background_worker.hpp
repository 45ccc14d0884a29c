#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace tempera::gpu {

/// Does pieces of work on a thread of its own, one after the other, so that whoever gathers what
/// they need does not wait for the disk. After one that fails nothing more is done.
class BackgroundWorker {
 public:
  BackgroundWorker();
  /// What is still waiting is not done.
  ~BackgroundWorker();
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  /// Has `work` called after all that were added before; first waits until fewer than most_waiting
  /// wait.
  /// @throw what an earlier one has thrown
  void add(std::function<void()> work);
  /// Waits until all are done.
  /// @throw what one of them has thrown
  void finish();

  static constexpr std::size_t most_waiting = 4;

 private:
  void work_until_end();

  std::mutex mutex_;  ///< of what follows
  std::deque<std::function<void()>> waiting_;
  bool is_working_ = false;
  bool is_ending_ = false;
  std::exception_ptr failure_;
  std::condition_variable added_;
  std::condition_variable worked_;
  std::thread thread_;
};

inline BackgroundWorker::BackgroundWorker() : thread_([this] { work_until_end(); }) {}

inline BackgroundWorker::~BackgroundWorker() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    waiting_.clear();
  }
  added_.notify_all();
  thread_.join();
}

inline void BackgroundWorker::add(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  worked_.wait(lock, [this] { return failure_ || waiting_.size() < most_waiting; });
  if (failure_) std::rethrow_exception(failure_);
  waiting_.push_back(std::move(work));
  added_.notify_all();
}

inline void BackgroundWorker::finish() {
  std::unique_lock lock(mutex_);
  worked_.wait(lock, [this] { return failure_ || (waiting_.empty() && !is_working_); });
  if (failure_) std::rethrow_exception(failure_);
}

inline void BackgroundWorker::work_until_end() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    is_working_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    is_working_ = false;
    if (failure) {
      failure_ = failure;
      waiting_.clear();
    }
    worked_.notify_all();
  }
}

}  // namespace tempera::gpu
