#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace tempera::gpu {

/// A line of JSON, written piece by piece: a document of a JSON library takes several times as
/// long, and a run writes some for every round.
class JsonLine {
 public:
  JsonLine& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  JsonLine& operator<<(std::uint64_t number) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text_.append(digits.data(), end);
    return *this;
  }
  JsonLine& boolean(bool value) { return *this << std::string_view(value ? "true" : "false"); }
  /// The characters of nlohmann's dump: the shortest that give the number back; null unless it is
  /// finite.
  JsonLine& real(double number) {
    if (!std::isfinite(number)) return *this << "null";
    std::array<char, 64> digits;
    char* const end =
        nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), number);
    text_.append(digits.data(), end);
    return *this;
  }
  /// "[a,b]" of numbers; `spelt` writes one.
  template <class Numbers, class Spelt>
  JsonLine& list(const Numbers& numbers, const Spelt& spelt) {
    text_ += '[';
    bool is_first = true;
    for (const auto& number : numbers) {
      if (!is_first) text_ += ',';
      is_first = false;
      spelt(number);
    }
    text_ += ']';
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace tempera::gpu
