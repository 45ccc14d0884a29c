#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runs/run_diagnostics.hpp"

namespace tempera::cli {

/// What summary.json says about how good a run was, in sentences: answers that the horizon cut, the
/// edge of the ladder that accepts fewest swaps, round trips beside those that the acceptances
/// promise, local moves of the last rung, and how far the chains of a run folder agree. A line that
/// begins with "->" says what to change.
std::string run_advice(const nlohmann::ordered_json& summary,
                       const std::vector<gpu::RungDiagnostics>& chains);

}  // namespace tempera::cli
