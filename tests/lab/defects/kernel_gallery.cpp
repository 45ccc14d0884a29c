#include "lab/defects/kernel_gallery.hpp"

#include <algorithm>
#include <set>

#include "lab/defects/small_kernels.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using namespace tempera::lab;

TEST_CASE("every planted defect is caught, on a model no larger than the one it begins with") {
  const auto defects = planted_defects();
  CHECK(defects.size() + 5 >= 24);
  std::set<std::string> names;
  for (const PlantedDefect& defect : defects) {
    INFO(defect.name);
    CHECK(names.insert(defect.name).second);
    CHECK_FALSE(defect.description.empty());
    const DefectFound found = hunt(defect);
    CHECK(found.caught);
    CHECK_FALSE(found.counterexample.empty());
    const auto model = reference::parse_finite_model(found.model, "found");
    const JudgedCase smallest(model, found.horizon, defect.judged.target());
    CHECK(smallest.size() <= defect.judged.size());
    // What is said of the smallest model is so: the kernel fails there, too.
    if (!defect.said_to_be) CHECK_FALSE(judge_kernel(defect.kernel, smallest).sound());
  }
}

TEST_CASE("the small kernels in which the defects are planted are sound without them") {
  CHECK(judge_kernel(kernel_of(SmallMove()), small_case()).sound());
  CHECK(judge_kernel(kernel_of(SmallRound()), small_case({1, 2})).sound());
  CHECK(judge_kernel(kernel_of(SmallRound()), small_case({1, 2, 3})).sound());
  CHECK(judge_kernel(sound_particles(), small_case({2})).sound());
  PlantedDefect none{"none", "nothing is planted", kernel_of(SmallMove()), small_case()};
  CHECK_FALSE(hunt(none).caught);
  none.said_to_be = kernel_of(SmallMove());
  CHECK_FALSE(hunt(none).caught);
}

TEST_CASE("production's five defects are part of the gallery") {
  const auto found = found_in_production(
      reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/four_tokens.json"));
  CHECK(found.size() == 5);
  for (const DefectFound& one : found) {
    INFO(one.name);
    CHECK(one.caught);
  }
}
