#include "reference/arithmetic/whole_attention.hpp"

#include "tests/law.hpp"

using namespace tempera::reference;

namespace {

WholeRow value(int number, int exponent) { return {{number}, exponent}; }

}  // namespace

TEST_CASE("a position alone has the largest weight, and its value comes back") {
  const auto split = whole_split({1}, {true}, {{{20000, -7, 0}, 3}});
  CHECK(split.weights == std::vector<Integer>{32767});
  CHECK(split.mass == 1);
  // (20,000 · 32,767 in 24 bits) · (1 / 32,767 in 24 bits) / 8.
  const Rational scale = *nearest_float32(Rational(1, 32767)) / 8;
  CHECK(split.attended[0] == *nearest_float32(*nearest_float32(Rational(20000 * 32767)) * scale));
  CHECK(split.attended[2] == 0);
}

TEST_CASE("shares half way between two whole numbers go to the even one") {
  // 1 and 2^-16: the first share is 32,767.5 in float32, the tie goes up, and 32,767 is the most.
  const auto split = whole_split({1, power_of_two(-16)}, {true, true}, {value(1, 0), value(1, 0)});
  CHECK(split.weights == std::vector<Integer>{32767, 0});
  // Four equal ones: 2^13 each.
  const auto even = whole_split({1, 1, 1, 1}, {true, true, true, true},
                                {value(1, 0), value(2, 0), value(3, 0), value(4, 0)});
  CHECK(even.weights == std::vector<Integer>(4, 8192));
  CHECK(even.mass == 4);
  CHECK(even.attended[0] == 10);
  // 256 equal ones: 128 each, 2^15 in all.
  const auto whole = whole_split(std::vector<Rational>(256, 1), std::vector<bool>(256, true),
                                 std::vector<WholeRow>(256, value(3, 1)));
  CHECK(whole.weights == std::vector<Integer>(256, 128));
  CHECK(whole.attended[0] == 384);
}

TEST_CASE("a weight has its value's exponent in it, and no value of 0 counts") {
  // Values 1,024 · 2^-0 and 1,024 · 2^-1: contributions of 2 to 1.
  const auto split = whole_split({1, 1}, {true, true}, {value(1024, 0), value(1024, 1)});
  CHECK(split.weights == std::vector<Integer>{21845, 10923});
  CHECK(split.mass == 2);
  CHECK(split.attended[0] == 1536);
  const auto zero = whole_split({1, 1}, {true, true}, {value(0, 0), value(1024, 5)});
  CHECK(zero.weights == std::vector<Integer>{0, 32767});
  CHECK(zero.mass == 2);
  const auto none = whole_split({1, 1}, {true, true}, {value(0, 0), value(0, 0)});
  CHECK(none.weights == std::vector<Integer>{0, 0});
  CHECK(none.attended[0] == 0);
  // A difference of exponents beyond 31 is 31.
  const auto apart =
      whole_split({1, power_of_two(-120)}, {true, true}, {value(1024, 63), value(1024, -63)});
  CHECK(apart.weights == std::vector<Integer>{32767, 0});
  const auto unseen = whole_split({1, 1}, {true, false}, {value(5, 0), value(9, -3)});
  CHECK(unseen.weights == std::vector<Integer>{32767, 0});
  CHECK(unseen.mass == 1);
}

TEST_CASE("splits are put together in ascending order") {
  const WholeSplit first{{}, 2, {Rational(6)}}, second{{}, 1, {Rational(1)}};
  CHECK(
      whole_attention({first, second}, {Rational(1), Rational(1, 2)}) ==
      std::vector<Rational>{*nearest_float32(Rational(13, 2) * *nearest_float32(Rational(2, 5)))});
  CHECK(whole_attention({first}, {Rational(1)}) == std::vector<Rational>{3});
}

TEST_CASE("a sink takes its share of the mass and adds no value") {
  const WholeSplit split{{}, 2, {Rational(6)}};
  // Below the largest score: 6 / (2 + 1/4).
  CHECK(whole_attention({split}, {Rational(1)}, WholeSink{1, Rational(1, 4)}) ==
        std::vector<Rational>{*nearest_float32(6 * *nearest_float32(Rational(4, 9)))});
  // Above it: 6 · 1/8 / (2/8 + 1).
  CHECK(whole_attention({split}, {Rational(1)}, WholeSink{Rational(1, 8), 1}) ==
        std::vector<Rational>{*nearest_float32(6 * *nearest_float32(Rational(1, 10)))});
}

TEST_CASE("a score is rounded after its sum and after its scale") {
  const Rational third = *nearest_float32(Rational(1, 3));
  CHECK(whole_score({{3, 1}, 1}, {{5, -1}, 2}, third) == *nearest_float32(Rational(14, 8) * third));
}

TEST_CASE("laws of a split") {
  law("its weights add up to 2^15 within 128, so no part of its sums leaves 32 bits", [] {
    const auto positions = static_cast<std::size_t>(*rc::gen::inRange(1, 257));
    std::vector<Rational> exponentials;
    std::vector<WholeRow> values;
    for (std::size_t i = 0; i < positions; ++i) {
      const int significand = *rc::gen::inRange(1 << 23, 1 << 24);
      const int below = *rc::gen::inRange(0, 20);
      exponentials.push_back(Rational(significand) * power_of_two(-24 - below));
      values.push_back({{*rc::gen::inRange(-32767, 32768)}, *rc::gen::inRange(-3, 4)});
    }
    exponentials[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(positions)))] =
        1;
    const auto split = whole_split(exponentials, std::vector<bool>(positions, true), values);
    Integer total = 0, largest = 0;
    for (std::size_t i = 0; i < positions; ++i) {
      total += split.weights[i];
      largest += abs(split.weights[i] * values[i].values[0]);
    }
    RC_ASSERT(total <= 32768 + 128);
    RC_ASSERT(total >= 32768 - 128);
    RC_ASSERT(largest < (Integer(1) << 31));
  });
}
