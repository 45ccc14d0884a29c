// A user's test by Catch2: the kernel samples p0^2, and without its acceptance it does not.
#include <cstdlib>
#include <tempera/catch2.hpp>

#include "independent.hpp"

TEST_CASE("a kernel of a user's own") {
  using namespace tempera;
  const check::Case judged{exact::FiniteModel::open(std::getenv("MODEL")), 2, {2}};
  CHECK_THAT(independent(true), check::samples(judged));
  CHECK_THAT(independent(false), !check::samples(judged));
  const check::Verdict verdict = check::judge(independent(true), judged);
  REQUIRE(verdict.states == judged.model.records(2));
  // Πp P = Π, computed anew from what the verdict hands over.
  const auto target = judged.model.power_law(2, 2);
  for (std::size_t y = 0; y < target.size(); ++y) {
    exact::Fraction mass = 0;
    for (std::size_t x = 0; x < target.size(); ++x) mass = mass + target[x] * verdict.matrix[x][y];
    CHECK(mass == target[y]);
  }
  const std::string fault = check::fault(independent(false), judged);
  CHECK(fault.find("on horizon") != std::string::npos);
}
