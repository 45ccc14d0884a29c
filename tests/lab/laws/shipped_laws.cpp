#include "lab/laws/shipped_laws.hpp"

#include <limits>

#include "tests/catch.hpp"

using namespace tempera;

TEST_CASE("the compiled sampler's law is within its bounds on every shipped model") {
  const auto uses = lab::read_shipped_uses(TEMPERA_SOURCE_DIR);
  std::size_t told = 0;
  std::size_t announced = 0;
  const auto laws = lab::shipped_laws(uses, [&](const lab::ShippedLaw&, std::size_t all) {
    ++told;
    announced = all;
  });
  CHECK(told == laws.size());
  CHECK(announced == laws.size());
  std::size_t ladders = 0;
  for (const lab::ShippedLaw& law : laws) {
    INFO(law.model << ", horizon " << law.horizon << ", K = " << law.powers.size());
    CHECK(law.tv_to_target < lab::target_bound);
    CHECK(law.tv_own < lab::own_bound);
    CHECK(law.tv_one_step < lab::own_bound);
    CHECK(law.holds());
    CHECK(law.stale_records == 0);
    CHECK(law.states > 0);
    if (law.powers.size() > 1) ++ladders;
  }
  CHECK(ladders >= 9);
  CHECK(laws.size() == uses.size() + ladders);
}

TEST_CASE("a law that is out of one bound, or holds a stale record, does not hold") {
  const lab::ShippedLaw sound{
      "m", 2, {1.0}, {}, 3, lab::Real("9e-7"), lab::Real("9e-12"), lab::Real("9e-12"), 0, 0.0};
  CHECK(sound.holds());
  lab::ShippedLaw law = sound;
  law.tv_to_target = lab::target_bound;
  CHECK_FALSE(law.holds());
  law = sound;
  law.tv_own = lab::own_bound;
  CHECK_FALSE(law.holds());
  law = sound;
  law.tv_one_step = lab::own_bound;
  CHECK_FALSE(law.holds());
  for (lab::Real lab::ShippedLaw::*distance :
       {&lab::ShippedLaw::tv_to_target, &lab::ShippedLaw::tv_own, &lab::ShippedLaw::tv_one_step}) {
    law = sound;
    law.*distance = std::numeric_limits<lab::Real>::quiet_NaN();
    CHECK_FALSE(law.holds());
  }
  law = sound;
  law.stale_records = 1;
  CHECK_FALSE(law.holds());
}
