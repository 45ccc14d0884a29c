#include "gpu/transformer/kernels/host/host_kernels.hpp"

#include <stdexcept>
#include <string>

namespace tempera::gpu {

const Kernels& host_kernels(InstructionSet set) {
  if (const auto why = why_missing(set); !why.empty()) {
    throw std::invalid_argument("no kernels for " + std::string(name_of(set)) + ": " + why);
  }
  switch (set) {
#if defined(TEMPERA_HAS_AVX512)
    case InstructionSet::avx512:
      return host_kernels_for<InstructionSet::avx512>();
#endif
#if defined(TEMPERA_HAS_AVX2)
    case InstructionSet::avx2:
      return host_kernels_for<InstructionSet::avx2>();
#endif
    default:
      return host_kernels_for<InstructionSet::plain>();
  }
}

}  // namespace tempera::gpu
