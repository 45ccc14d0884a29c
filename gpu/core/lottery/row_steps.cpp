#include "gpu/core/lottery/row_steps.hpp"

#include <string>

#include "base/error.hpp"
#include "gpu/device/for_instruction_set.hpp"

namespace tempera::gpu {

RowSteps::~RowSteps() = default;

const RowSteps& host_row_steps(InstructionSet set) {
  if (const auto why = why_missing(set); !why.empty()) {
    throw Bug("no row lottery for " + std::string(name_of(set)) + ": " + why);
  }
  return for_instruction_set(
      set, []<InstructionSet Set>() -> const RowSteps& { return host_row_steps_for<Set>(); });
}

}  // namespace tempera::gpu
