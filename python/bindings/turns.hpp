#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace tempera::python {

/// Lets one thread at a time compute with a model, in the order in which the threads came: one that
/// steps in a loop does not keep the others from theirs.
///
/// All sessions of a model, and its scores, share the model's pages, buffers and step. So on the
/// host each model has its own Turns, and threads with a model each compute at once.
///
/// On CUDA all models of the process have the same Turns (turns_of_new_model). A GPU does one thing
/// at a time anyway, and what one model allocates makes the others record their steps again.
///
/// No thread waits for its turn with the GIL, or for the GIL in its turn. So no two wait for each
/// other, and no object that Python destroys is destroyed in the turn of the same thread.
class Turns {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    const std::uint64_t number = last_++;
    changed_.wait(guard, [&] { return number == now_; });
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    ++now_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t last_ = 0;  ///< the number of the next thread that comes
  std::uint64_t now_ = 0;   ///< the number of the thread whose turn it is
};

/// The turns of a model that is opened now.
std::shared_ptr<Turns> turns_of_new_model();

/// A turn of a thread, until the object's end.
using Turn = std::unique_lock<Turns>;

/// Leaves a turn to others, and to Python, until the object's end, and waits for the next one then.
class Pause {
 public:
  explicit Pause(Turn& turn) : turn_(turn) { turn_.unlock(); }
  ~Pause() { turn_.lock(); }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  Turn& turn_;
};

}  // namespace tempera::python
