#include "gpu/core/lottery/tickets.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera::gpu;
using Exact = boost::multiprecision::cpp_bin_float_50;

TEST_CASE("tickets at their ends") {
  CHECK(tickets_of(3.0F, 3.0F, 2.5) == std::uint64_t{1} << 44);
  CHECK(tickets_of(-1000.0F, 3.0F, 4.0) == 1);
  CHECK(tickets_of(-std::numeric_limits<float>::max(), 3.0F, 1.0) == 1);
  CHECK(tickets_of(-std::numeric_limits<float>::infinity(), 3.0F, 1.0) == 0);
}

TEST_CASE("tickets follow their formula") {
  law("w = max(1, round(2^44 exp(α(ℓ − max ℓ)))) to 2^-50 of itself and one half",
      [](std::uint16_t below, std::uint8_t power) {
        const float logit = -static_cast<float>(below) / 4096.0F;
        const double alpha = 0.25 + static_cast<double>(power) / 16.0;
        const Exact exact = ldexp(exp(Exact(alpha) * Exact(logit)), 44);
        const Exact error = abs(Exact(tickets_of(logit, 0.0F, alpha)) - exact);
        // exp errs by 1 ulp and its argument by 2^-53 of at most 16·16; then rounding, or max(1,
        // ·).
        RC_ASSERT(error <= ldexp(exact, -44) + (exact < 1 ? Exact(1) : Exact(0.5)));
      });
}

TEST_CASE("the devices' short way to tickets and grains has the bits of the formula") {
  const auto same = [](float logit, float largest, double power) {
    const double distance = static_cast<double>(logit) - static_cast<double>(largest);
    const GrainSum grains = grains_of(logit, largest);
    const GrainSum short_way = grains_at(distance);
    return tickets_at(distance, power) == tickets_of(logit, largest, power) &&
           short_way.high == grains.high && short_way.low == grains.low;
  };
  law("any logit below any largest", [&](std::uint32_t below, std::int8_t top, std::uint8_t power) {
    const float largest = static_cast<float>(top) / 3.0F;
    const float logit = largest - static_cast<float>(below % 4000001U) / 65536.0F;
    RC_ASSERT(same(logit, largest, 0.125 + static_cast<double>(power) / 32.0));
  });
  // Every float32 around the places where the ticket begins to be 1, is 1 without an exponential,
  // and where the last grain goes: 1.5 tickets at -30.09, no exponential at -31.2 and -44.5.
  for (const float around : {-30.0931F, -30.8F, -31.2F, -43.8F, -44.5F, -0.1F, -0.35F}) {
    float logit = around;
    for (int i = 0; i < 2000; ++i) logit = std::nextafter(logit, 0.0F);
    for (int i = 0; i < 4000; ++i, logit = std::nextafter(logit, -100.0F))
      REQUIRE(same(logit, 0.0F, 1.0));
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float largest = std::numeric_limits<float>::max();
  for (const double power : {0x1p-1000, 0.5, 1.0, 4.0, 0x1p+1000}) {
    CHECK(same(-infinity, 3.0F, power));
    CHECK(same(-largest, largest, power));
    CHECK(same(largest, largest, power));
    CHECK(same(-0.0F, 0.0F, power));
  }
}

TEST_CASE("the sum of grains does not depend on its order") {
  law("any order, any grouping", [](std::vector<std::uint64_t> grains) {
    const auto sum = [](const std::vector<std::uint64_t>& terms, std::size_t cut) {
      GrainSum left;
      GrainSum right;
      for (std::size_t i = 0; i < terms.size(); ++i)
        (i < cut ? left : right) = (i < cut ? left : right) + GrainSum{0, terms[i]};
      return left + right;
    };
    const GrainSum whole = sum(grains, grains.size());
    const std::size_t cut = grains.empty() ? 0 : grains.front() % (grains.size() + 1);
    std::reverse(grains.begin(), grains.end());
    const GrainSum cut_and_reversed = sum(grains, cut);
    RC_ASSERT(whole.high == cut_and_reversed.high);
    RC_ASSERT(whole.low == cut_and_reversed.low);
  });
}

TEST_CASE("log Z_1 is right to 2^-45", "[long]") {
  law("against 50 digits", [](const std::vector<std::uint16_t>& below) {
    GrainSum sum = grains_of(0.0F, 0.0F);
    Exact exact = 1;
    for (const std::uint16_t b : below) {
      const float logit = -static_cast<float>(b) / 1024.0F;
      sum = sum + grains_of(logit, 0.0F);
      exact += exp(Exact(logit));
    }
    RC_ASSERT(abs(Exact(log_of_grains(sum)) - log(exact)) < ldexp(Exact(1), -45));
  });
}
