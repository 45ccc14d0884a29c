#include "base/in_quotes.hpp"

#include "tests/catch.hpp"

namespace tempera {

TEST_CASE("text from a file is shown in one well-formed line", "[in_quotes]") {
  CHECK(in_quotes("a \xC3\xA9") == "\"a \xC3\xA9\"");
  CHECK(in_quotes("a\nb\tc\x7F") == "\"a?b?c?\"");
  CHECK(in_quotes("\xFF") == "\"\xEF\xBF\xBD\"");
  CHECK(in_quotes(std::string(81, 'x')) == "\"" + std::string(80, 'x') + "...\"");
  CHECK(in_quotes("") == "\"\"");
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
