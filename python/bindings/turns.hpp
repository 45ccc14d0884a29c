#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace tempera::python {

/// How often this process was forked, counted from its first ancestor on: what is older than a fork
/// may have been in the hands of a thread that the child does not have.
unsigned generation();

/// Lets one thread at a time compute with a model, in the order in which the threads came: one that
/// steps in a loop does not keep the others from theirs.
///
/// All sessions of a model, and its scores, share the model's pages, buffers and step. So on the
/// host each model has its own Turns, and threads with a model each compute at once.
///
/// On CUDA all models of the process have the same Turns (turns_of_new_model). A GPU does one thing
/// at a time anyway, and what one model allocates makes the others record their steps again.
///
/// No thread waits for its turn with the GIL, so no two wait for each other. A pass of a model that
/// Python computes waits for the GIL in its turn, and what Python does then is in that turn: it may
/// destroy sessions of the model (LastTurn) and fork, but not call the model.
///
/// A thread that forks first takes a turn of every model, so no pass is half made in the child; the
/// child then has fresh turns, since the threads that waited for one are not there.
class Turns {
 public:
  /// @param survives_forks false for models on a device, whose context a child does not inherit
  explicit Turns(bool survives_forks);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// @throw DeviceError in a forked process that does not inherit the device
  /// @throw BadInput if the thread has the turn already: a model that is called by what computes it
  void lock();
  void unlock();
  /// How many turns threads have asked for so far.
  std::uint64_t asked() const;
  bool is_own() const { return owner_ == std::this_thread::get_id(); }
  /// Begins anew in a child; in the turn of this thread, if it had it before it forked.
  void reset(bool is_locked);

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t last = 0;  ///< the number of the next thread that comes
    std::uint64_t now = 0;   ///< the number of the thread whose turn it is
  };
  std::atomic<std::thread::id> owner_ = std::thread::id();  ///< of whom the turn is
  State* state_ = new State;  // of a parent: its waiting threads are never woken in the child
  const bool survives_forks_;
  const unsigned made_in_ = generation();
};

/// The turns of a model that is opened now.
std::shared_ptr<Turns> turns_of_new_model();

/// A turn of a thread, until the object's end.
using Turn = std::unique_lock<Turns>;

/// A turn in which something ends, or the turn that the thread is in.
class LastTurn {
 public:
  explicit LastTurn(Turns& turns) {
    if (!turns.is_own()) turn_.emplace(turns);
  }

 private:
  std::optional<Turn> turn_;
};

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

/// A mutex of calls of one object. In a forked process it refuses what another thread was calling.
class CallLock {
 public:
  /// @throw BadInput in a child, if a thread of the parent held it when the process was forked, and
  /// in a call that this thread is in already
  void lock();
  void unlock() {
    owner_ = std::thread::id();
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_ = std::thread::id();
  std::atomic<unsigned> held_in_ = 0;  ///< the generation of the thread that locked it last
};

}  // namespace tempera::python
