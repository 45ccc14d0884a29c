#include "reference/arithmetic/whole_rows.hpp"

#include "tests/law.hpp"
#include "tests/reference/arithmetic/drawn_rows.hpp"

using namespace tempera::reference;

namespace {

std::vector<Rational> row(std::initializer_list<Rational> values) { return values; }

WholeRow whole(std::initializer_list<int> values, int exponent) {
  return {{values.begin(), values.end()}, exponent};
}

Integer squares(const WholeRow& row) { return whole_sum(row, row); }

}  // namespace

TEST_CASE("an exponent is the largest that fits each number and the squares") {
  // 1 at 2^15 is 32,768, one too many; so the largest number decides.
  CHECK(whole_row(row({1}), bound_of_inputs()) == whole({16384}, 14));
  CHECK(whole_row(row({Rational(32767, 32768)}), bound_of_inputs()) == whole({32767}, 15));
  CHECK(whole_row(row({-1}), std::nullopt) == whole({-16384}, 14));
  // One weight may be 32,767: 32,767^2 is below 2^30. Two may not.
  CHECK(whole_row(row({32767, 0}), bound_of_weights()) == whole({32767, 0}, 0));
  CHECK(whole_row(row({32767, 256}), bound_of_weights()) == whole({16384, 128}, -1));
  CHECK(whole_row(row({32767, 255}), bound_of_weights()) == whole({32767, 255}, 0));
  // Squares that add up to the bound itself fit, and one more does not.
  CHECK(whole_row(row({32767, 255, 22, 5}), bound_of_weights())->exponent == 0);
  CHECK(whole_row(row({32767, 255, 22, 5, 1}), bound_of_weights())->exponent == -1);
  // Four inputs may be 32,767, and five not; values may all be.
  CHECK(whole_row(row({32767, 32767, 32767, 32767}), bound_of_inputs())->exponent == 0);
  CHECK(whole_row(row({32767, 32767, 32767, 32767, 513}), bound_of_inputs())->exponent == -1);
  CHECK(whole_row(std::vector<Rational>(300, 32767), std::nullopt)->exponent == 0);
}

TEST_CASE("numbers half way between two are rounded to even, at the exponent that fits then") {
  // 16,384 · 2 would be 32,768: the exponent is 0, and halves are ties.
  CHECK(whole_row(row({16384, Rational(1, 2), Rational(3, 2), Rational(-5, 2)}),
                  bound_of_inputs()) == whole({16384, 0, 2, -2}, 0));
  // 32,767.5 is rounded up to 32,768 and does not fit; 32,766.5 is rounded down and does.
  CHECK(whole_row(row({Rational(65535, 2)}), std::nullopt) == whole({16384}, -1));
  CHECK(whole_row(row({Rational(65533, 2)}), std::nullopt) == whole({32766}, 0));
}

TEST_CASE("a row whose rounding pushes its squares over the bound has the exponent below") {
  // 32,767^2 + 255^2 + 22^2 is below 2^30 - 1, and with 23 for 22 it is above.
  const auto pushed = row({Rational(163833, 5), 255, Rational(113, 5)});
  CHECK(pushed[0] * pushed[0] + pushed[1] * pushed[1] + pushed[2] * pushed[2] <
        Rational(bound_of_weights()));
  CHECK(whole_row(pushed, bound_of_weights()) == whole({16383, 128, 11}, -1));
}

TEST_CASE("rows of zeros, of the smallest numbers and of too large ones") {
  CHECK(whole_row(row({0, 0, 0}), bound_of_inputs()) == whole({0, 0, 0}, 0));
  CHECK(whole_row(row({power_of_two(-149), -power_of_two(-64)}), bound_of_inputs()) ==
        whole({0, 0}, 0));
  CHECK(whole_row(row({power_of_two(-63)}), bound_of_inputs()) == whole({1}, 63));
  CHECK(whole_row(row({power_of_two(-64) * Rational(9, 8)}), bound_of_inputs()) == whole({1}, 63));
  CHECK(whole_row(row({power_of_two(77)}), bound_of_inputs()) == whole({16384}, -63));
  CHECK_FALSE(whole_row(row({power_of_two(78)}), bound_of_inputs()));
  CHECK(whole_row({}, bound_of_inputs()) == WholeRow{{}, 0});
}

