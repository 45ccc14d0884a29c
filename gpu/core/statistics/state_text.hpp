#pragma once

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "gpu/core/statistics/foreign_state.hpp"

namespace tempera::gpu {

/// A state as the text that StateText reads: keys in alphabetical order, no spaces.
inline std::string text_of(const nlohmann::json& state) {
  return state.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Reads a saved state in the very text in which a checkpoint has it, from its beginning to its
/// end: the one reader of a state. A merge reads one for each of a million answers, which makes
/// values of JSON too slow.
class StateText {
 public:
  explicit StateText(std::string_view text) : left_(text) {}

  /// Whether the text goes on with `expected`, which is then passed.
  bool passes(std::string_view expected) {
    if (!left_.starts_with(expected)) return false;
    left_.remove_prefix(expected.size());
    return true;
  }
  /// @throw ForeignState unless the text goes on with `expected`
  void pass(std::string_view expected) {
    if (!passes(expected)) refuse();
  }
  /// A whole number in digits.
  /// @throw ForeignState if none is there
  std::uint64_t number() {
    // Most counts have one digit.
    if (left_.size() > 1 && is_digit(left_[0]) && !is_digit(left_[1])) {
      const auto digit = static_cast<std::uint64_t>(left_[0] - '0');
      left_.remove_prefix(1);
      return digit;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number);
    if (error != std::errc() || (left_.front() == '0' && end != left_.data() + 1)) refuse();
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return number;
  }
  bool boolean() {
    if (passes("true")) return true;
    pass("false");
    return false;
  }
  /// A list, whose entries `read` reads one by one; returns how many there are.
  template <class Read>
  std::size_t list(const Read& read) {
    pass("[");
    std::size_t count = 0;
    while (!passes("]")) {
      if (count > 0) pass(",");
      read(count++);
    }
    return count;
  }
  /// A list of exactly `count` entries.
  template <class Read>
  void list_of(std::size_t count, const Read& read) {
    const std::size_t found = list([&](std::size_t i) {
      if (i >= count) refuse();
      read(i);
    });
    if (found != count) refuse();
  }
  void end() const {
    if (!left_.empty()) refuse();
  }

 private:
  static bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
  [[noreturn]] static void refuse() { throw ForeignState("the text is not that of a state"); }

  std::string_view left_;
};

}  // namespace tempera::gpu
