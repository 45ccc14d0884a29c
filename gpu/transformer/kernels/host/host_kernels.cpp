#include "gpu/transformer/kernels/host/host_kernels.hpp"

#include <stdexcept>
#include <string>

#include "gpu/device/for_instruction_set.hpp"

namespace tempera::gpu {

const Kernels& host_kernels(InstructionSet set, Arithmetic arithmetic) {
  if (const auto why = why_missing(set); !why.empty()) {
    throw std::invalid_argument("no kernels for " + std::string(name_of(set)) + ": " + why);
  }
  return for_instruction_set(set, [&]<InstructionSet Set>() -> const Kernels& {
    return arithmetic == Arithmetic::tensor_core ? tensor_core_kernels_for<Set>()
                                                 : float32_kernels_for<Set>();
  });
}

}  // namespace tempera::gpu
