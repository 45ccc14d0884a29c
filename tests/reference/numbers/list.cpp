#include "reference/numbers/list.hpp"

#include "base/error.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using namespace tempera::reference;

TEST_CASE("lists are separated by commas, without empty places") {
  CHECK(parse_rationals("1/2,0.25,3", "test") ==
        std::vector<Rational>{Rational(1, 2), Rational(1, 4), Rational(3)});
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "1 ,2"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_rationals(text, "test"), BadInput);
  }
}
