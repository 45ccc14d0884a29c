#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tempera::cli {

/// summary.json as a table for people: one line for each rung, the sharpest first, with its
/// acceptance and that of its swaps with the rung below as numbers and bars, and log Z_{k+1}/Z_k;
/// then the tokens of its proposals and its acceptance by tenth of the restart position.
std::string summary_table(const nlohmann::ordered_json& summary);

/// Two lines about the process that drew: tokens/s, the time in each part, the memory of caches.
/// Nothing for null.
std::string speed_lines(const nlohmann::ordered_json& speed);

}  // namespace tempera::cli
