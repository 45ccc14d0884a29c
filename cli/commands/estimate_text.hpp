#pragma once

#include <string>

#include "runs/run_estimate.hpp"

namespace tempera::cli {

/// The estimate for people: a line for each figure, with its limits.
std::string estimate_text(const gpu::RunEstimate& estimate);

}  // namespace tempera::cli
