// The checks of ./gpu-check, each shown what it must not let through.
#include "tests/catch.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/pearson.hpp"
#include "tests/devices/tensor_core_operands.hpp"

using namespace tempera::gpu;

TEST_CASE("one wrong bit in one step of the tensor core fails the comparison, and is shown") {
  std::vector<std::uint32_t> results(std::size_t{10} * 128);
  take_tensor_core_steps(10, results.data());
  const Finding sound = steps_against_model(results);
  for (const std::size_t place : {std::size_t{0}, std::size_t{700}, results.size() - 1}) {
    std::vector<std::uint32_t> changed = results;
    changed[place] ^= 1U;
    const Finding finding = steps_against_model(changed);
    CHECK(finding.verdict == Finding::Verdict::fails);
    CHECK_THAT(finding.words, Catch::Contains("first difference"));
    // The step that was changed, and whatever the device had wrong already.
    CHECK(finding.numbers["different"] != sound.numbers["different"]);
  }
}

TEST_CASE("the law's test takes its own law and refuses one that is off by its stated reach") {
  std::vector<double> law(1000);
  double total = 0.0;
  for (std::size_t s = 0; s < law.size(); ++s) total += law[s] = 1.0 + static_cast<double>(s % 7);
  for (double& p : law) p /= total;
  std::vector<double> other = law;
  for (std::size_t s = 0; s + 1 < law.size(); s += 2) {
    other[s] += 0.2 * law[s + 1];
    other[s + 1] -= 0.2 * law[s + 1];
  }
  constexpr std::size_t n = 100000;
  const double bound = pearson_bound(law, n, 1e-3);
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 10; ++trial) {
    CHECK(pearson(counts_from(law, n, random), law, n) <= bound);
    CHECK(pearson(counts_from(other, n, random), law, n) > bound);
  }
}
