#include "python/bindings/turns.hpp"

#include <set>

#include "base/error.hpp"
#include "python/bindings/bindings.hpp"

namespace tempera::python {
namespace {

std::atomic<unsigned> forks = 0;

/// Whether this thread holds all turns because it is forking. What Python destroys meanwhile, such
/// as a model, needs no further turn.
thread_local bool is_forking = false;

/// Those whose turn this thread had when it began to fork: it keeps them.
thread_local std::set<Turns*> kept_turns;

struct Registry {
  std::mutex mutex;
  std::set<Turns*> turns;
};
// Never destroyed: models may be there until the process exits.
Registry& registry() {
  static auto& all = *new Registry;
  return all;
}

/// Before a fork: waits until no thread computes with any model, and keeps all of them from it.
void wait_for_turns() {
  const nb::gil_scoped_release others;
  registry().mutex.lock();
  kept_turns.clear();
  for (Turns* const turns : registry().turns)
    if (turns->is_own())
      kept_turns.insert(turns);
    else
      turns->lock();
  is_forking = true;
}

/// After a fork, in both processes.
void forked(bool is_child) {
  is_forking = false;
  if (is_child) ++forks;
  for (Turns* const turns : registry().turns) {
    const bool is_kept = kept_turns.contains(turns);
    if (is_child)
      turns->reset(is_kept);
    else if (!is_kept)
      turns->unlock();
  }
  registry().mutex.unlock();
}

}  // namespace

unsigned generation() { return forks; }

Turns::Turns(bool survives_forks) : survives_forks_(survives_forks) {
  const std::lock_guard alone(registry().mutex);
  registry().turns.insert(this);
}

Turns::~Turns() {
  if (!is_forking) {
    const std::lock_guard alone(registry().mutex);
    registry().turns.erase(this);
  } else {
    registry().turns.erase(this);
  }
  delete state_;
}

void Turns::lock() {
  if (is_forking) return;
  if (!survives_forks_ && made_in_ != generation())
    throw DeviceError(
        "device cuda: a forked process does not have the GPU's context of its parent; open the "
        "model "
        "after the fork, or start processes by the method \"spawn\"");
  if (is_own())
    throw BadInput("model", "is called by what computes its logits",
                   "compute them without it, or with another model");
  std::unique_lock guard(state_->mutex);
  const std::uint64_t number = state_->last++;
  state_->changed.wait(guard, [&] { return number == state_->now; });
  owner_ = std::this_thread::get_id();
}

void Turns::unlock() {
  if (is_forking) return;
  owner_ = std::thread::id();
  const std::lock_guard guard(state_->mutex);
  ++state_->now;
  state_->changed.notify_all();
}

std::uint64_t Turns::asked() const {
  const std::lock_guard guard(state_->mutex);
  return state_->last;
}

void Turns::reset(bool is_locked) {
  state_ = new State;
  state_->last = is_locked ? 1 : 0;
  owner_ = is_locked ? std::this_thread::get_id() : std::thread::id();
}

void CallLock::lock() {
  if (owner_ == std::this_thread::get_id())
    throw BadInput("session", "is called in its own call, by what computes its model's logits",
                   "compute them without it");
  if (!mutex_.try_lock()) {
    if (held_in_ != generation())
      throw BadInput("session", "was in a call of another thread when this process was forked",
                     "open a session of its own in each process");
    mutex_.lock();
  }
  held_in_ = generation();
  owner_ = std::this_thread::get_id();
}

void bind_turns(nb::module_& module) {
  module.def("wait_for_turns", &wait_for_turns);
  module.def("forked", &forked, nb::arg("is_child"));
}

}  // namespace tempera::python
