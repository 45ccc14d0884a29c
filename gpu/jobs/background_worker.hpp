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

/// Writes on a thread of its own, one after the other, so that whoever gathers the bytes need not
/// wait for the disk. After one that fails nothing more is written.
class BackgroundWriter {
 public:
  BackgroundWriter();
  /// What is still waiting is not written.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Has `write` called after all that were added before; first waits until fewer than most_waiting
  /// wait.
  /// @throw what an earlier one has thrown
  void add(std::function<void()> write);
  /// Waits until all are written.
  /// @throw what one of them has thrown
  void finish();

  static constexpr std::size_t most_waiting = 4;

 private:
  void write_until_end();

  std::mutex mutex_;  ///< of what follows
  std::deque<std::function<void()>> waiting_;
  bool is_writing_ = false;
  bool is_ending_ = false;
  std::exception_ptr failure_;
  std::condition_variable added_;
  std::condition_variable written_;
  std::thread thread_;
};

inline BackgroundWriter::BackgroundWriter() : thread_([this] { write_until_end(); }) {}

inline BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    waiting_.clear();
  }
  added_.notify_all();
  thread_.join();
}

inline void BackgroundWriter::add(std::function<void()> write) {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [this] { return failure_ || waiting_.size() < most_waiting; });
  if (failure_) std::rethrow_exception(failure_);
  waiting_.push_back(std::move(write));
  added_.notify_all();
}

inline void BackgroundWriter::finish() {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [this] { return failure_ || (waiting_.empty() && !is_writing_); });
  if (failure_) std::rethrow_exception(failure_);
}

inline void BackgroundWriter::write_until_end() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> write = std::move(waiting_.front());
    waiting_.pop_front();
    is_writing_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      write();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    is_writing_ = false;
    if (failure) {
      failure_ = failure;
      waiting_.clear();
    }
    written_.notify_all();
  }
}

}  // namespace tempera::gpu
