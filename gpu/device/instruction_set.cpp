#include "gpu/device/instruction_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/for_instruction_set.hpp"
#include "gpu/device/pair_probe.hpp"
#include "gpu/device/planted_fault.hpp"
#include "gpu/device/tile_permission.hpp"

namespace tempera::gpu {

namespace {

constexpr InstructionSet built_sets[] = {InstructionSet::plain,
#if defined(TEMPERA_HAS_NEON)
                                         InstructionSet::neon,
#endif
#if defined(TEMPERA_HAS_AVX2)
                                         InstructionSet::avx2,
#endif
#if defined(TEMPERA_HAS_AVX_VNNI)
                                         InstructionSet::avx_vnni,
#endif
#if defined(TEMPERA_HAS_AVX512)
                                         InstructionSet::avx512,
#endif
#if defined(TEMPERA_HAS_AVX512_VNNI)
                                         InstructionSet::avx512_vnni,
#endif
#if defined(TEMPERA_HAS_AVX512_BF16)
                                         InstructionSet::avx512_bf16,
#endif
#if defined(TEMPERA_HAS_AMX_BF16)
                                         InstructionSet::amx_bf16
#endif
};

bool is_built(InstructionSet set) {
  return std::find(std::begin(built_sets), std::end(built_sets), set) != std::end(built_sets);
}

#if defined(__x86_64__)
/// Clang 14 knows no name of it.
bool has_avx_vnni() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & 1U << 4) != 0;
}
#endif

bool processor_has(InstructionSet set) {
  switch (set) {
    case InstructionSet::plain:
      return true;
#if defined(__x86_64__)
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    case InstructionSet::avx_vnni:
      return processor_has(InstructionSet::avx2) && has_avx_vnni();
    case InstructionSet::avx512_vnni:
      return processor_has(InstructionSet::avx512) && __builtin_cpu_supports("avx512vnni") != 0;
    case InstructionSet::avx512:
      return processor_has(InstructionSet::avx2) && __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
             __builtin_cpu_supports("avx512vl") != 0;
    case InstructionSet::avx512_bf16:
      return processor_has(InstructionSet::avx512) && __builtin_cpu_supports("avx512bf16") != 0;
    case InstructionSet::amx_bf16:
      return processor_has(InstructionSet::avx512) && processor_has_tiles();
#elif defined(__aarch64__)
    case InstructionSet::neon:  // a part of every such processor
      return true;
#endif
    default:
      return false;
  }
}

/// The instruction for sums of pairs that a set adds; empty if it adds none.
std::string_view pair_instruction_of(InstructionSet set) {
  return set == InstructionSet::avx512_bf16 ? "VDPBF16PS"
         : set == InstructionSet::amx_bf16  ? "TDPBF16PS"
                                            : "";
}

/// Whether it gives what is defined. @pre the process may use the set
bool pair_instruction_is_as_defined(InstructionSet set) {
  if (planted_fault().pair_instruction_differs) return false;
  if (set == InstructionSet::amx_bf16) {
    static const bool tiles_are =
        probe_segments(add_segments_by_tiles(), tiles_at_start).different == 0;
    return tiles_are;
  }
  static const bool pairs_are = !probe_pairs(add_pairs_of(set), blocks_at_start).first;
  return pairs_are;
}

/// "plain" or "plain, avx2", ...
std::string available_names() {
  std::string names;
  for (const auto set : instruction_sets) {
    if (!why_missing(set).empty()) continue;
    if (!names.empty()) names += ", ";
    names += name_of(set);
  }
  return names;
}

}  // namespace

AddPairs add_pairs_of(InstructionSet set) {
#if defined(TEMPERA_HAS_AVX512_BF16)
  if (set == InstructionSet::avx512_bf16) return add_pairs_for<InstructionSet::avx512_bf16>();
#endif
#if defined(TEMPERA_HAS_AMX_BF16)
  if (set == InstructionSet::amx_bf16) return add_pairs_for<InstructionSet::amx_bf16>();
#endif
  return for_instruction_set(set,
                             []<InstructionSet Set>() -> AddPairs { return add_pairs_for<Set>(); });
}

AddSegments add_segments_by_tiles() {
#if defined(TEMPERA_HAS_AMX_BF16)
  return add_segments_for<InstructionSet::amx_bf16>();
#else
  return nullptr;
#endif
}

std::string_view name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::plain:
      return "plain";
    case InstructionSet::neon:
      return "neon";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx_vnni:
      return "avx_vnni";
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx512_vnni:
      return "avx512_vnni";
    case InstructionSet::avx512_bf16:
      return "avx512_bf16";
    case InstructionSet::amx_bf16:
      return "amx_bf16";
  }
  return "";
}

std::string why_missing(InstructionSet set) {
  if (!is_built(set)) return "this build has no forms for it";
  if (!processor_has(set)) return "this processor does not have its instructions";
  if (set == InstructionSet::amx_bf16 && !tiles_are_permitted()) {
    return "the kernel does not let this process use AMX's tiles";
  }
  if (const auto instruction = pair_instruction_of(set);
      !instruction.empty() && !pair_instruction_is_as_defined(set)) {
    return "this processor's " + std::string(instruction) +
           " does not compute what docs/reference/arithmetic.md defines";
  }
  return "";
}

std::string refused_pair_instructions() {
  std::string names;
  for (const auto set : {InstructionSet::avx512_bf16, InstructionSet::amx_bf16}) {
    if (!is_built(set) || !processor_has(set)) continue;
    if (set == InstructionSet::amx_bf16 && !tiles_are_permitted()) continue;
    if (pair_instruction_is_as_defined(set)) continue;
    names += (names.empty() ? "" : " and ") + std::string(pair_instruction_of(set));
  }
  return names;
}

bool pays(InstructionSet set) {
#if defined(__x86_64__)
  return set != InstructionSet::avx512_bf16 || __builtin_cpu_is("intel") == 0;
#else
  return set == InstructionSet::plain || set == InstructionSet::neon;
#endif
}

InstructionSet choose_instruction_set(const char* requested) {
  if (requested == nullptr || *requested == '\0') {
    return *std::find_if(instruction_sets.rbegin(), instruction_sets.rend(),
                         [](InstructionSet set) { return pays(set) && why_missing(set).empty(); });
  }
  const std::string remedy = "leave it out or give one of: " + available_names();
  const auto* found = std::find_if(instruction_sets.begin(), instruction_sets.end(),
                                   [&](InstructionSet set) { return name_of(set) == requested; });
  if (found == instruction_sets.end()) {
    throw BadInput("environment, TEMPERA_ISA",
                   in_quotes(requested) + " is not an instruction set of this kind of machine",
                   remedy);
  }
  if (const auto why = why_missing(*found); !why.empty()) {
    throw BadInput("environment, TEMPERA_ISA", in_quotes(requested) + " cannot be used: " + why,
                   remedy);
  }
  return *found;
}

InstructionSet chosen_instruction_set() {
  return choose_instruction_set(std::getenv("TEMPERA_ISA"));
}

}  // namespace tempera::gpu
