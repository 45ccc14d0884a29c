#include "base/json_document.hpp"

#include "tests/bad_input.hpp"

namespace tempera {

TEST_CASE("one JSON value in UTF-8 is read", "[json]") {
  CHECK(parse_json(R"( {"a": [1, {"a": 2}], "b": {"a": 3}} )", "here")["a"][1]["a"] == 2);
  CHECK(parse_json("null", "here").is_null());
}

TEST_CASE("a value is the one that the library's own parser reads", "[json]") {
  for (const char* text :
       {"-1", "18446744073709551615", "-9223372036854775808", "0.1", "1e300", "\"\\u00e9\\n\"",
        "true", "[]", "{}",
        "[[], [[1], {}], {\"a\": [{\"b\": null}, \"c\"], \"d\": {\"e\": [2]}}, 3]",
        R"({"b": {"a": 1}, "a": {"b": 2}, "": [{"a": 3}, {"a": 4}]})"}) {
    INFO(text);
    CHECK(parse_json(text, "here") == nlohmann::json::parse(text));
    CHECK(parse_json(text, "here").dump() == nlohmann::json::parse(text).dump());
  }
}

TEST_CASE("what is not one JSON value is refused by its place", "[json]") {
  for (const char* text :
       {"", "{", "1 2", "{\"a\": 1,}", "\"\xC3(\"", "1e999", "{'a': 1}", "NaN"}) {
    INFO(text);
    require_bad_input([&] { parse_json(text, "here"); }, {"here"});
  }
  require_bad_input([] { parse_json("[1, x]", "here"); }, {"here, line 1, column 5: not valid"});
  require_bad_input([] { parse_json("[1,\n 2,\n x]", "here"); }, {"here, line 3, column 2:"});
  // A text that is a line of a file is not divided into lines once more.
  for (const std::string line : {"line 7", "a.jsonl, line 7"}) {
    require_bad_input([&] { parse_json("[1, x]", line); }, {line + ": column 5 is not valid"});
    require_bad_input([&] { parse_json("[1, x]", line + "a"); }, {line + "a, line 1, column 5:"});
  }
  require_bad_input([] { parse_json("[1, x]", "pipeline 7"); }, {"pipeline 7, line 1, column 5:"});
  require_bad_input([] { parse_json(std::string("{}\n\0x", 5), "here"); },
                    {"here, line 2, column 1:"});
  require_bad_input([] { parse_json(R"({"a": [0, {"b": 1, "b": 1}]})", "here"); },
                    {"here: key \"a\"[1][\"b\"] occurs twice"});
  require_bad_input([] { parse_json(R"({"a": [0, 1e999]})", "here"); },
                    {"here: the number at \"a\"[1] is out of range"});
  require_bad_input([] { parse_json("1e999", "here"); }, {"here: the number at the top"});
  require_bad_input([] { parse_json(R"([{"a": 1}, [[], {"b c": {"d": -1e999}}]])", "here"); },
                    {"here: the number at [1][1][\"b c\"][\"d\"] is out of range"});
  require_bad_input([] { parse_json(R"({"a": {"b": 0, "c": [1]}, "d": 1, "a": 2})", "here"); },
                    {"here: key \"a\" occurs twice"});
  CHECK_NOTHROW(parse_json(std::string(64, '[') + std::string(64, ']'), "here"));
  require_bad_input([] { parse_json(std::string(65, '[') + std::string(65, ']'), "here"); },
                    {"nested"});
  require_bad_input([] { parse_json(std::string(1000000, '['), "here"); }, {"nested"});
}

TEST_CASE("an object of many members is read in time that grows with them", "[json]") {
  // A parse that walks over its siblings with each of these would take minutes.
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i)
    text += (i ? ", \"" : "\"") + std::to_string(i) + R"(": {"shape": [1, 2], "offset": 3})";
  CHECK(parse_json(text + "}", "here").size() == 100'000);
}

