#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// The instruction sets that the host's forms of kernels are compiled for, narrowest first. They
/// choose instructions and never bits.
enum class InstructionSet {
  plain,     ///< what the whole build may use: x86-64-v2, or another architecture as it comes
  neon,      ///< aarch64's SMLAL, for the arithmetic `integer`; what else there is takes plain's
  avx2,      ///< AVX2 and FMA: 8 floats at a time
  avx_vnni,  ///< these and AVX-VNNI, for the arithmetic `integer`; what else there is takes avx2's
  avx512,    ///< AVX-512 F, BW, DQ and VL: 16 floats at a time
  avx512_vnni,  ///< these and AVX512_VNNI, for the same; what else there is takes avx512's
  /// These and AVX512_BF16, for the arithmetic `bfloat16-pairs`; what else there is takes avx512's.
  avx512_bf16,
  /// AVX-512 and the tiles of AMX-BF16, for the same arithmetic.
  amx_bf16,
};

/// Those of this kind of machine.
#if defined(__aarch64__)
inline constexpr std::array instruction_sets{InstructionSet::plain, InstructionSet::neon};
#else
inline constexpr std::array instruction_sets{
    InstructionSet::plain,   InstructionSet::avx2,        InstructionSet::avx_vnni,
    InstructionSet::avx512,  InstructionSet::avx512_vnni, InstructionSet::avx512_bf16,
    InstructionSet::amx_bf16};
#endif

/// The set whose forms another takes where it has none of its own.
constexpr InstructionSet base_of(InstructionSet set) {
  return set >= InstructionSet::avx512     ? InstructionSet::avx512
         : set == InstructionSet::avx_vnni ? InstructionSet::avx2
         : set == InstructionSet::neon     ? InstructionSet::plain
                                           : set;
}

/// "plain", "neon", "avx2", "avx_vnni", "avx512", "avx512_vnni", "avx512_bf16" or "amx_bf16".
std::string_view name_of(InstructionSet set);

/// Why forms for this set cannot run here: the processor lacks its instructions or this build its
/// forms, or the kernel does not let this process use AMX's tiles. Or the processor has an
/// instruction for pairs of bfloat16s, and a probe, once in a process, finds that it does not
/// compute what gpu/device/bfloat16_pairs.hpp defines. Empty if they can.
std::string why_missing(InstructionSet set);

/// The instructions for pairs of bfloat16s that the processor has, and this build a form of, but
/// that the probe refuses: "VDPBF16PS", "TDPBF16PS", both joined by "and", or empty.
std::string refused_pair_instructions();

/// Whether the forms for this set are faster than those of the ones before it. Intel's processors
/// do half as many VDPBF16PS as FMA (bench/results/diary.md), AMD's twice as many. `neon` is taken
/// to be, because it has fewer instructions; it is not measured.
bool pays(InstructionSet set);

/// The set that `requested` names, or the widest that can run and pays if it is null or empty.
/// @throw BadInput for an unknown name and for a set that cannot run here
InstructionSet choose_instruction_set(const char* requested);

/// The set that the environment's TEMPERA_ISA names, or the widest that can run and pays.
/// @throw BadInput as choose_instruction_set
InstructionSet chosen_instruction_set();

}  // namespace tempera::gpu
