#include "reference/kernels/record_restart_kernel.hpp"

#include "base/error.hpp"
#include "reference/analysis/detailed_balance.hpp"
#include "reference/analysis/invariance.hpp"
#include "reference/analysis/irreducibility.hpp"
#include "reference/kernels/decode_tokens.hpp"
#include "reference/kernels/fixed_horizon_kernel.hpp"
#include "reference/kernels/metropolis_hastings.hpp"
#include "reference/kernels/power_target.hpp"
#include "reference/kernels/suffix_proposal.hpp"
#include "tests/reference/four_state.hpp"
#include "tests/reference/random_model.hpp"

using namespace tempera;
using namespace tempera::reference;

namespace {

enum class FactorDefect { none, dropped, inverted, censored_as_longer };

/// Every restart and every record that it may propose, its flow counted one by one.
Matrix by_single_moves(const FixedHorizonSpace& space, const Power& power,
                       const RestartLaw& restart, FactorDefect defect) {
  const Law target = power_target(space, power);
  const SuffixProposal q(space, power);
  const auto own_positions = [&](std::size_t x) {
    Rational total = 0;
    for (std::size_t r = 1; r <= space[x].length(); ++r) total += restart(r);
    return total;
  };
  const auto in_factor = [&](std::size_t x) {
    const bool longer = defect == FactorDefect::censored_as_longer && !space[x].terminated;
    return longer ? Rational(own_positions(x) * 2) : own_positions(x);
  };
  Matrix kernel(space.size(), space.size());
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t r = 1; r <= space[x].length(); ++r)
      for (std::size_t y = 0; y < space.size(); ++y) {
        const Rational proposed = restart(r) / own_positions(x) * q(r, x, y);
        if (proposed == 0) continue;
        Rational factor = in_factor(x) / in_factor(y);
        if (defect == FactorDefect::dropped) factor = 1;
        if (defect == FactorDefect::inverted) factor = 1 / factor;
        const Rational accepted =
            acceptance(target[y] * q(r, y, x) * factor, target[x] * q(r, x, y));
        kernel(x, y) += proposed * accepted;
        kernel(x, x) += proposed * (1 - accepted);
      }
  return kernel;
}

RestartLaw with_full_restart(std::size_t horizon) {
  auto weights = random::weights(horizon);
  for (Rational& weight : weights) weight /= 2;
  weights.front() += Rational(1, 2);
  return RestartLaw(weights);
}

bool breaks_balance(const FixedHorizonSpace& space, const Power& power, const Matrix& kernel) {
  const Law target = power_target(space, power);
  const auto tokens = token_counts(space);
  return first_violation_of_detailed_balance(FactoredKernel(kernel), target, tokens) &&
         first_violation_of_invariance(FactoredKernel(kernel), target, tokens);
}

}  // namespace

// e has one position; a a and a e have two, with weights 1/3 and 2/3.
TEST_CASE("the four-state kernel over the record's own positions, by hand") {
  const FixedHorizonSpace space(four_state(), 2);
  CHECK(record_restart_kernel(space, Power(2), RestartLaw({q("1/3"), q("2/3")})) ==
        matrix_of({{q("5/12"), q("5/12"), q("1/6")},
                   {q("5/12"), q("5/12"), q("1/6")},
                   {q("1/24"), q("1/24"), q("11/12")}}));
}

TEST_CASE("laws of the kernel over the record's own positions") {
  law("it is the law of its single moves, in detailed balance, and reaches every record", [] {
    const FixedHorizonSpace space(random::model(), random::horizon());
    const Power power = random::power();
    const RestartLaw restart = with_full_restart(space.horizon());
    const Matrix kernel = record_restart_kernel(space, power, restart);
    RC_ASSERT(kernel == by_single_moves(space, power, restart, FactorDefect::none));
    RC_ASSERT(!first_violation_of_detailed_balance(
        FactoredKernel(kernel), power_target(space, power), token_counts(space)));
    RC_ASSERT(is_irreducible(FactoredKernel(kernel)));
  });

  law("where no record ends early it is the paper's kernel", [] {
    const FiniteModel model({"endless",
                             {{"a", "b"}, "test"},
                             {},
                             {{{}, random::weights(2)}, {{0}, random::weights(2)}},
                             random::weights(2)},
                            "test");
    const FixedHorizonSpace space(model, random::horizon());
    const RestartLaw restart = with_full_restart(space.horizon());
    const Power power = random::power();
    RC_ASSERT(record_restart_kernel(space, power, restart) ==
              fixed_horizon_kernel(space, power, restart));
    DecodeTokens tokens(model, power);
    RC_ASSERT(tokens.local_move(space[0], restart, RestartRange::record) ==
              tokens.local_move(space[0], restart));
  });
}

