#include "reference/model/record_tree.hpp"

#include "base/error.hpp"
#include "reference/model/record_space.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

TEST_CASE("laws of the tree of prefixes") {
  law("it holds the records of S_T in their order, with their likelihoods", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(4);
    const FixedHorizonSpace space(model, horizon);
    const RecordTree tree(model, horizon);
    RC_ASSERT(tree.size() == space.size());
    for (std::size_t x = 0; x < space.size(); ++x) {
      RC_ASSERT(tree.name(x) == space.name(x));
      RC_ASSERT(tree.length(x) == space[x].length());
      RC_ASSERT(tree.likelihoods()[tree.likelihood(x)] == space.likelihood(x));
      RC_ASSERT(tree.parse(tree.name(x), "start") == x);
    }
    for (const auto& prefix : tree.prefixes()) {
      Rational mass = 0;
      for (std::size_t x = prefix.begin; x < prefix.end; ++x) mass += space.likelihood(x);
      RC_ASSERT(mass == tree.likelihoods()[prefix.likelihood]);
    }
  });
}

TEST_CASE("a record that is none is refused") {
  const RecordTree tree(four_state(), 3);
  const auto message = [&](const std::string& text) {
    try {
      tree.parse(text, "--start");
    } catch (const BadInput& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(message("a a e") == "taken");
  CHECK_THAT(message("a z"), Catch::Contains("unknown token \"z\""));
  CHECK_THAT(message("a a"), Catch::Contains("wrong length for horizon 3"));
  CHECK_THAT(message(""), Catch::Contains("wrong length"));
  CHECK_THAT(message("e a"), Catch::Contains("probability zero"));
  CHECK_THAT(message("a a a a"), Catch::Contains("probability zero"));
}

TEST_CASE("a tree above the limits is refused before it is built") {
  const FiniteModel coin({"coin", {{"a", "b"}, "coin"}, {}, {}, TokenRow{q("1/2"), q("1/2")}},
                         "coin");
  CHECK(RecordTree(coin, 12).size() == 4096);
  CHECK_THROWS_WITH(RecordTree(coin, 23), Catch::Contains("8388608 records, more than"));
  CHECK_THROWS_WITH(RecordTree(coin, 0), Catch::Contains("at least 1 token"));
  const FiniteModel chain = four_state();
  CHECK_THROWS_WITH(RecordTree(chain, 129), Catch::Contains("above the limit of 128"));
}
