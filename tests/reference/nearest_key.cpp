#include "reference/nearest_key.hpp"

#include "tests/catch.hpp"

using tempera::reference::nearest_key;

TEST_CASE("a misspelt key is led to the one it meant") {
  const std::vector<std::string> known{"name", "vocabulary", "terminal", "next", "default"};
  CHECK(nearest_key("vocabluary", known) == "vocabulary");
  CHECK(nearest_key("defualt", known) == "default");
  CHECK(nearest_key("terminals", known) == "terminal");
  CHECK(nearest_key("Name", known) == "name");
  CHECK(nearest_key("net", known) == "next");
  CHECK_FALSE(nearest_key("restart", known));
  CHECK_FALSE(nearest_key("", known));
  CHECK_FALSE(nearest_key(std::string(1'000'000, 'e'), known));
  CHECK_FALSE(nearest_key("name", {}));
}

TEST_CASE("of two keys equally near the first is named") {
  CHECK(nearest_key("axxx", {"bxxx", "cxxx"}) == "bxxx");
  CHECK(nearest_key("cxxy", {"bxxx", "cxxx"}) == "cxxx");
}
