#include "gpu/lottery/tickets.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
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

TEST_CASE("log Z_1 is right to 2^-45") {
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
