#include "gpu/device/instruction_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/for_instruction_set.hpp"
#include "gpu/device/pair_probe.hpp"
#include "gpu/device/planted_fault.hpp"

namespace tempera::gpu {

namespace {

constexpr InstructionSet built_sets[] = {InstructionSet::plain,
#if defined(TEMPERA_HAS_AVX2)
                                         InstructionSet::avx2,
#endif
#if defined(TEMPERA_HAS_AVX512)
                                         InstructionSet::avx512,
#endif
#if defined(TEMPERA_HAS_AVX512_BF16)
                                         InstructionSet::avx512_bf16
#endif
};

bool is_built(InstructionSet set) {
  return std::find(std::begin(built_sets), std::end(built_sets), set) != std::end(built_sets);
}

bool processor_has(InstructionSet set) {
  switch (set) {
    case InstructionSet::plain:
      return true;
#if defined(__x86_64__)
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    case InstructionSet::avx512:
      return processor_has(InstructionSet::avx2) && __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
             __builtin_cpu_supports("avx512vl") != 0;
    case InstructionSet::avx512_bf16:
      return processor_has(InstructionSet::avx512) && __builtin_cpu_supports("avx512bf16") != 0;
#endif
    default:
      return false;
  }
}

/// Whether the instruction for pairs gives what is defined.
bool pair_instruction_is_as_defined() {
#if defined(TEMPERA_HAS_AVX512_BF16)
  if (planted_fault().pair_instruction_differs) return false;
  static const bool is_as_defined =
      !probe_pairs(add_pairs_for<InstructionSet::avx512_bf16>(), blocks_at_start).first;
  return is_as_defined;
#else
  return true;
#endif
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
  return for_instruction_set(set,
                             []<InstructionSet Set>() -> AddPairs { return add_pairs_for<Set>(); });
}

std::string_view name_of(InstructionSet set) {
  switch (set) {
    case InstructionSet::plain:
      return "plain";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
    case InstructionSet::avx512_bf16:
      return "avx512_bf16";
  }
  return "";
}

std::string why_missing(InstructionSet set) {
  if (!is_built(set)) return "this build has no forms for it";
  if (!processor_has(set)) return "this processor does not have its instructions";
  if (set == InstructionSet::avx512_bf16 && !pair_instruction_is_as_defined()) {
    return "this processor's VDPBF16PS does not compute what docs/arithmetic.md defines";
  }
  return "";
}

bool pair_instruction_is_refused() {
  constexpr auto set = InstructionSet::avx512_bf16;
  return is_built(set) && processor_has(set) && !why_missing(set).empty();
}

bool pays(InstructionSet set) {
#if defined(__x86_64__)
  return set != InstructionSet::avx512_bf16 || __builtin_cpu_is("intel") == 0;
#else
  return set == InstructionSet::plain;
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
                   in_quotes(requested) + " is not the name of an instruction set", remedy);
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
