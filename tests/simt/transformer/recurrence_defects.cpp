// Copies of the kernels of a recurrent layer with one defect each (tests/simt/planted.cmake).
#include <planted/recurrence_defects.hpp>
#include <string_view>

#include "tests/catch.hpp"
#include "tests/simt/transformer/recurrence_problem.hpp"

namespace tempera::recurrence_defects_test {

using namespace tempera;
using namespace tempera::tests;

TEST_CASE("every defect planted in a recurrent layer is caught, and the copy without is sound") {
  const LayerProblem problem(tiled(shape_of(2, 4, 20, 19, 4)),
                             {{0, 1}, {63, 2}, {64, 1}, {1, 2}, {60, 13}, {127, 1}, {0, 65}}, 7);
  const auto expected = problem.by_host();
  std::size_t planted = 0;
  for (const gpu::PlantedRecurrence& recurrence : gpu::planted_recurrences) {
    CAPTURE(recurrence.defect);
    const bool sound = std::string_view(recurrence.defect) == "none";
    simt::Stream stream;
    CHECK((problem.by_kernels(stream, recurrence.launch) == expected) == sound);
    planted += sound ? 0 : 1;
  }
  CHECK(planted == 15);
}

}  // namespace tempera::recurrence_defects_test
