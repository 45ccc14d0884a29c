#include "gpu/llm/transformer/kernels/cuda/tensor_core_check.hpp"

#include "gpu/device/planted_fault.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "tests/bad_input.hpp"
#include "tests/catch.hpp"

using namespace tempera;
using namespace tempera::gpu;

TEST_CASE("a device's tensor cores are asked for steps of every kind before they are used") {
  for (const Arithmetic arithmetic : {Arithmetic::tensor_core, Arithmetic::tensor_core_ampere}) {
    const bool of_ampere = takes_ampere_steps(arithmetic);
    simt::Stream own{.seed = 3};
    own.takes_ampere_steps = of_ampere;
    const auto steps = take_tensor_core_steps(own, checked_tiles);
    CHECK(steps.size() == std::size_t{checked_tiles} * 128);
    CHECK(count_other_steps(steps, arithmetic) == 0);
    // Planted: those of the other chip, and one bit of one step.
    simt::Stream other{.seed = 3};
    other.takes_ampere_steps = !of_ampere;
    CHECK(count_other_steps(take_tensor_core_steps(other, checked_tiles), arithmetic) >= 10);
    for (const std::size_t index : {std::size_t{0}, std::size_t{1700}, steps.size() - 1}) {
      auto changed = steps;
      changed[index] ^= 1U;
      CHECK(count_other_steps(changed, arithmetic) == 1);
    }
  }
}

TEST_CASE("an arithmetic whose steps the tensor cores do not take is refused by its name") {
  const Arithmetic arithmetics[] = {Arithmetic::tensor_core, Arithmetic::tensor_core_8_bit_pages,
                                    Arithmetic::tensor_core_ampere,
                                    Arithmetic::tensor_core_ampere_8_bit_pages};
  for (const Arithmetic arithmetic : arithmetics) {
    CHECK_NOTHROW(CudaKernels(1, std::nullopt, StepForm::graph, arithmetic));
    PlantedFault fault;
    fault.tensor_core_differs = true;
    const WithPlantedFault wrong(fault);
    require_bad_input([&] { CudaKernels(1, std::nullopt, StepForm::graph, arithmetic); },
                      {"--arithmetic " + std::string(name_of(arithmetic)) + ": the tensor cores of",
                       " of 4096 steps otherwise than ", "use --arithmetic float32"});
  }
}
