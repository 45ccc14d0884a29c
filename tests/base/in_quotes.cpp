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

}  // namespace tempera
