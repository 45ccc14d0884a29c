#include "cli/commands/fractions.hpp"

#include "base/error.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using namespace tempera::cli;

TEST_CASE("fractions are in digits without leading zeros") {
  CHECK(
      parse_fractions("1/2,0.25,3", "--flag") ==
      std::vector<reference::Rational>{reference::Rational(1) / 2, reference::Rational(1) / 4, 3});
  CHECK(parse_fraction("-1/2", "--flag") == reference::Rational(-1) / 2);
  CHECK(parse_fraction("1e-9", "--flag") == reference::Rational(1) / 1000000000);
  CHECK(parse_fraction("2.5e+2", "--flag") == 250);
  for (const char* text :
       {"", "1/2,", ",1", "01/2", "1/02", "1/2/3", "1 /2", "1e", "1e1/2", "1/2e1", "1/2 1/3"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_fractions(text, "--flag"), BadInput);
    CHECK_THROWS_WITH(parse_fractions(text, "--flag"), Catch::StartsWith("--flag: ") &&
                                                           Catch::Contains("is not a number") &&
                                                           Catch::Contains("; "));
  }
}
