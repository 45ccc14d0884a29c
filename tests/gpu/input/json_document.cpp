#include "gpu/input/json_document.hpp"

#include "tests/gpu/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {

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
  require_bad_input([] { parse_json("[1, x]", "here"); }, {"here", "byte 5"});
  require_bad_input([] { parse_json(R"({"a": {"b": 1, "b": 1}})", "here"); }, {"\"b\"", "twice"});
  CHECK_NOTHROW(parse_json(std::string(64, '[') + std::string(64, ']'), "here"));
  require_bad_input([] { parse_json(std::string(65, '[') + std::string(65, ']'), "here"); },
                    {"nested"});
  require_bad_input([] { parse_json(std::string(1000000, '['), "here"); }, {"nested"});
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
  require_bad_input([&] { object.whole_number("n", 6, 9); }, {"here", "\"n\"", "6..9"});
  require_bad_input([&] { object.whole_number("x", 0, 9); }, {"\"x\""});
  require_bad_input([&] { object.positive_number("t"); }, {"\"t\""});
  require_bad_input([&] { object.text("n"); }, {"\"n\""});
  require_bad_input([&] { object.boolean("n"); }, {"\"n\""});
  require_bad_input([&] { object.array("o"); }, {"\"o\""});
  require_bad_input([&] { object.object("a"); }, {"here, \"a\""});
  require_bad_input([&] { object.at("z"); }, {"\"z\"", "missing"});
}

}  // namespace tempera::gpu
