#pragma once

#include <cstddef>
#include <optional>

namespace tempera::gpu {

/// While an object of this class lives, its thread encodes no text to its end that surely has more
/// than so many tokens: whoever has no use for it need not wait for it. How a text is cut into
/// tokens is the same with it and without.
class TokenLimit {
 public:
  /// A text has more tokens than may be; how many, nobody has counted.
  struct Exceeded {};

  explicit TokenLimit(std::size_t most) : before_(current()) { current() = most; }
  ~TokenLimit() { current() = before_; }
  TokenLimit(const TokenLimit&) = delete;
  TokenLimit& operator=(const TokenLimit&) = delete;

  /// @throw Exceeded for a number of tokens that is beyond twice the limit. Up to there a text is
  /// encoded whole, so that errors can say how long it is.
  static void check_count(std::size_t tokens) {
    if (current() && tokens / 2 > *current()) throw Exceeded{};
  }
  /// The same for one word that has at least so many: it takes the longest to encode.
  static void check_word(std::size_t tokens) {
    if (current() && tokens > *current()) throw Exceeded{};
  }
  static bool is_set() { return current().has_value(); }

 private:
  static std::optional<std::size_t>& current() {
    thread_local std::optional<std::size_t> most;
    return most;
  }
  const std::optional<std::size_t> before_;
};

}  // namespace tempera::gpu
