// White space around a turn, for every character.
#include "gpu/llm/text/chat_families.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace tempera::gpu::chat_families_test {
namespace {

std::string utf8_of(std::uint32_t code) {
  std::string text;
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) {
    text += static_cast<char>(0xC0U | code >> 6U);
  } else {
    text += static_cast<char>(0xE0U | code >> 12U);
    text += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
  }
  return text + static_cast<char>(0x80U | (code & 0x3FU));
}

/// str.isspace of Python, of one character.
bool is_space_of_python(std::uint32_t code) {
  return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 ||
         code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

}  // namespace

TEST_CASE("the families that trim a turn trim what Python's strip does, and no other character",
          "[chat_format]") {
  struct Trimmed {
    ChatStyle style;
    std::string before;
    std::string after;
  };
  for (const auto& [style, before, after] :
       {Trimmed{ChatStyle::llama3, "user<|end_header_id|>\n\n", "<|eot_id|>"},
        Trimmed{ChatStyle::llama31, "user<|end_header_id|>\n\n", "<|eot_id|>"},
        Trimmed{ChatStyle::qwen35, "<|im_start|>user\n", "<|im_end|>"}}) {
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
      if (code >= 0xD800 && code < 0xE000) continue;
      const std::string mark = utf8_of(code);
      const std::vector<ChatMessage> turns{{"user", mark + mark + "x" + mark + "y" + mark}};
      const std::string text = write_conversation(style, {turns, "", "", ""});
      const std::string inner = "x" + mark + "y";
      const std::string kept = is_space_of_python(code) ? inner : mark + mark + inner + mark;
      if (text.find(before + kept + after) != std::string::npos) continue;
      CAPTURE(code, text);
      FAIL_CHECK("a turn is trimmed otherwise");
    }
  }
}

}  // namespace tempera::gpu::chat_families_test