TEST_CASE("one huge number leaves little of its segment and nothing lost in the next") {
  std::vector<Rational> outlier(1024, Rational(1));
  outlier[3] = 1'000'000;
  const auto segments = whole_segments(outlier, bound_of_inputs());
  REQUIRE(segments->size() == 2);
  CHECK((*segments)[0].exponent == -5);
  CHECK((*segments)[0].values[0] == 0);
  CHECK((*segments)[0].values[3] == 31250);
  CHECK((*segments)[1].exponent == 11);
  CHECK((*segments)[1].values[0] == 2048);
  outlier.resize(513);
  CHECK(whole_segments(outlier, bound_of_inputs())->back() == whole({16384}, 14));
}

TEST_CASE("a product is rounded once for each segment and once for each addition") {
  // 32,767 · 32,767 = 2^30 - 2^16 + 1 needs 30 bits: 1 is lost.
  CHECK(segment_product(whole({32767}, 3), whole({32767}, 4)) ==
        (power_of_two(30) - power_of_two(16)) * power_of_two(-7));
  CHECK(segment_product(whole({3, -2}, -1), whole({5, 7}, 63)) == power_of_two(-62));
  CHECK(segment_product(whole({0}, 0), whole({7}, 9)) == Rational(0));
  // 2^24 + 1 is a tie; two steps of 1 are lost one by one, and in another order they are not.
  const WholeRow one = whole({1}, 0);
  CHECK(whole_product({whole({4096}, 0), one, one}, {whole({4096}, 0), one, one}) ==
        power_of_two(24));
  CHECK(whole_product({one, one, whole({4096}, 0)}, {one, one, whole({4096}, 0)}) ==
        power_of_two(24) + 2);
}

TEST_CASE("a mean square is the exact sum of squares, divided once") {
  CHECK(whole_mean_square(whole({3, 4}, 1)) == Rational(25, 8));
  CHECK(whole_mean_square(whole({1, 1, 0}, 0)) == nearest_float32(Rational(2, 3)));
  CHECK(whole_mean_square(whole({0, 0}, 0)) == Rational(0));
  // Four of 32,767: 2^32 - 2^18 + 4 needs more than 24 bits.
  CHECK(whole_mean_square(whole({32767, 32767, 32767, 32767}, 0)) ==
        (power_of_two(32) - power_of_two(18)) / 4);
}

TEST_CASE("laws of rows as whole numbers") {
  law("a row fits at its exponent, and neither at the next nor at any above", [] {
    const auto drawn = random::row();
    const bool weights = *rc::gen::arbitrary<bool>();
    const Integer bound = weights ? bound_of_weights() : bound_of_inputs();
    const auto found = whole_row(drawn, bound);
    RC_ASSERT(found.has_value());
    RC_ASSERT(squares(*found) <= bound);
    if (squares(*found) == 0) return;
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const Rational away = drawn[i] * power_of_two(found->exponent) - Rational(found->values[i]);
      RC_ASSERT(abs(away) <= Rational(1, 2));
    }
    for (int exponent = found->exponent + 1; exponent <= 63; ++exponent) {
      Integer sum = 0;
      bool large = false;
      for (const Rational& x : drawn) {
        const Integer value = nearest_whole(x * power_of_two(exponent));
        sum += value * value;
        large = large || abs(value) > 32767;
      }
      RC_ASSERT((large || sum > bound));
    }
  });
  law("no part of a product leaves 32 bits, in whatever order it is added", [] {
    auto inputs = random::row();
    auto weights = random::row();
    const auto size = std::min(inputs.size(), weights.size());
    inputs.resize(size);
    weights.resize(size);
    const auto x = whole_row(inputs, bound_of_inputs());
    const auto w = whole_row(weights, bound_of_weights());
    Integer positive = 0, negative = 0;  // the two largest parts
    for (std::size_t i = 0; i < size; ++i) {
      const Integer term = x->values[i] * w->values[i];
      (term > 0 ? positive : negative) += term;
    }
    RC_ASSERT(positive < (Integer(1) << 31));
    RC_ASSERT(negative > -(Integer(1) << 31));
  });
}
