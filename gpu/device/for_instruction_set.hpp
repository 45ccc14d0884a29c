#pragma once

#include "gpu/device/instruction_set.hpp"

// Only for the sources that tempera_choosing_sources names (cmake/instruction_sets.cmake): they
// alone know which forms this build has.
#if defined(TEMPERA_HAS_PLAIN)

namespace tempera::gpu {

/// call.operator()<Set>() for base_of(set), or for `plain` if this build lacks its forms.
template <class Call>
decltype(auto) for_instruction_set(InstructionSet set, const Call& call) {
  switch (base_of(set)) {
#if defined(TEMPERA_HAS_AVX512)
    case InstructionSet::avx512:
      return call.template operator()<InstructionSet::avx512>();
#endif
#if defined(TEMPERA_HAS_AVX2)
    case InstructionSet::avx2:
      return call.template operator()<InstructionSet::avx2>();
#endif
    default:
      return call.template operator()<InstructionSet::plain>();
  }
}

}  // namespace tempera::gpu

#endif
