#include "base/held_json.hpp"

#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "tests/catch.hpp"
#include "tests/failing_new.hpp"

namespace tempera::held_json_test {
namespace {

/// A list of lists, objects and texts that are too long to be held in place.
std::string many_values() {
  std::string text = "[";
  for (int i = 0; i < 300; ++i)
    text +=
        R"({"key":[1,2,{"inner":[[],{},"a text that is long enough to be allocated"]}],"b":[]},)";
  return text + "{}]";
}

template <class Json>
void destroy_without_memory(Json json) {
  std::optional<Held<Json>> held(std::in_place, std::move(json));
  const failing_new::After none(0);
  held.reset();
}

/// Parses with ever more memory, and all that was made is destroyed without any. Returns how much
/// the whole parse needs.
template <class Parse>
std::size_t parse_with_little_memory(const Parse& parse) {
  for (std::size_t many = 0;; ++many) {
    try {
      const failing_new::After few(many);
      parse();
      return many;
    } catch (const std::bad_alloc&) {
    }
  }
}

}  // namespace

TEST_CASE("a value is destroyed where no memory is left", "[json]") {
  destroy_without_memory(nlohmann::json::parse(many_values()));
  destroy_without_memory(nlohmann::ordered_json::parse(many_values()));
  destroy_without_memory(nlohmann::json(7));
}

TEST_CASE("a value that became an object without memory for it can be destroyed", "[json]") {
  for (const bool is_object : {true, false}) {
    HeldOrderedJson held;
    {
      const failing_new::After none(0);
      if (is_object)
        CHECK_THROWS_AS((*held)["a"], std::bad_alloc);
      else
        CHECK_THROWS_AS(held->push_back(1), std::bad_alloc);
    }
  }
}

TEST_CASE("what a parse has made is destroyed where no memory is left", "[json]") {
  const std::string text = R"({"a":)" + many_values() + R"(,"b":{"z":1,"y":[2,{"x":null}]}})";
  const std::string name = "body";
  const std::string member = "b";
  CHECK(parse_with_little_memory(
            [&] { const HeldJson whole = parse_json_text(text, name, name); }) > 300);
  CHECK(parse_with_little_memory(
            [&] { const HeldOrderedJson part = parse_ordered_member(text, member); }) < 300 * 12);
}

TEST_CASE("a member of a text keeps the order of its own members", "[json]") {
  const auto member = [](const std::string& text) {
    return parse_ordered_member(text, "b").dump();
  };
  CHECK(member(R"({"a":{"b":1},"b":{"z":1,"y":[2,{"x":null,"b":"t"}],"d":-1.5},"c":[{"b":2}]})") ==
        R"({"z":1,"y":[2,{"x":null,"b":"t"}],"d":-1.5})");
  CHECK(member(R"({"b":[true,-3]})") == "[true,-3]");
  CHECK(member(R"({"b":"x","a":{}})") == R"("x")");
  CHECK(member(R"({"a":{"b":1}})") == "null");
  const auto of_size = [](int size) {
    std::string object;
    for (int i = 0; i < size; ++i) object += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
    return "{\"a\":{" + object + ",\"b\":0},\"b\":{" + object + "}}";
  };
  CHECK(member(of_size(1024)).size() > 1024);
  CHECK_THROWS_AS(member(of_size(1025)), BadInput);
}

}  // namespace tempera::held_json_test
