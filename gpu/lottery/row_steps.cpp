#include "gpu/lottery/row_steps.hpp"

#include <stdexcept>
#include <string>

namespace tempera::gpu {

RowSteps::~RowSteps() = default;

const RowSteps& host_row_steps(InstructionSet set) {
  if (const auto why = why_missing(set); !why.empty()) {
    throw std::invalid_argument("no row lottery for " + std::string(name_of(set)) + ": " + why);
  }
  switch (set) {
#if defined(TEMPERA_HAS_AVX512)
    case InstructionSet::avx512:
      return host_row_steps_for<InstructionSet::avx512>();
#endif
#if defined(TEMPERA_HAS_AVX2)
    case InstructionSet::avx2:
      return host_row_steps_for<InstructionSet::avx2>();
#endif
    default:
      return host_row_steps_for<InstructionSet::plain>();
  }
}

}  // namespace tempera::gpu
