#include "lab/judge/catch_matchers.hpp"

#include "lab/defects/kernel_gallery.hpp"
#include "lab/defects/small_kernels.hpp"
#include "lab/judge/random_models.hpp"
#include "tests/law.hpp"

using namespace tempera;
using namespace tempera::lab;

TEST_CASE("the matchers say what is wrong with a kernel, on the smallest model") {
  CHECK_THAT(kernel_of(SmallMove()), samples(small_case()));
  CHECK_THAT(kernel_of(SmallMove()), is_reversible(small_case()));
  CHECK_THAT(kernel_of(SmallRound()), samples(small_case({1, 2})));
  CHECK_THAT(kernel_of(SmallRound()), !is_reversible(small_case({1, 2})));
  SmallMove planted;
  planted.accept = [](KernelLottery&, const Rational&) { return true; };
  const KernelMatcher matcher = samples(small_case());
  REQUIRE_FALSE(matcher.match(kernel_of(planted)));
  CHECK_THAT(matcher.describe(), Catch::Contains("samples its target") &&
                                     Catch::Contains("flows") &&
                                     Catch::Contains("on horizon 2, {\"name\":"));
  const KernelMatcher reversible = is_reversible(small_case({1, 2}));
  REQUIRE_FALSE(reversible.match(kernel_of(SmallRound())));
  CHECK_THAT(reversible.describe(),
             Catch::Contains("is reversible for its target") && Catch::Contains("flows"));
}

TEST_CASE("laws over drawn models") {
  law("the paper's move samples the power target of every model", [] {
    const auto model = *random_models();
    RC_ASSERT(
        judge_kernel(kernel_of(SmallMove()), JudgedCase(model, 2, {{reference::Power(2)}, {}}))
            .sound());
  });
  law("drawn models are as they are asked for", [] {
    const auto model = *random_models({.most_tokens = 4, .listed_depth = 2, .largest_weight = 9});
    RC_ASSERT(model.vocabulary_size() >= 2U);
    RC_ASSERT(model.vocabulary_size() <= 4U);
    for (const auto& [history, row] : model.listed_rows()) RC_ASSERT(history.size() <= 2U);
    RC_ASSERT(model.default_row().has_value());
  });
}

TEST_CASE("a law that fails is shrunk to a small model") {
  SmallMove planted;
  planted.accept = [](KernelLottery&, const Rational&) { return true; };
  std::string smallest;
  // RapidCheck says so on stderr; what it was left with is the last model that failed.
  CHECK_FALSE(rc::check("a planted kernel samples its target", [&] {
    const auto model = *random_models();
    const JudgedCase judged(model, 2, {{reference::Power(2)}, {}});
    if (judge_kernel(kernel_of(planted), judged).sound()) return;
    smallest = std::to_string(judged.size()) + " states";
    RC_FAIL("it fails");
  }));
  CHECK(smallest == "3 states");
}
