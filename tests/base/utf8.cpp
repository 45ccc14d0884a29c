#include "base/utf8.hpp"

#include "tests/law.hpp"

namespace tempera {

namespace {

const std::string replacement = "\xEF\xBF\xBD";

}  // namespace

TEST_CASE("ill-formed UTF-8 is found at its first byte", "[utf8]") {
  CHECK(first_invalid_utf8("") == 0);
  CHECK(first_invalid_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") == 10);
  for (const char* tail :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    const auto text = std::string("ab") + tail;
    CHECK(first_invalid_utf8(text) == 2);
    CHECK(utf8_character_length(tail) == 0);
  }
  CHECK(utf8_character_length("") == 0);
  CHECK(utf8_character_length("\xED\x9F\xBF") == 3);
  CHECK(utf8_character_length("\xF4\x8F\xBF\xBFz") == 4);
}

TEST_CASE("each maximal ill-formed part becomes one replacement character", "[utf8]") {
  // The example of the Unicode standard, section 3.9, table 3-11.
  CHECK(replace_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") ==
        replacement + replacement + replacement + replacement + "A");
  // And tables 3-8 and 3-9: overlong forms and surrogates, byte by byte.
  CHECK(replace_invalid_utf8("\xC0\xAF") == replacement + replacement);
  CHECK(replace_invalid_utf8("\xED\xA0\x80") == replacement + replacement + replacement);
  CHECK(replace_invalid_utf8("ok \xC3\xA9") == "ok \xC3\xA9");
}

TEST_CASE("replacing gives well-formed text, and keeps what is", "[utf8]") {
  law("the result has no ill-formed byte and a second pass changes nothing", [] {
    const auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    const auto text = replace_invalid_utf8(bytes);
    RC_ASSERT(first_invalid_utf8(text) == text.size());
    RC_ASSERT(replace_invalid_utf8(text) == text);
    RC_ASSERT((first_invalid_utf8(bytes) == bytes.size()) == (bytes == text));
  });
}

TEST_CASE("what a character still wants is seen at the end of a text", "[utf8]") {
  CHECK(unfinished_utf8("") == 0);
  CHECK(unfinished_utf8("abc\xC3\xA9") == 0);
  CHECK(unfinished_utf8("abc\xC3") == 1);
  CHECK(unfinished_utf8("\xF0\x9F\x98") == 3);
  CHECK(unfinished_utf8("\xF0\x9F\x98\xE2") == 1);
  // No byte to come makes a character of these.
  CHECK(unfinished_utf8("\xFF") == 0);
  CHECK(unfinished_utf8("\x80") == 0);
  CHECK(unfinished_utf8("\xED\xA0") == 0);
  law("it is what no continuation is needed for, and at most 3", [] {
    const auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    const auto left = unfinished_utf8(bytes);
    RC_ASSERT(left <= 3);
    // Cut before it, the text is replaced as if nothing followed.
    const auto whole = bytes.substr(0, bytes.size() - left);
    RC_ASSERT(replace_invalid_utf8(whole) + replace_invalid_utf8(bytes.substr(whole.size())) ==
              replace_invalid_utf8(bytes));
  });
}

TEST_CASE("white space is Unicode's, at either end", "[utf8]") {
  const std::string wide = "\xE2\x80\xA8\xE3\x80\x80 \t\xC2\x85\xC2\xA0";
  CHECK(leading_white_space(wide + "x") == wide.size());
  CHECK(trailing_white_space("x" + wide) == wide.size());
  CHECK(trailing_white_space(wide) == wide.size());
  CHECK(leading_white_space("\xE2\x80\x8B") == 0);  // a space of width zero is none
  CHECK(trailing_white_space("\x1F") == 0);
  CHECK(leading_white_space("") == 0);
  CHECK(trailing_white_space("") == 0);
}

TEST_CASE("normalisation composes", "[utf8]") {
  CHECK(normalize_nfc("e\xCC\x81") == "\xC3\xA9");
  CHECK(normalize_nfc("\xE2\x84\xAB") == "\xC3\x85");  // the Angstrom sign
  CHECK(normalize_nfc(std::string("a\0b", 3)) == std::string("a\0b", 3));
  CHECK(normalize_nfc("").empty());
}

}  // namespace tempera
