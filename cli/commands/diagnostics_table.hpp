#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runs/run_diagnostics.hpp"

namespace tempera::cli {

/// How well each rung's chains mixed, the sharpest first: of several prompts the smallest effective
/// sample sizes, the largest R-hat and the largest Monte Carlo errors. "" if there is no chain.
std::string diagnostics_table(const std::vector<gpu::RungDiagnostics>& found);

/// A list with an object for each prompt and rung; r_hat is null if all draws are equal, and
/// "inf" if every chain stays where it is and they differ. ids: of the run's prompts.
nlohmann::ordered_json diagnostics_json(const gpu::SamplingSettings& settings,
                                        const std::vector<gpu::RungDiagnostics>& found);

}  // namespace tempera::cli
