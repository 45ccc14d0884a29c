#include "cli/terminal/columns.hpp"

#include <nlohmann/json.hpp>

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

TEST_CASE("JSON gets a space after each comma between its values, and none within a text") {
  law("any texts", [] {
    const auto letter = rc::gen::element('a', '"', '\\', ',', ' ', '{', '[', ':');
    const auto texts =
        *rc::gen::container<std::vector<std::string>>(rc::gen::container<std::string>(letter));
    const auto joined = [&](char open, char close, const auto& item) {
      std::string list(1, open);
      for (std::size_t i = 0; i < texts.size(); ++i) list += (i > 0 ? ", " : "") + item(i);
      return list + close;
    };
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      list.push_back(texts[i]);
      object[std::to_string(i) + texts[i]] = texts[i];
    }
    const auto written = [](const std::string& text) {
      return nlohmann::ordered_json(text).dump();
    };
    RC_ASSERT(spaced_json(list.dump()) ==
              joined('[', ']', [&](std::size_t i) { return written(texts[i]); }));
    RC_ASSERT(spaced_json(object.dump()) == joined('{', '}', [&](std::size_t i) {
                return written(std::to_string(i) + texts[i]) + ":" + written(texts[i]);
              }));
  });
}
