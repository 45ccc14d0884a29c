// Compiled once per instruction set. Nothing that this source shares with others may be emitted
// from it: see gpu/device/arithmetic.hpp.
#include "gpu/core/lottery/row_steps.hpp"

#include "gpu/core/lottery/ticket_lanes.hpp"
#include "gpu/device/compiled_for.hpp"
#include "gpu/device/host_threads.hpp"

namespace tempera::gpu {

namespace {

struct OnHostThreads {
  static const char* name() { return host_form_name(); }
  template <class Kernel>
  static void run(std::uint64_t items, const Kernel& kernel) {
    on_host_threads(items, kernel);
  }
  using FindChunkLargest = FindChunkLargestByLanes;
  using SumTickets = SumTicketsByLanes;
};

}  // namespace

template <>
const RowSteps& host_row_steps_for<InstructionSet::TEMPERA_INSTRUCTION_SET>() {
  static const RowStepsBy<OnHostThreads> steps;
  return steps;
}

}  // namespace tempera::gpu
