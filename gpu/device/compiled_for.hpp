#pragma once

#include "gpu/device/arithmetic.hpp"
#include "gpu/device/instruction_set.hpp"
#include "gpu/device/pair_tiles.hpp"

// Only for sources that are compiled once per instruction set.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The set that the flags of this object are for, whatever its name says.
constexpr InstructionSet compiled_for =
#if defined(TEMPERA_TILES) && defined(__AVX512F__) && defined(__AVX512VL__)
    InstructionSet::amx_bf16;
#elif defined(__AVX512BF16__) && defined(__AVX512F__) && defined(__AVX512VL__)
    InstructionSet::avx512_bf16;
#elif defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512VL__)
    InstructionSet::avx512_vnni;
#elif defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
    InstructionSet::avx512;
#elif defined(__AVXVNNI__) && defined(__AVX2__) && defined(__FMA__)
    InstructionSet::avx_vnni;
#elif defined(__AVX2__) && defined(__FMA__)
    InstructionSet::avx2;
#elif defined(TEMPERA_NEON) && defined(__ARM_NEON)
    InstructionSet::neon;
#else
    InstructionSet::plain;
#endif
static_assert(compiled_for == InstructionSet::TEMPERA_INSTRUCTION_SET,
              "the flags of this object are not those of the set that it is named after");

/// What a form that is compiled for this set is called.
inline const char* host_form_name() {
  return compiled_for == InstructionSet::amx_bf16      ? "host, amx_bf16"
         : compiled_for == InstructionSet::avx512_bf16 ? "host, avx512_bf16"
         : compiled_for == InstructionSet::avx512_vnni ? "host, avx512_vnni"
         : compiled_for == InstructionSet::avx512      ? "host, avx512"
         : compiled_for == InstructionSet::avx_vnni    ? "host, avx_vnni"
         : compiled_for == InstructionSet::avx2        ? "host, avx2"
         : compiled_for == InstructionSet::neon        ? "host, neon"
                                                       : "host, plain";
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
