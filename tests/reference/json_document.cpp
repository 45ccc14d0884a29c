#include "reference/json_document.hpp"

#include <nlohmann/json.hpp>

#include "reference/bad_input.hpp"
#include "tests/catch.hpp"

using namespace tempera::reference;

namespace {

// What a reader refuses, after the name of its file.
std::string refusal(const auto& read) {
  try {
    read();
  } catch (const BadInput& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    CHECK_THAT(message, Catch::StartsWith("m.json"));
    return message;
  }
  return "nothing";
}

std::string refusal_of(const std::string& text) {
  return refusal([&] { parse_json(text, "m.json"); });
}

}  // namespace

TEST_CASE("one JSON value is read and nothing else") {
  CHECK(parse_json(R"( {"a": [1, "b"]} )", "m.json")["a"][1] == "b");
  for (const std::string document : {"{}", "[1]", "7", "\"a\""}) {
    for (const std::string& rest :
         {std::string(1, '\0'), std::string("\0 trailing", 10), std::string("\n\0{}", 4),
          std::string("x"), std::string(" {}")}) {
      CAPTURE(document, rest);
      CHECK_THAT(refusal_of(document + rest), Catch::Contains("malformed JSON; correct"));
    }
  }
  CHECK_THAT(refusal_of(std::string("{}\n\0x", 5)), Catch::StartsWith("m.json, line 2, column 1:"));
  CHECK_THAT(refusal_of("[1,\n 2,\n x]"), Catch::StartsWith("m.json, line 3, column 2:"));
  CHECK_THAT(refusal_of("\"\xc3(\""), Catch::Contains("malformed JSON"));
  CHECK_THAT(refusal_of("[1e999]"), Catch::Contains("a JSON number is too large"));
}

TEST_CASE("nesting has an end") {
  CHECK_NOTHROW(parse_json(std::string(32, '[') + std::string(32, ']'), "m.json"));
  CHECK_THAT(refusal_of(std::string(33, '[') + std::string(33, ']')),
             Catch::Contains("nested deeper than 32"));
  CHECK_THAT(refusal_of(std::string(1'000'000, '[')), Catch::Contains("nested deeper than 32"));
}

TEST_CASE("a key given twice is named with its object") {
  CHECK_THAT(refusal_of(R"({"a": 1, "a": 1})"),
             Catch::Contains("the key \"a\" is given twice in one object"));
  CHECK_THAT(refusal_of(R"({"a": {"b": [{"c": 1}, {"c": 1, "d": {}, "c": 2}]}})"),
             Catch::Contains("the key \"c\" is given twice in \"a\"[\"b\"]"));
  CHECK(parse_json(R"([{"a": 1}, {"a": 2}, {"b": {"a": 3}, "a": 4}])", "m.json").size() == 3);
}

TEST_CASE("a document of many members is read in time that grows with them") {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i)
    text += (i ? ", \"" : "\"") + std::to_string(i) + R"(": {"a": "1/2", "e": ["1/2"]})";
  const auto document = parse_json(text + "}", "m.json");
  CHECK(document.size() == 100'000);
  CHECK(document["99999"]["e"][0] == "1/2");
}

TEST_CASE("keys are known, required and led to what they meant") {
  const auto document = parse_json(R"({"o": {"file": 1, "horzion": 2}})", "m.json");
  const JsonObject object(document["o"], "m.json", "\"o\"", "write it so");
  CHECK_NOTHROW(object.check_keys({"file"}, {"horzion", "power"}));
  CHECK(refusal([&] {
          object.check_keys({"file", "horizon"}, {});
        }) == "m.json: the key \"horzion\" in \"o\" is unknown; did you mean \"horizon\"?");
  CHECK(refusal([&] { object.check_keys({"horzion"}, {"power"}); }) ==
        "m.json: the key \"file\" in \"o\" is unknown; write it so");
  CHECK(refusal([&] {
          object.check_keys({"horzion", "file", "power"}, {});
        }) == "m.json: the key \"power\" in \"o\" is missing; write it so");
  CHECK(refusal([&] { JsonObject(document["o"]["file"], "m.json", "", "write it so"); }) ==
        "m.json: the file is not a JSON object; write it so");
}

TEST_CASE("members are read with their type or refused with their place") {
  const auto document = parse_json(
      R"({"t": "x", "n": 5, "f": 5.0, "z": null, "ts": ["x", "y"], "ns": [1, 2], "m": ["x", 3]})",
      "m.json");
  const JsonObject object(document, "m.json", "", "write it so");
  CHECK(object.text("t") == "x");
  CHECK(object.optional_text("t") == "x");
  CHECK_FALSE(object.optional_text("z"));
  CHECK_FALSE(object.optional_text("none"));
  CHECK(object.texts("ts") == std::vector<std::string>{"x", "y"});
  CHECK(object.whole_number("n", 5, 5) == 5);
  CHECK(object.whole_numbers("ns", 1, 2) == std::vector<std::uint64_t>{1, 2});
  CHECK(object["n"] == 5);
  CHECK(refusal([&] { object.text("n"); }) == "m.json: \"n\" is 5, not a string; write it so");
  CHECK(refusal([&] { object.optional_text("n"); }) ==
        "m.json: \"n\" is 5, not a string; write it so");
  CHECK(refusal([&] { object.texts("t"); }) == "m.json: \"t\" is \"x\", not a list; write it so");
  CHECK(refusal([&] { object.texts("m"); }) == "m.json: \"m\"[1] is 3, not a string; write it so");
  CHECK(refusal([&] { object.whole_number("n", 6, 9); }) ==
        "m.json: \"n\" is 5, no whole number in range; give one from 6 to 9");
  CHECK(refusal([&] { object.whole_number("f", 0, 9); }) ==
        "m.json: \"f\" is 5.0, no whole number in range; give one from 0 to 9");
  CHECK(refusal([&] { object.whole_numbers("ns", 2, 9); }) ==
        "m.json: \"ns\"[0] is 1, no whole number in range; give one from 2 to 9");
  CHECK(refusal([&] { object.whole_numbers("z", 2, 9); }) ==
        "m.json: \"z\" is null, not a list; write it so");
}

TEST_CASE("a list of objects is read entry by entry") {
  const auto list = parse_json(R"([{"n": 1}, {"n": -1}])", "m.json");
  const auto objects = objects_of(list, "m.json", "write it so");
  CHECK(objects[0].whole_number("n", 0, 9) == 1);
  CHECK(refusal([&] { objects[1].whole_number("n", 0, 9); }) ==
        "m.json: [1][\"n\"] is -1, no whole number in range; give one from 0 to 9");
  const auto mixed = parse_json("[{}, 3]", "m.json");
  CHECK(refusal([&] { objects_of(mixed, "m.json", "write it so"); }) ==
        "m.json: [1] is not a JSON object; write it so");
  CHECK(refusal([&] { objects_of(mixed[1], "m.json", "write it so"); }) ==
        "m.json: the file is 3, not a list; write it so");
}
