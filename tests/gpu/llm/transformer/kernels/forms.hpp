// The forms of the kernels that can run here, each of which must give the same bits.
#pragma once

#include <iostream>
#include <vector>

#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/kernels/thrust/thrust_kernels.hpp"

namespace tempera::gpu {

/// The forms of an arithmetic: of float32 the readable one first, then the host's; says which of
/// those cannot run here and why.
inline std::vector<const Kernels*> forms_of_the_kernels(
    Arithmetic arithmetic = Arithmetic::float32) {
  std::vector<const Kernels*> forms;
  if (arithmetic == Arithmetic::float32) forms.push_back(&thrust_kernels());
  for (const auto set : instruction_sets) {
    if (const auto why = why_missing(set); why.empty()) {
      forms.push_back(&host_kernels(set, arithmetic));
    } else {
      std::cout << "SKIPPED: kernels for " << name_of(set) << ": " << why << '\n';
    }
  }
  return forms;
}

}  // namespace tempera::gpu