TEST_CASE("a factor that is dropped, inverted or wrong for censored records is caught") {
  const FiniteModel model(
      {"uneven",
       {{"a", "b", "e"}, "test"},
       {2},
       {{{}, {q("1/2"), q("1/3"), q("1/6")}}, {{0}, {q("1/5"), q("1/5"), q("3/5")}}},
       TokenRow{q("1/4"), q("1/4"), q("1/2")}},
      "test");
  const FixedHorizonSpace space(model, 3);
  for (const RestartLaw& restart :
       {RestartLaw::uniform(3), RestartLaw({q("1/2"), q("1/3"), q("1/6")})}) {
    const Power power(3);
    CHECK_FALSE(
        breaks_balance(space, power, by_single_moves(space, power, restart, FactorDefect::none)));
    for (const auto defect :
         {FactorDefect::dropped, FactorDefect::inverted, FactorDefect::censored_as_longer})
      CHECK(breaks_balance(space, power, by_single_moves(space, power, restart, defect)));
  }
}

TEST_CASE("a record of one token needs position 1") {
  const FixedHorizonSpace space(four_state(), 2);
  CHECK_THROWS_AS(record_restart_kernel(space, Power(2), RestartLaw({q("0"), q("1")})), BadInput);
}

// a a e, restarts at 1 and 2 with weights 1 and 3, position 4 of none: 1/4 (1 + 1/2 + 1/4 + 1/8),
// 3/4 (1 + 1/2 + 1/4), over the weights up to 3, which here are 1.
TEST_CASE("decode tokens over the record's own positions are those given that it is one") {
  const FiniteModel model({"coin", {{"a", "e"}, "test"}, {1}, {}, TokenRow{q("1/2"), q("1/2")}},
                          "test");
  DecodeTokens tokens(model, Power(1));
  const Record x{{0, 0, 1}, true};
  const RestartLaw front({q("1/4"), q("3/4"), q("0"), q("0")});
  CHECK(tokens.local_move(x, front, RestartRange::record) ==
        q("1/4") * q("15/8") + q("3/4") * q("7/4"));
  // Uniform: position 4 is after the end, so each of the others has 1/3.
  CHECK(tokens.local_move(x, RestartLaw::uniform(4), RestartRange::record) ==
        (q("15/8") + q("7/4") + q("3/2")) / 3);
}

TEST_CASE("restart weights are those of equal parts of the positions") {
  const auto of = [](const std::vector<Rational>& weights, std::size_t horizon) {
    std::vector<Rational> law;
    const RestartLaw restart = RestartLaw::in_parts(weights, horizon);
    for (std::size_t r = 1; r <= horizon; ++r) law.push_back(restart(r));
    return law;
  };
  CHECK(of({q("3"), q("1")}, 4) == std::vector<Rational>{q("3/8"), q("3/8"), q("1/8"), q("1/8")});
  CHECK(of({q("3"), q("1")}, 3) == std::vector<Rational>{q("3/7"), q("3/7"), q("1/7")});
  CHECK(of({q("4"), q("0"), q("1")}, 5) ==
        std::vector<Rational>{q("4/9"), q("4/9"), q("0"), q("0"), q("1/9")});
  CHECK(of({q("1")}, 3) == std::vector<Rational>(3, q("1/3")));
  CHECK(RestartLaw::in_parts({q("3"), q("1")}, 4).up_to(3) == q("7/8"));
  CHECK_THROWS_AS(RestartLaw::in_parts({q("1"), q("1"), q("1")}, 2), BadInput);
  CHECK_THROWS_AS(RestartLaw::in_parts({}, 2), BadInput);
  CHECK_THROWS_AS(RestartLaw::in_parts({q("0"), q("0")}, 2), BadInput);
  CHECK_THROWS_AS(RestartLaw::in_parts({q("2"), q("-1")}, 2), BadInput);
}
