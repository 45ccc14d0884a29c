#pragma once

#include <span>
#include <string>

#include "runs/run_diagnostics.hpp"

namespace tempera::gpu {

/// An SVG picture of a run: of one sample the index process and log p0 of each rung's record, by
/// rounds counted through all stages; of all samples the acceptance of each rung and edge; and of
/// the prompt's samples how well each rung's chains mixed.
///
/// sample: the rounds of one sample, in order; at least one. chains: of its prompt, or none. title:
/// what the picture is of.
std::string run_plot(const RunTraces& run, std::span<const RoundTrace> sample,
                     std::span<const RungDiagnostics> chains, const std::string& title);

}  // namespace tempera::gpu
