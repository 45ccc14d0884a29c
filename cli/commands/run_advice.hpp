#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tempera::cli {

/// What summary.json says about how good a run was, in sentences: answers that the horizon cut, the
/// edge of the ladder that accepts fewest swaps, round trips beside those that the acceptances
/// promise, and local moves of the last rung. A line that begins with "->" says what to change.
std::string run_advice(const nlohmann::ordered_json& summary);

}  // namespace tempera::cli
