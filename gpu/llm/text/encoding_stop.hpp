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
      : before_(std::exchange(current(), std::move(stop))) {}
  ~EncodingStop() { current() = std::move(before_); }
  EncodingStop(const EncodingStop&) = delete;
  EncodingStop& operator=(const EncodingStop&) = delete;

  /// @throw Stopped if `stop` says so
  static void check() {
    if (current() && current()()) throw Stopped{};
  }

 private:
  static std::function<bool()>& current() {
    thread_local std::function<bool()> stop;
    return stop;
  }
  std::function<bool()> before_;
};

}  // namespace tempera::gpu
