// Steps of tensor cores as PyPI's mmasim computes them, Hopper's and Ampere's.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "gpu/device/tensor_core.hpp"
#include "tests/catch.hpp"

namespace tempera::gpu {

/// One vector of the fixture; tests/fixtures/tensor_core/make_fixture.py says what is where.
struct GoldenStep {
  std::uint16_t a[step_products];
  std::uint16_t b[step_products];
  float c;
  std::uint32_t hopper;
  std::uint32_t ampere;
};
static_assert(sizeof(GoldenStep) == 76);

inline std::vector<GoldenStep> golden_steps() {
  std::ifstream file(TEMPERA_SOURCE_DIR "/tests/fixtures/tensor_core/vectors.bin",
                     std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file),
                                std::istreambuf_iterator<char>()};
  REQUIRE(bytes.size() % sizeof(GoldenStep) == 0);
  std::vector<GoldenStep> vectors(bytes.size() / sizeof(GoldenStep));
  REQUIRE(vectors.size() == 2800);
  std::memcpy(vectors.data(), bytes.data(), bytes.size());
  return vectors;
}

}  // namespace tempera::gpu
