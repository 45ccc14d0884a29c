#pragma once

#include <cstddef>
#include <memory>

namespace tempera::gpu::simt {

/// A line of execution with a stack of its own. One of them, the host's, has the stack of the
/// thread that it was made on.
class Fiber {
 public:
  /// The fiber that is running when it is made.
  Fiber();
  /// A fiber that runs entry() when it is first switched to; entry must never return.
  explicit Fiber(void (*entry)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Makes it run entry() from the beginning at the next switch to it, whatever it was doing: what
  /// lay on its stack is forgotten, not destroyed.
  void restart();
  /// Goes on with `to`; returns when something switches back. `this` is the running fiber.
  void switch_to(Fiber& to);
  /// To be called first in entry().
  void entered();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tempera::gpu::simt
