#include "base/in_quotes.hpp"

#include <utf8proc.h>

#include <set>
#include <string>

#include "tests/catch.hpp"

namespace tempera {

TEST_CASE("text from a file is shown in one well-formed line", "[in_quotes]") {
  CHECK(in_quotes("a \xC3\xA9") == "\"a \xC3\xA9\"");
  CHECK(in_quotes("a\nb\tc\x7F") == "\"a?b?c?\"");
  CHECK(in_quotes("\xFF") == "\"\xEF\xBF\xBD\"");
  CHECK(in_quotes(std::string(81, 'x')) == "\"" + std::string(80, 'x') + "...\"");
  CHECK(in_quotes("") == "\"\"");
}

// Against Unicode's own table: controls, ends of lines and paragraphs, and what turns a direction.
TEST_CASE("no character that is shown moves the cursor, ends the line or turns what follows",
          "[in_quotes]") {
  const std::set<int> turning{
      UTF8PROC_BIDI_CLASS_LRE, UTF8PROC_BIDI_CLASS_LRO, UTF8PROC_BIDI_CLASS_RLE,
      UTF8PROC_BIDI_CLASS_RLO, UTF8PROC_BIDI_CLASS_PDF, UTF8PROC_BIDI_CLASS_LRI,
      UTF8PROC_BIDI_CLASS_RLI, UTF8PROC_BIDI_CLASS_FSI, UTF8PROC_BIDI_CLASS_PDI};
  std::size_t hidden = 0;
  for (utf8proc_int32_t code = 0; code <= 0x10FFFF; ++code) {
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(code, bytes);
    if (size <= 0 || (code >= 0xD800 && code <= 0xDFFF)) continue;
    const std::string character(reinterpret_cast<const char*>(bytes),
                                static_cast<std::size_t>(size));
    const auto category = utf8proc_category(code);
    const bool turns = turning.contains(static_cast<int>(utf8proc_get_property(code)->bidi_class));
    const bool is_hidden = turns || category == UTF8PROC_CATEGORY_CC ||
                           category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
    hidden += is_hidden ? 1 : 0;
    if (in_quotes(character) == (is_hidden ? "\"?\"" : '"' + character + '"')) continue;
    CAPTURE(code, is_hidden);
    FAIL_CHECK("a character is shown otherwise");
  }
  CHECK(hidden == 65 + 2 + 9);
}

TEST_CASE("a word of a command is what a shell reads as it", "[in_quotes]") {
  CHECK(as_shell_word("runs/a-1_b.c=2:3") == "runs/a-1_b.c=2:3");
  CHECK(as_shell_word("my run") == "'my run'");
  CHECK(as_shell_word("$(x)`y`") == "'$(x)`y`'");
  CHECK(as_shell_word("it's") == "'it'\\''s'");
  CHECK(as_shell_word("") == "''");
  CHECK(as_shell_word("*") == "'*'");
  CHECK(as_shell_word("~") == "'~'");
  CHECK(as_shell_word("\xC3\xA9") == "'\xC3\xA9'");
}

}  // namespace tempera
