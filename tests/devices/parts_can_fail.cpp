// The checks of ./gpu-check, each shown what it must not let through.
#include <bit>
#include <cmath>

#include "tests/catch.hpp"
#include "tests/devices/figures.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/pearson.hpp"
#include "tests/devices/tensor_core_steps.hpp"
#include "tests/devices/wgmma_operands.hpp"

using namespace tempera::gpu;

TEST_CASE("one wrong bit in one step of the tensor core fails the comparison, and is shown") {
  std::vector<std::uint32_t> results(std::size_t{10} * 128);
  take_tensor_core_steps(10, results.data());
  const auto compared = [](const std::vector<std::uint32_t>& steps) {
    return steps_against_model(steps, "mma.sync", own_arithmetic());
  };
  const Finding sound = compared(results);
  for (const std::size_t index : {std::size_t{0}, std::size_t{700}, results.size() - 1}) {
    std::vector<std::uint32_t> changed = results;
    changed[index] ^= 1U;
    const Finding finding = compared(changed);
    CHECK(finding.verdict == Finding::Verdict::fails);
    CHECK_THAT(finding.words, Catch::Contains("first difference"));
    // The step that was changed, and whatever the device had wrong already.
    CHECK(finding.numbers["different"] != sound.numbers["different"]);
  }
}

TEST_CASE("steps of Ampere hold by its own model, and fail by Hopper's") {
  std::vector<std::uint32_t> results;
  for (std::uint32_t tile = 0; tile < 12; ++tile) {
    for (std::uint32_t row = 0; row < 16; ++row) {
      for (std::uint32_t column = 0; column < 8; ++column) {
        std::uint16_t a[16];
        std::uint16_t b[16];
        for (std::uint32_t k = 0; k < 16; ++k) {
          a[k] = operand_bits(tile, 0, row, k);
          b[k] = operand_bits(tile, 1, column, k);
        }
        const auto c = std::bit_cast<float>(accumulator_bits(tile, row, column));
        results.push_back(std::bit_cast<std::uint32_t>(ampere_step(a, b, c)));
      }
    }
  }
  const Finding own = steps_against_model(results, "mma.sync", Arithmetic::tensor_core_ampere);
  CHECK(own.verdict == Finding::Verdict::holds);
  CHECK_THAT(own.words, Catch::Contains("0 of 1536 steps of mma.sync differ from Ampere's model"));
  const Finding other = steps_against_model(results);
  CHECK(other.verdict == Finding::Verdict::fails);
  CHECK_THAT(other.words, Catch::Contains("differ from Hopper's model; 0 differ from Ampere's"));
}

TEST_CASE("wgmma's operands are in core matrices, and its descriptor says how far apart they are") {
  // By the PTX ISA: 8 rows of 16 bytes, the two halves of K side by side, then the next 8 rows.
  CHECK(wgmma_operand_offset(0, 0) == 0);
  CHECK(wgmma_operand_offset(0, 7) == 14);
  CHECK(wgmma_operand_offset(1, 0) == 16);
  CHECK(wgmma_operand_offset(0, 8) == 128);
  CHECK(wgmma_operand_offset(8, 0) == 256);
  CHECK(wgmma_operand_offset(63, 15) == 2046);
  CHECK(wgmma_descriptor(0x1230) == (0x123ULL | 128ULL / 16 << 16 | 256ULL / 16 << 32));
}

TEST_CASE("a wgmma that differs fails, and a probe whose whole numbers differ has not run") {
  constexpr std::uint32_t tiles = 12;
  std::vector<std::uint32_t> results;
  for (std::uint32_t tile = 0; tile < tiles; ++tile) {
    for (std::uint32_t row = 0; row < 16; ++row) {
      for (std::uint32_t column = 0; column < 8; ++column) {
        std::uint16_t a[16];
        std::uint16_t b[16];
        for (std::uint32_t k = 0; k < 16; ++k) {
          a[k] = operand_bits(tile, 0, row, k);
          b[k] = operand_bits(tile, 1, column, k);
        }
        const auto c = std::bit_cast<float>(accumulator_bits(tile, row, column));
        results.push_back(std::bit_cast<std::uint32_t>(hopper_step(a, b, c)));
      }
    }
  }
  CHECK(wgmma_against_model(results).verdict == Finding::Verdict::holds);
  const auto with_changed = [&](Operands kind) {
    std::vector<std::uint32_t> changed = results;
    changed[static_cast<std::size_t>(kind) * 128 + 17] ^= 1U;
    return wgmma_against_model(changed);
  };
  const Finding differs = with_changed(Operands::cancelling);
  CHECK(differs.verdict == Finding::Verdict::fails);
  CHECK_THAT(differs.words, Catch::Contains("1 of 1536 steps of wgmma differ"));
  const Finding misplaced = with_changed(Operands::whole);
  CHECK(misplaced.verdict == Finding::Verdict::not_run);
  CHECK_THAT(misplaced.words, Catch::Contains("the probe is wrong"));
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

TEST_CASE("a figure that misses its goal is told, a NaN too, and a host's is not judged") {
  const Goal least{Goal::Side::at_least, 0.85};
  const Goal most{Goal::Side::at_most, 0.05};
  Figures figures(false);
  figures.judge("met", 0.85, "of the bandwidth", least);
  figures.judge("met", 0.05, "of the step", most);
  CHECK(figures.missed() == 0);
  figures.judge("planted: too slow", 0.849, "of the bandwidth", least);
  figures.judge("planted: too long", 0.051, "of the step", most);
  figures.judge("planted: no number", std::nan(""), "of the step", most);
  CHECK(figures.missed() == 3);
  CHECK(figures.judged() == 5);
  CHECK(figures.json()[2]["verdict"] == "MISSED");
  figures.not_measured("a graph", "there is none");
  CHECK(figures.left_out() == 1);
  CHECK(figures.json().back()["verdict"] == "not measured");
  Figures of_a_host(true);
  of_a_host.judge("slow, on a host", 0.01, "of the bandwidth", least);
  CHECK(of_a_host.missed() == 0);
  CHECK(of_a_host.json()[0]["verdict"] == "of a host");
}
