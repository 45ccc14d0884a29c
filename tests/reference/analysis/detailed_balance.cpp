#include "reference/analysis/detailed_balance.hpp"

#include "reference/kernels/power_target.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/planted.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera::reference;
using planted::Defect;

namespace {

std::optional<StatePair> violation(const FixedHorizonSpace& space, const Power& power,
                                   Defect defect) {
  return first_violation_of_detailed_balance(
      FactoredKernel(planted::local_kernel(space, power, defect)), power_target(space, power),
      token_counts(space));
}

}  // namespace

TEST_CASE("planted defects break detailed balance at the smallest pair") {
  // Three tokens beside "a a"/"e" and "a e"/"e"; the first in order is reported.
  struct Caught {
    Defect defect;
    Rational forward, reverse;
  };
  const Caught all[] = {{Defect::transposed_acceptance, q("1/48"), q("1/12")},
                        {Defect::unscored_proposal, q("1/24"), q("1/48")},
                        {Defect::restart_within_length, q("1/24"), q("1/12")}};
  const FixedHorizonSpace space(four_state(), 2);
  for (const Caught& caught : all) {
    const auto pair = violation(space, Power(2), caught.defect);
    REQUIRE(pair);
    CHECK(space.name(pair->x) == "a a");
    CHECK(space.name(pair->y) == "e");
    CHECK(pair->forward_flow == caught.forward);
    CHECK(pair->reverse_flow == caught.reverse);
  }
  CHECK_FALSE(violation(space, Power(2), Defect::none));
}

TEST_CASE("the pair with the fewest tokens is reported, not the first in order") {
  // A three-cycle at its uniform law breaks balance on every pair.
  const FactoredKernel cycle(
      matrix_of({{q("0"), q("1"), q("0")}, {q("0"), q("0"), q("1")}, {q("1"), q("0"), q("0")}}));
  const Law uniform(3, Rational(1, 3));
  const auto pair = first_violation_of_detailed_balance(cycle, uniform, {5, 1, 2});
  REQUIRE(pair);
  CHECK(pair->x == 1);
  CHECK(pair->y == 2);
  CHECK(pair->forward_flow == Rational(1, 3));
  CHECK(pair->reverse_flow == 0);
}

TEST_CASE("laws of detailed balance") {
  law("a pair is reported just when some pair's flows differ, and none smaller", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const Defect defect =
        *rc::gen::element(Defect::none, Defect::transposed_acceptance, Defect::unscored_proposal,
                          Defect::restart_within_length);
    const Matrix kernel = planted::local_kernel(space, power, defect);
    const Law target = power_target(space, power);
    std::optional<std::pair<std::size_t, std::size_t>> smallest;
    const auto size = [&](const auto& pair) {
      return space[pair.first].length() + space[pair.second].length();
    };
    for (std::size_t x = 0; x < space.size(); ++x) {
      for (std::size_t y = x + 1; y < space.size(); ++y) {
        const std::pair pair(x, y);
        if (target[x] * kernel(x, y) != target[y] * kernel(y, x) &&
            (!smallest || size(pair) < size(*smallest))) {
          smallest = pair;
        }
      }
    }
    const auto found = violation(space, power, defect);
    RC_CLASSIFY(found.has_value());
    RC_ASSERT(found.has_value() == smallest.has_value());
    if (found) RC_ASSERT(std::pair(found->x, found->y) == *smallest);
    if (defect == Defect::none) RC_ASSERT(!found);
  });
}
