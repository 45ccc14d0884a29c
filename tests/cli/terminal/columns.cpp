#include "cli/terminal/columns.hpp"

#include "tests/law.hpp"

using namespace tempera::cli;

TEST_CASE("a text is fitted by the columns that it takes, not by its bytes") {
  CHECK(fitted("abc", 3) == "abc");
  CHECK(fitted("abcd", 3) == "...");
  CHECK(fitted("abcdefgh", 6) == "abc...");
  CHECK(fitted("abcd", 2) == "..");
  CHECK(fitted("abcd", 0).empty());
  CHECK(columns_of("\xCE\xB1\xCE\xB2") == 2);
  CHECK(columns_of("\xE6\xBC\xA2") == 2);
  CHECK(fitted("\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", 6) ==
        "\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2");
  CHECK(fitted("\xE6\xBC\xA2\xE6\xBC\xA2\xE6\xBC\xA2", 5) == "\xE6\xBC\xA2...");
  CHECK(fitted("a\nb\x1B\xC2\x9B\xFF", 9) == "a?b??\xEF\xBF\xBD");
  law("what is fitted fits", [](const std::string& text, std::uint8_t columns) {
    RC_ASSERT(columns_of(fitted(text, columns)) <= columns);
  });
}

TEST_CASE("a number is written as short as it can be read back") {
  CHECK(decimal_of(1.6) == "1.6");
  CHECK(decimal_of(1048576.0) == "1048576");
  CHECK(decimal_of(2.0) == "2");
  law("it is read back", [](double value) { RC_ASSERT(std::stod(decimal_of(value)) == value); });
}
