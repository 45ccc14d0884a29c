#include "gpu/lottery/draw_address.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/law.hpp"

using namespace tempera::gpu;

TEST_CASE("no two addresses share a counter") {
  law("the counter tells the address", [](std::uint32_t prompt, std::uint16_t rung,
                                          std::uint32_t round, std::uint32_t position) {
    const auto purpose = *rc::gen::element(Purpose::extension_token, Purpose::restart_position,
                                           Purpose::proposal_token, Purpose::accept, Purpose::swap);
    const Word counter = counter_of({prompt, rung, round, position, purpose});
    RC_ASSERT(counter.limb[0] == position);
    RC_ASSERT(counter.limb[1] == round);
    RC_ASSERT(counter.limb[2] == prompt);
    RC_ASSERT(counter.limb[3] >> 16 == rung);
    RC_ASSERT((counter.limb[3] & 0xffffU) == static_cast<std::uint32_t>(purpose));
  });
}
