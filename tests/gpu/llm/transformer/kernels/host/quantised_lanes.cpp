// What becomes of the parts of a quantised block in a register, held against one number at a time.
#include "gpu/llm/transformer/kernels/host/quantised_lanes.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/catch.hpp"

namespace tempera::gpu::quantised_lanes_test {

namespace {

/// How many finite float16s are not loaded as what finite_float16 says.
template <bool Flushed>
std::size_t differing_float16s() {
  std::size_t differ = 0;
  for (std::uint32_t first = 0; first < 0x10000; first += lanes) {
    if ((first & 0x7C00) == 0x7C00) continue;  // infinities and NaNs
    std::uint16_t halves[lanes];
    for (std::size_t i = 0; i < lanes; ++i) halves[i] = static_cast<std::uint16_t>(first + i);
    const auto floats =
        load_float16<Flushed>(BlocksInMemory<1>{{reinterpret_cast<const std::byte*>(halves)}});
    for (std::size_t i = 0; i < lanes; ++i) {
      const float made = floats.parts[i / register_lanes][i % register_lanes];
      const float expected = finite_float16(halves[i]);
      differ += std::memcmp(&made, &expected, sizeof made) != 0;
    }
  }
  return differ;
}

}  // namespace

TEST_CASE("every finite float16 has its value in a register", "[kernels][quantised]") {
  CHECK(differing_float16s<false>() == 0);
  CHECK(differing_float16s<true>() == 0);
}

}  // namespace tempera::gpu::quantised_lanes_test
