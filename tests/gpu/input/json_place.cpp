#include "gpu/input/json_place.hpp"

#include "tests/catch.hpp"

namespace tempera::gpu {

TEST_CASE("the path of every value is known while it is read", "[json]") {
  JsonPlace place;
  std::vector<std::string> paths;
  const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::value)
      paths.push_back(place.path() + "=" + parsed.dump());
    CHECK(place.follow(event, parsed));
    return true;
  };
  const auto read = nlohmann::json::parse(
      R"({"a": [0, [1, 2], {"b c": 3}, 4], "d": {"e": {"f": 5}, "a": 6}, "g": []})", watch);
  CHECK(paths == std::vector<std::string>{R"("a"[0]=0)", R"("a"[1][0]=1)", R"("a"[1][1]=2)",
                                          R"("a"[2]["b c"]=3)", R"("a"[3]=4)", R"("d"["e"]["f"]=5)",
                                          R"("d"["a"]=6)"});
  CHECK(place.depth() == 0);
  CHECK(place.path().empty());
}

}  // namespace tempera::gpu
