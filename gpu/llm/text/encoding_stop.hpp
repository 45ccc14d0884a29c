#pragma once

#include <functional>
#include <utility>

namespace tempera::gpu {

/// While an object of this class lives, its thread encodes no long text to its end once `stop`
/// says so, because its client has left. How a text is cut into tokens is the same with it and
/// without.
class EncodingStop {
 public:
  struct Stopped {};

  explicit EncodingStop(std::function<bool()> stop)
      : stop_(std::move(stop)), before_(std::exchange(current, this)) {}
  ~EncodingStop() { current = before_; }
  EncodingStop(const EncodingStop&) = delete;
  EncodingStop& operator=(const EncodingStop&) = delete;

  /// @throw Stopped if `stop` says so
  static void check() {
    if (current != nullptr && current->stop_()) throw Stopped{};
  }

 private:
  // A pointer: for an object with a destructor the first use in a thread needs memory, and the
  // system ends a process that has none.
  static inline thread_local constinit const EncodingStop* current = nullptr;
  std::function<bool()> stop_;
  const EncodingStop* before_;
};

}  // namespace tempera::gpu
