#include "reference/in_quotes.hpp"

#include "tests/catch.hpp"

using tempera::reference::in_quotes;

TEST_CASE("text is quoted on one line whatever its bytes") {
  CHECK(in_quotes("a b") == "\"a b\"");
  CHECK(in_quotes("a\nb") == "\"a\\nb\"");
  CHECK(in_quotes("\xff") == "\"\xef\xbf\xbd\"");
  CHECK(in_quotes(std::string(200, 'x')) == "\"" + std::string(80, 'x') + "...\"");
}