TEST_CASE("a NUL ends no document", "[json]") {
  for (const std::string text : {"{}", "[1]", "7"}) {
    for (const std::string rest : {"", " ", "trailing", "{}"}) {
      require_bad_input([&] { parse_json(text + '\0' + rest, "here"); },
                        {"here, line 1, column " + std::to_string(text.size() + 1)});
    }
  }
  require_bad_input([] { parse_json(std::string("{\"a\": \"\0\"}", 10), "here"); },
                    {"here, line 1, column 8"});
}

TEST_CASE("members are read with their type", "[json]") {
  const auto document = parse_json(
      R"({"n": 5, "x": 0.5, "t": "text", "b": true, "o": {"n": 1}, "a": [1], "z": null})", "here");
  const JsonObject object(document, "here");
  CHECK(object.whole_number("n", 5, 5) == 5);
  CHECK(object.positive_number("x") == 0.5);
  CHECK(object.text("t") == "text");
  CHECK(object.boolean("b"));
  CHECK_FALSE(object.boolean_or("z", false));
  CHECK(object.object("o").whole_number("n", 0, 9) == 1);
  CHECK(object.array("a").size() == 1);
  CHECK_FALSE(object.has("z"));
  CHECK(object.finite_number("x") == 0.5);
  CHECK(object.finite_number("n") == 5);
  require_bad_input([&] { object.whole_number("n", 6, 9); }, {"here", "\"n\" is 5", "6..9"});
  require_bad_input([&] { object.whole_number("x", 0, 9); }, {"\"x\" is 0.5", "0..9"});
  require_bad_input([&] { object.finite_number("t"); }, {"\"t\" is \"text\"", "finite"});
  require_bad_input([&] { object.positive_number("t"); }, {"\"t\""});
  require_bad_input([&] { object.text("n"); }, {"\"n\""});
  require_bad_input([&] { object.boolean("n"); }, {"\"n\""});
  require_bad_input([&] { object.array("o"); }, {"\"o\""});
  require_bad_input([&] { object.object("a"); }, {"here, \"a\""});
  require_bad_input([&] { object.at("z"); }, {"\"z\"", "missing"});
}

TEST_CASE("a whole number is whole as it is written", "[json]") {
  for (const char* number : {"28.7", "28.0", "1e1", "-1", "-0", "1e300", "18446744073709551616",
                             "\"28\"", "true", "null", "[28]"}) {
    INFO(number);
    const auto document = parse_json(std::string(R"({"n": )") + number + "}", "here");
    require_bad_input([&] { JsonObject(document, "here").whole_number("n", 0, ~0ULL); },
                      {"here", "\"n\""});
  }
  const auto largest = parse_json(R"({"n": 18446744073709551615})", "here");
  CHECK(JsonObject(largest, "here").whole_number("n", 0, ~0ULL) == ~0ULL);
}

TEST_CASE("entries of arrays are read with their type and refused by their place", "[json]") {
  const auto document = parse_json(
      R"({"o": {"n": [1, 2], "x": [1, 0.5], "t": ["a", "b"], "o": [{"n": 1}, {"n": -2}], "m": [1, "b", {}], "z": [1, 0]}})",
      "here");
  const JsonObject object = JsonObject(document, "here").object("o");
  CHECK(object.whole_numbers("n", 1, 2) == std::vector<std::uint64_t>{1, 2});
  CHECK(object.finite_numbers("x") == std::vector<double>{1, 0.5});
  CHECK(object.texts("t") == std::vector<std::string>{"a", "b"});
  CHECK(object.objects("o")[0].whole_number("n", 0, 9) == 1);
  require_bad_input([&] { object.whole_numbers("n", 2, 9); }, {"here: key \"o\"[\"n\"][0] is 1"});
  require_bad_input([&] { object.whole_numbers("x", 0, 9); }, {"\"o\"[\"x\"][1] is 0.5"});
  require_bad_input([&] { object.finite_numbers("m"); }, {"\"o\"[\"m\"][1] is \"b\""});
  CHECK(object.positive_numbers("x") == std::vector<double>{1, 0.5});
  require_bad_input([&] { object.positive_numbers("z"); },
                    {"here: key \"o\"[\"z\"][1] is 0, not a finite number above 0"});
  require_bad_input([&] { object.texts("m"); }, {"\"o\"[\"m\"][0] is 1"});
  require_bad_input([&] { object.objects("m"); }, {"here, \"o\"[\"m\"][0]: is 1"});
  require_bad_input([&] { object.texts("none"); }, {"\"o\"[\"none\"] is missing"});
  require_bad_input([&] { object.objects("o")[1].whole_number("n", 0, 9); },
                    {"here: key \"o\"[\"o\"][1][\"n\"] is -2"});
}

