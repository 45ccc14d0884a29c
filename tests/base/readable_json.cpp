#include "base/readable_json.hpp"

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"

namespace tempera {

using nlohmann::ordered_json;

TEST_CASE("lists of plain values are one line, and so are small objects in a list") {
  const ordered_json json{{"b", 1},
                          {"a", {0.1, -2.5e-300, nullptr}},
                          {"empty", ordered_json::array()},
                          {"object", {{"x \"y\"\n", true}}},
                          {"list", {{{"n", 1}, {"m", 2}}, {{"n", ordered_json::array({1, 2})}}}},
                          {"table", {ordered_json::array({1, 2}), ordered_json::array({3, 4})}}};
  CHECK(readable_json(json) == R"({
 "b": 1,
 "a": [0.1,-2.5e-300,null],
 "empty": [],
 "object": {
  "x \"y\"\n": true
 },
 "list": [
  {"n":1,"m":2},
  {
   "n": [1,2]
  }
 ],
 "table": [
  [1,2],
  [3,4]
 ]
})");
  CHECK(ordered_json::parse(readable_json(json)).dump() == json.dump());
  CHECK(readable_json(ordered_json(7)) == "7");
  CHECK(readable_json(ordered_json::object()) == "{}");
}

}  // namespace tempera
