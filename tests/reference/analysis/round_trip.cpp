#include "reference/analysis/round_trip.hpp"

#include "base/error.hpp"
#include "tests/law.hpp"
#include "tests/reference/four_state.hpp"

using namespace tempera;
using namespace tempera::reference;

namespace {

EdgeAcceptances random_acceptances() {
  EdgeAcceptances acceptances(*rc::gen::inRange<std::size_t>(1, 6));
  for (Rational& a : acceptances) {
    const int whole = *rc::gen::inRange(1, 12);
    a = Rational(*rc::gen::inRange(1, whole + 1)) / whole;
  }
  return acceptances;
}

Rational up(const Matrix& chain) { return expected_hitting_times(chain, chain.rows() - 1)[0]; }

}  // namespace

TEST_CASE("a sure ladder is climbed in one sweep and descended rung by rung") {
  const EdgeAcceptances sure(4, Rational(1));
  CHECK(adj_round_trip(sure).up == 1);
  CHECK(adj_round_trip(sure).down == 4);
  CHECK(deo_round_trip(sure).total() == 10);
}

TEST_CASE("two rungs at one half") {
  const EdgeAcceptances half{Rational(1, 2)};
  CHECK(adj_chain(half) == matrix_of({{q("1/2"), q("1/2")}, {q("1/2"), q("1/2")}}));
  CHECK(adj_round_trip(half).total() == 4);
  CHECK(deo_round_trip(half).total() == 8);
}

TEST_CASE("acceptances outside (0, 1] are refused") {
  CHECK_THROWS_WITH(check_acceptances({Rational(0)}, "--acceptance"),
                    Catch::Contains("--acceptance: the acceptance 0 is not in (0, 1]"));
  CHECK_THROWS_AS(check_acceptances({Rational(3, 2)}, "test"), BadInput);
  CHECK_THROWS_AS(check_acceptances({}, "test"), BadInput);
  CHECK_THROWS_AS(check_acceptances(EdgeAcceptances(64, Rational(1)), "test"), BadInput);
  CHECK_NOTHROW(check_acceptances(EdgeAcceptances(63, Rational(1)), "test"));
}

TEST_CASE("a state that cannot be reached has no hitting time") {
  CHECK_THROWS_AS(expected_hitting_times(matrix_of({{q("1"), q("0")}, {q("1"), q("0")}}), 1),
                  BadInput);
}

TEST_CASE("a sweep in the wrong order does not meet the upward formula") {
  // Edges attempted from the top down: the tag climbs one rung a sweep.
  const EdgeAcceptances acceptances{Rational(1, 2), Rational(1, 3)};
  const Matrix ascending = adj_chain(acceptances);
  Matrix descending(3, 3);
  for (std::size_t x = 0; x < 3; ++x) {
    for (std::size_t y = 0; y < 3; ++y) descending(x, y) = ascending(y, x);
  }
  CHECK(up(ascending) == adj_round_trip_formula(acceptances).up);
  CHECK(up(descending) != adj_round_trip_formula(acceptances).up);
}

TEST_CASE("laws of round trips") {
  law("the chains give K(1+R) and 2K(1+R), with eq:ord-up and eq:ord-down", [] {
    const EdgeAcceptances acceptances = random_acceptances();
    const std::size_t rungs = acceptances.size() + 1;
    Rational rejection = 0;
    for (const Rational& a : acceptances) rejection += (1 - a) / a;
    const RoundTrip adj = adj_round_trip(acceptances);
    const RoundTrip formula = adj_round_trip_formula(acceptances);
    RC_ASSERT(adj.up == formula.up);
    RC_ASSERT(adj.down == formula.down);
    RC_ASSERT(adj.total() == rungs * (1 + rejection));
    RC_ASSERT(deo_round_trip(acceptances).total() == 2 * adj.total());
    RC_ASSERT(deo_round_trip_formula(acceptances) == 2 * adj.total());
  });
  law("both chains have rows that sum to one", [] {
    const EdgeAcceptances acceptances = random_acceptances();
    for (const Matrix& chain : {adj_chain(acceptances), deo_chain(acceptances)}) {
      for (std::size_t x = 0; x < chain.rows(); ++x) {
        Rational total = 0;
        for (std::size_t y = 0; y < chain.columns(); ++y) total += chain(x, y);
        RC_ASSERT(total == 1);
      }
    }
  });
}
