#include "gpu/transformer/kernels/host/host_kernels.hpp"

#include <stdexcept>
#include <string>

namespace tempera::gpu {

namespace {

template <InstructionSet Set>
const Kernels& kernels_for(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::tensor_core ? tensor_core_kernels_for<Set>()
                                               : float32_kernels_for<Set>();
}

}  // namespace

const Kernels& host_kernels(InstructionSet set, Arithmetic arithmetic) {
  if (const auto why = why_missing(set); !why.empty()) {
    throw std::invalid_argument("no kernels for " + std::string(name_of(set)) + ": " + why);
  }
  switch (set) {
#if defined(TEMPERA_HAS_AVX512)
    case InstructionSet::avx512:
      return kernels_for<InstructionSet::avx512>(arithmetic);
#endif
#if defined(TEMPERA_HAS_AVX2)
    case InstructionSet::avx2:
      return kernels_for<InstructionSet::avx2>(arithmetic);
#endif
    default:
      return kernels_for<InstructionSet::plain>(arithmetic);
  }
}

}  // namespace tempera::gpu
