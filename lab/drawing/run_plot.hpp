#pragma once

#include <span>
#include <string>

#include "runs/run_traces.hpp"

namespace tempera::gpu {

/// An SVG picture of a run: of one sample the index process and log p0 of each rung's record, by
/// rounds counted through all stages; and of all samples the acceptance of each rung and edge.
///
/// sample: the rounds of one sample, in order; at least one. title: what the picture is of.
std::string run_plot(const RunTraces& run, std::span<const RoundTrace> sample,
                     const std::string& title);

}  // namespace tempera::gpu
