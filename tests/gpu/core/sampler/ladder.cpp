#include "gpu/core/sampler/ladder.hpp"

#include <cmath>
#include <limits>

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu {

TEST_CASE("a ladder keeps its powers in order") {
  const Ladder ladder({0.5, 1.0, 4.0});
  CHECK(ladder.rungs() == 3);
  CHECK(ladder.power(0) == 0.5);
  CHECK(ladder.powers() == std::vector<double>{0.5, 1.0, 4.0});
  CHECK_THROWS_AS(ladder.power(3), std::out_of_range);
  CHECK(Ladder({2.0}).rungs() == 1);
}

TEST_CASE("a ladder that is none is refused, its rung named") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refuse = [](const std::vector<double>& powers, const std::string& where) {
    require_bad_input([&] { Ladder{powers}; }, {where, "; "});
  };
  refuse({}, "powers: the ladder has no rung");
  refuse({0.0}, "powers, rung 1: the power is 0");
  refuse({-1.0, 2.0}, "powers, rung 1: the power is -1");
  refuse({1.0, std::nan("")}, "powers, rung 2: the power is nan");
  refuse({1.0, infinity}, "powers, rung 2: the power is inf");
  refuse({1.0, 0x1.0000000000001p+20},
         "powers, rung 2: the power is 1048576.0000000002; give a power");
  refuse({0x1.fffffffffffffp-21},
         "powers, rung 1: the power is 9.536743164062499e-07; give a power");
  CHECK(Ladder({least_power, largest_power}).rungs() == 2);
  refuse({1.0, 1.0}, "powers, rung 2: the power 1 does not exceed");
  refuse({1.0, 3.0, 2.0}, "powers, rung 3: the power 2 does not exceed");
  std::vector<double> many;
  for (int k = 0; k < 65536; ++k) many.push_back(1.0 + k);
  refuse(many, "more than 65535 rungs");
  many.pop_back();
  CHECK(Ladder(many).rungs() == 65535);
}

}  // namespace tempera::gpu
