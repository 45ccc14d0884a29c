#include "reference/model/record_count.hpp"

#include "base/error.hpp"
#include "reference/model/record_space.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;

TEST_CASE("records are counted without listing them") {
  CHECK(count_fixed_horizon_records(four_state(), 2) == 3);
  CHECK(count_comparison_records(four_state(), 2) == 4);
  CHECK(count_fixed_horizon_records(four_state(), 128) == 129);
  const FiniteModel coin = parse_finite_model(
      R"({"name": "coin", "vocabulary": ["a", "b"], "terminal": [], "next": {"a": {"a": 1}},
          "default": {"a": "1/2", "b": "1/2"}})",
      "coin");
  CHECK(count_fixed_horizon_records(coin, 101) == (Integer(1) << 100) + (Integer(1) << 99));
}

TEST_CASE("a horizon above the limit is refused") {
  CHECK_THROWS_WITH(count_fixed_horizon_records(four_state(), 129),
                    Catch::Contains("horizon 129 is above the limit of 128"));
}

TEST_CASE("laws of counting") {
  law("the counts are the sizes of the listed spaces", [] {
    const FiniteModel model = random::model();
    const std::size_t horizon = random::horizon(5);
    RC_ASSERT(count_fixed_horizon_records(model, horizon) ==
              FixedHorizonSpace(model, horizon).size());
    RC_ASSERT(count_comparison_records(model, horizon) == ComparisonSpace(model, horizon).size());
  });
}
