#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "gpu/session/draw_answers.hpp"

namespace tempera::gpu {

/// What a run took of the machine, over all processes that were at work on it; speed.json. It is
/// measured, so no other run has the same, and it is outside summary.json for that.
struct RunSpeed {
  std::uint64_t processes = 0;
  double seconds = 0.0;  ///< that drawing took
  /// Tokens drawn, forward passes, and the time in each part.
  SessionTotals totals;
  /// The tokens of no event: prefetched and not used, or of a round that was under way when
  /// its process ended.
  std::uint64_t discarded_tokens = 0;
  std::uint64_t cache_bytes = 0;  ///< the most at once

  /// Adds another process's figures.
  void add(const RunSpeed& other);
  /// Adds "tokens_per_second", decode tokens over seconds; 0 without seconds.
  nlohmann::ordered_json to_json() const;
  /// Reads what to_json gave; a file of one process may leave their number out.
  /// @throw BadInput otherwise, naming `where`
  static RunSpeed from_json(const nlohmann::json& json, const std::string& where);
};

}  // namespace tempera::gpu
