// The models that tempera/rapidcheck.hpp draws: every kind of row and of token comes, and no other.
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tempera/rapidcheck.hpp"
#include "tests/law.hpp"

namespace tempera::check {

TEST_CASE("drawn models have every kind of row and of token") {
  std::set<std::string> seen;
  const RandomModels like{.most_tokens = 4, .listed_depth = 2, .largest_weight = 3};
  law("a model is as it is asked for", [&] {
    const auto model = nlohmann::json::parse((*random_models(like)).json());
    const std::size_t tokens = model["vocabulary"].size();
    RC_ASSERT(tokens >= 2U);
    RC_ASSERT(tokens <= 4U);
    seen.insert("tokens: " + std::to_string(tokens));
    const std::size_t terminal = model["terminal"].size();
    seen.insert(terminal == 0 ? "none ends" : terminal == tokens ? "all end" : "some end");
    const auto look = [&](const nlohmann::json& row) {
      RC_ASSERT(!row.empty());
      seen.insert(row.size() == tokens ? "all are possible" : "some are impossible");
    };
    look(model["default"]);
    for (const auto& [history, row] : model["next"].items()) look(row);
  });
  CHECK(seen == std::set<std::string>{"tokens: 2", "tokens: 3", "tokens: 4", "none ends", "all end",
                                      "some end", "all are possible", "some are impossible"});
}

}  // namespace tempera::check
