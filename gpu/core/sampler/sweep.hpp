#pragma once

#include <cstddef>
#include <vector>

#include "tempera/options.hpp"

namespace tempera::gpu {

struct Chain;
class Record;

using Schedule = SwapSchedule;

/// One sweep: C = W_1 ⋯ W_{K−1} under ADJ, one parity layer under DEO. `number` counts the
/// run's sweeps from 0, through all stages.
void sweep(std::vector<Record>& replicas, Chain& chain, Schedule schedule, std::size_t number);

}  // namespace tempera::gpu