TEST_CASE("an object that was given its form names it as the remedy", "[json]") {
  const auto document =
      parse_json(R"({"t": "x", "z": null, "n": 5, "o": {"m": ["x", 3], "horzion": 2}})", "m.json");
  const JsonObject object(document, "m.json", "write it so");
  CHECK(object.optional_text("t") == "x");
  CHECK_FALSE(object.optional_text("z"));
  CHECK_FALSE(object.optional_text("none"));
  const auto refused = [](const std::function<void()>& read, const std::string& message) {
    CHECK_THROWS_WITH(read(), message);
  };
  refused([&] { object.optional_text("n"); }, "m.json: key \"n\" is 5, not a string; write it so");
  refused([&] { object.text("none"); }, "m.json: key \"none\" is missing; write it so");
  refused([&] { object.object("o").texts("m"); },
          "m.json: key \"o\"[\"m\"][1] is 3, not a string; write it so");
  refused([&] { object.object("o").only({"m"}); },
          "m.json: key \"o\"[\"horzion\"] is not known; write it so");
  refused(
      [&] {
        object.object("o").only({"m", "horizon"});
      },
      "m.json: key \"o\"[\"horzion\"] is not known; did you mean \"horizon\"?");
  refused([&] { JsonObject(document["n"], "m.json", "write it so"); },
          "m.json: is 5, not a JSON object; write it so");
}

TEST_CASE("a list of objects is read entry by entry", "[json]") {
  const auto list = parse_json(R"([{"n": 1}, {"n": -1}])", "m.json");
  const auto objects = objects_of(list, "m.json", "write it so");
  CHECK(objects[0].whole_number("n", 0, 9) == 1);
  require_bad_input([&] { objects[1].whole_number("n", 0, 9); },
                    {"m.json: key [1][\"n\"] is -1, not a whole number in 0..9; write it so"});
  const auto mixed = parse_json("[{}, 3]", "m.json");
  require_bad_input([&] { objects_of(mixed, "m.json", "write it so"); },
                    {"m.json, [1]: is 3, not a JSON object; write it so"});
  require_bad_input([&] { objects_of(mixed[1], "m.json", "write it so"); },
                    {"m.json: is 3, not a list; write it so"});
}

TEST_CASE("keys that nobody reads are refused", "[json]") {
  const auto document = parse_json(R"({"horizon": 1, "horzion": 2, "note": null})", "here");
  const JsonObject object(document, "here");
  CHECK_NOTHROW(object.check_keys({"horizon"}, {"horzion", "note", "other"}));
  CHECK_NOTHROW(object.only({"note", "horizon", "horzion", "other"}));
  require_bad_input(
      [&] {
        object.only({"note", "horizon"});
      },
      {"here: key \"horzion\" is not known", "did you mean \"horizon\"?"});
  require_bad_input([&] { object.check_keys({"horizon"}, {"note"}); },
                    {"here: key \"horzion\" is not known", "did you mean \"horizon\"?"});
  require_bad_input(
      [&] {
        object.check_keys({"horizon", "horzion"}, {"block"});
      },
      {"key \"note\" is not known", "remove it, or write one of horizon, horzion, block"});
  require_bad_input(
      [&] {
        object.check_keys({"horizon", "horzion", "note"});
      },
      {"key \"note\" is missing"});
  require_bad_input(
      [&] {
        object.check_keys({"horizon", "horzion", "rounds"}, {"note"});
      },
      {"key \"rounds\" is missing"});
}

}  // namespace tempera
