#include "reference/kernels/joint_states.hpp"

#include "base/error.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

TEST_CASE("joint states are row-major, rung 1 slowest") {
  const FixedHorizonSpace space(four_state(), 2);
  const auto names = joint_names(space, 2);
  REQUIRE(names.size() == 9);
  CHECK(names[0] == "a a|a a");
  CHECK(names[1] == "a a|a e");
  CHECK(names[5] == "a e|e");
  CHECK(parse_joint_state(space, 2, "a e|e", "--start") == 5);
  CHECK(token_counts(space, 2)[5] == 3);
  CHECK_THROWS_WITH(parse_joint_state(space, 2, "e", "--start"),
                    Catch::Contains("has 1 records; give one for each of the 2 rungs"));
  CHECK_THROWS_AS(parse_joint_state(space, 2, "e|", "--start"), BadInput);
  CHECK_THROWS_AS(parse_joint_state(space, 2, "e|e|e", "--start"), BadInput);
}

TEST_CASE("too many joint states are refused with their number") {
  CHECK(joint_size({64, 64}) == 4096);
  CHECK_THROWS_WITH(joint_size({65, 65}), Catch::Contains("4225 joint states"));
  CHECK_THROWS_AS(joint_size(Shape(64, 1000)), BadInput);
}

TEST_CASE("laws of joint states") {
  law("coordinates and index are inverse; marginals of a product are its factors", [] {
    const std::vector<Law> laws{random::weights(2), random::weights(3), random::weights(2)};
    const Shape shape{2, 3, 2};
    const Law joint = product_law(laws);
    for (std::size_t state = 0; state < joint.size(); ++state) {
      RC_ASSERT(joint_state(shape, coordinates(shape, state)) == state);
    }
    for (std::size_t k = 0; k < 3; ++k) RC_ASSERT(marginal(joint, shape, k) == laws[k]);
  });
}
