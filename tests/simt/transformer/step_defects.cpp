// Copies of the step with one defect each (tests/simt/planted.cmake): the comparison of
// tests/simt/transformer/token_step.cpp must tell every one of them from the host.
#include <planted/step_defects.hpp>
#include <string_view>

#include "base/error.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"
#include "tests/catch.hpp"
#include "tests/simt/transformer/forwarding_kernels.hpp"
#include "tests/simt/transformer/step_history.hpp"

namespace tempera::step_defects_test {

using namespace tempera;
using namespace tempera::tests;

namespace {

/// CudaKernels with a step that has a defect.
class DefectiveKernels final : public ForwardingKernels {
 public:
  explicit DefectiveKernels(const gpu::PlantedStep& planted)
      : ForwardingKernels(2), planted_(planted) {}
  std::unique_ptr<gpu::TokenStep> make_token_step() const override {
    return planted_.make(cuda().device().stream);
  }

 private:
  const gpu::PlantedStep& planted_;
};

bool has_host_bits(const gpu::PlantedStep& planted, StepLayers layers) {
  const DefectiveKernels kernels(planted);
  StepHistory history(kernels, 23, layers);
  try {
    if (layers == StepLayers::attending && history.differences_of_long_forks() != 0) return false;
    for (const std::size_t rows : {1U, 3U, 9U, 2U, 6U, 14U, 5U, 7U, 12U, 3U, 8U, 13U}) {
      if (layers == StepLayers::recurrent && rows > 9) continue;
      if (history.differences_of_a_batch(rows) != 0) return false;
      if (history.differences_of_a_decode_step() != 0) return false;
    }
  } catch (const ModelError&) {
    return false;  // a row that is no law
  } catch (const gpu::simt::LaunchFailure&) {
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("every defect planted in the step is caught, and the copy without one is sound") {
  std::size_t planted = 0;
  for (const gpu::PlantedStep& step : gpu::planted_steps) {
    CAPTURE(step.defect);
    const std::string_view defect = step.defect;
    const bool sound = defect == "none";
    // What goes wrong with states shows in a model that has them.
    const bool of_states = defect.find("state") != std::string_view::npos;
    if (!of_states) CHECK(has_host_bits(step, StepLayers::attending) == sound);
    if (sound || of_states) CHECK(has_host_bits(step, StepLayers::recurrent) == sound);
    planted += sound ? 0 : 1;
  }
  CHECK(planted == 16);
}

}  // namespace tempera::step_defects_test
