#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tempera::cli {

/// summary.json as a table for people: one line for each rung, the sharpest first, with its
/// acceptance and that of its swaps with the rung below as numbers and bars, and log Z_{k+1}/Z_k.
std::string summary_table(const nlohmann::ordered_json& summary);

}  // namespace tempera::cli
