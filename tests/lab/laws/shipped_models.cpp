#include "lab/laws/shipped_models.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

using namespace tempera;

TEST_CASE("every finite model of the tree is used") {
  const std::string tree = TEMPERA_SOURCE_DIR;
  std::set<std::string> used;
  for (const lab::ShippedUse& use : lab::read_shipped_uses(tree)) {
    used.insert(use.name);
    CHECK(use.ladder().rungs() == use.powers.size());
    CHECK(use.restart_law().horizon() == use.horizon);
  }
  std::set<std::string> shipped;
  for (const auto& entry : std::filesystem::directory_iterator(tree + "/toy_models"))
    if (entry.path().extension() == ".json") shipped.insert(entry.path().filename().string());
  shipped.erase("models.json");
  CHECK(used == shipped);
}

TEST_CASE("a list of uses that is none is refused by its file") {
  const test::TemporaryFolder tree;
  const std::string folder = (tree / ".").string();
  CHECK_THROWS_WITH(lab::read_shipped_uses(folder), Catch::Contains("models.json: cannot be read"));
  std::filesystem::create_directories(tree / "toy_models");
  for (const char* text :
       {"", "[{", "[{}]", R"([{"file": "four_state.json"}])",
        R"([{"file": "/nowhere.json", "horizon": 2, "power": 1, "powers": [1]}])"}) {
    CAPTURE(text);
    std::ofstream(tree / "toy_models/models.json") << text;
    CHECK_THROWS_AS(lab::read_shipped_uses(folder), tempera::BadInput);
  }
}
