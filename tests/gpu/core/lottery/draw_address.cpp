#include "gpu/core/lottery/draw_address.hpp"

#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera::gpu;

namespace {

/// The address of a counter, read off its 128 bits: the widths of the design, from the lowest bit,
/// prompt 32, sample 20, turn 24, position 20, purpose 16, rung 16.
DrawAddress address_of(const Word& counter) {
  std::size_t bit = 0;
  const auto take = [&](std::size_t width) {
    std::uint32_t field = 0;
    for (std::size_t i = 0; i < width; ++i, ++bit)
      field |= (counter.limb[bit / 32] >> (bit % 32) & 1U) << i;
    return field;
  };
  DrawAddress address;
  address.prompt_index = take(32);
  address.sample_index = take(20);
  address.turn = take(24);
  address.position = take(20);
  address.purpose = static_cast<Purpose>(take(16));
  address.rung = static_cast<std::uint16_t>(take(16));
  return address;
}

}  // namespace

TEST_CASE("no two addresses share a counter: it tells the address") {
  const auto tells = [](const DrawAddress& address) {
    return address_of(counter_of(address)) == address;
  };
  law("any address", [&] {
    const auto below = [](std::uint64_t count) {
      return static_cast<std::uint32_t>(*rc::gen::arbitrary<std::uint64_t>() % count);
    };
    RC_ASSERT(
        tells({below(addressable_prompts), below(addressable_samples),
               static_cast<std::uint16_t>(below(addressable_rungs)), below(addressable_turns),
               below(addressable_positions),
               *rc::gen::element(Purpose::extension_token, Purpose::restart_position,
                                 Purpose::proposal_token, Purpose::accept, Purpose::swap,
                                 Purpose::resample, Purpose::final_particle, Purpose::survival)}));
  });
  CHECK(tells({0xFFFFFFFF, 0xFFFFF, 0xFFFF, 0xFFFFFF, 0xFFFFF, Purpose::swap}));
  CHECK(tells({0, 0xFFFFF, 0, 0, 0, Purpose::accept}));
  CHECK(tells({0, 0, 0, 0xFFFFFF, 0, Purpose::accept}));
  CHECK(tells({0, 0, 0, 0, 0xFFFFF, Purpose::accept}));
}

TEST_CASE("a field beyond its width is an error, never another address") {
  CHECK_THROWS_AS(counter_of({0, 1U << 20, 0, 0, 0, Purpose::accept}), tempera::Bug);
  CHECK_THROWS_AS(counter_of({0, 0, 0, 1U << 24, 0, Purpose::accept}), tempera::Bug);
  CHECK_THROWS_AS(counter_of({0, 0, 0, 0, 1U << 20, Purpose::accept}), tempera::Bug);
}
