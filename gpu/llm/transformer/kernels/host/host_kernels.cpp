#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"

#include <string>

#include "base/error.hpp"
#include "gpu/device/for_instruction_set.hpp"

namespace tempera::gpu {

const Kernels& host_kernels(InstructionSet set, Arithmetic arithmetic) {
  if (const auto why = why_missing(set); !why.empty()) {
    throw Bug("no kernels for " + std::string(name_of(set)) + ": " + why);
  }
  [[maybe_unused]] const bool of_pairs = arithmetic == Arithmetic::bfloat16_pairs;
#if defined(TEMPERA_HAS_AVX512_BF16)
  if (of_pairs && set == InstructionSet::avx512_bf16)
    return bfloat16_pairs_kernels_for<InstructionSet::avx512_bf16>();
#endif
#if defined(TEMPERA_HAS_AMX_BF16)
  if (of_pairs && set == InstructionSet::amx_bf16)
    return bfloat16_pairs_kernels_for<InstructionSet::amx_bf16>();
#endif
  [[maybe_unused]] const bool of_whole_numbers = arithmetic == Arithmetic::integer;
#if defined(TEMPERA_HAS_NEON)
  if (of_whole_numbers && set == InstructionSet::neon)
    return integer_kernels_for<InstructionSet::neon>();
#endif
#if defined(TEMPERA_HAS_AVX_VNNI)
  if (of_whole_numbers && set == InstructionSet::avx_vnni)
    return integer_kernels_for<InstructionSet::avx_vnni>();
#endif
#if defined(TEMPERA_HAS_AVX512_VNNI)
  if (of_whole_numbers && set >= InstructionSet::avx512_vnni &&
      why_missing(InstructionSet::avx512_vnni).empty())
    return integer_kernels_for<InstructionSet::avx512_vnni>();
#endif
  return for_instruction_set(set, [&]<InstructionSet Set>() -> const Kernels& {
    switch (arithmetic) {
      case Arithmetic::tensor_core:
      case Arithmetic::tensor_core_ampere:
      case Arithmetic::tensor_core_8_bit_pages:
      case Arithmetic::tensor_core_ampere_8_bit_pages:
        return tensor_core_kernels_for<Set>(arithmetic);
      case Arithmetic::bfloat16_pairs:
        return bfloat16_pairs_kernels_for<Set>();
      case Arithmetic::integer:
        return integer_kernels_for<Set>();
      default:
        return float32_kernels_for<Set>();
    }
  });
}

}  // namespace tempera::gpu
