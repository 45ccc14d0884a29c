#include "cli/summary_table.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "gpu/runs/cache_admission.hpp"

namespace tempera::cli {
namespace {

/// "0.81  |########  |"
std::string share(double value) {
  constexpr std::size_t places = 10;
  const auto filled = static_cast<std::size_t>(std::lround(value * static_cast<double>(places)));
  char number[16];
  std::snprintf(number, sizeof number, "%4.2f  |", value);
  return number + std::string(filled, '#') + std::string(places - filled, ' ') + '|';
}

double number_at(const nlohmann::ordered_json& json, const char* key) {
  return json.at(key).get<double>();
}

/// How many answers the horizon cut, and what the paper expects of round trips.
std::string expectations(const nlohmann::ordered_json& summary) {
  char line[200];
  std::snprintf(line, sizeof line, "at the horizon: %.0f of %.0f answers; sweeps: %.0f",
                number_at(summary, "at_horizon"), number_at(summary, "samples"),
                number_at(summary, "sweeps"));
  std::string text = line;
  if (summary.contains("round_trips_expected")) {
    std::snprintf(line, sizeof line, "; round trips expected: %.4g, one in %.4g sweeps",
                  number_at(summary, "round_trips_expected"),
                  number_at(summary, "sweeps_per_round_trip_expected"));
    text += line;
  }
  return text + '\n';
}

/// Tokens and deciles of each rung.
std::string proposals_table(const nlohmann::ordered_json& rungs) {
  char line[200];
  std::snprintf(line, sizeof line, "%6s %13s %10s %13s  %s\n", "rung", "tokens: drawn", "kept",
                "saved at most", "accepted by tenth of the restart position");
  std::string table = line;
  for (std::size_t k = rungs.size(); k-- > 0;) {
    const auto& rung = rungs.at(k);
    std::snprintf(line, sizeof line, "%6zu %13.0f %10.0f %13.0f ", k + 1,
                  number_at(rung, "proposal_tokens"), number_at(rung, "kept_tokens"),
                  number_at(rung, "saved_tokens_at_most"));
    table += line;
    for (const auto& decile : rung.at("restart_deciles")) {
      const double proposed = number_at(decile, "proposed");
      if (proposed == 0.0) {
        table += "    -";
        continue;
      }
      std::snprintf(line, sizeof line, " %4.2f", number_at(decile, "accepted") / proposed);
      table += line;
    }
    table += '\n';
  }
  return table;
}

/// Of each rung's records after the rounds of the last stage.
std::string records_table(const nlohmann::ordered_json& rungs) {
  const bool has_confidence = rungs.front().contains("mean_confidence");
  char line[200];
  std::snprintf(line, sizeof line, "%6s %13s%s\n", "rung", "log p0: mean",
                has_confidence ? " confidence: mean" : "");
  std::string table = line;
  for (std::size_t k = rungs.size(); k-- > 0;) {
    const auto& rung = rungs.at(k);
    if (!rung.contains("mean_log_p0")) return "";
    std::snprintf(line, sizeof line, "%6zu %13.4g", k + 1, number_at(rung, "mean_log_p0"));
    table += line;
    if (has_confidence) {
      std::snprintf(line, sizeof line, " %16.4g", number_at(rung, "mean_confidence"));
      table += line;
    }
    table += '\n';
  }
  return table;
}

}  // namespace

std::string speed_lines(const nlohmann::ordered_json& speed) {
  if (speed.is_null()) return "";
  char line[200];
  std::snprintf(line, sizeof line,
                "speed: %.4g tokens/s, %.0f tokens in %.4g s; caches: %s at most\n",
                number_at(speed, "tokens_per_second"), number_at(speed, "decode_tokens"),
                number_at(speed, "seconds"),
                gpu::bytes_text(speed.at("cache_bytes").get<std::size_t>()).c_str());
  std::string text = line;
  if (number_at(speed, "discarded_tokens") > 0.0) {
    std::snprintf(line, sizeof line, "prefetched in vain: %.0f of these tokens\n",
                  number_at(speed, "discarded_tokens"));
    text += line;
  }
  const double seconds = number_at(speed, "seconds");
  const auto share_of = [&](const char* part) {
    return seconds > 0.0 ? 100.0 * number_at(speed, part) / seconds : 0.0;
  };
  std::snprintf(line, sizeof line,
                "time: forward %.1f %%, draw %.1f %%, accept %.2f %%, swap %.2f %%\n",
                share_of("seconds_forward"), share_of("seconds_draw"), share_of("seconds_accept"),
                share_of("seconds_swap"));
  return text + line;
}

std::string summary_table(const nlohmann::ordered_json& summary) {
  char line[200];
  std::snprintf(line, sizeof line, "answers: %zu; decode tokens: %llu; round trips: %llu\n",
                summary.at("samples").get<std::size_t>(),
                summary.at("decode_tokens").get<unsigned long long>(),
                summary.at("round_trips").get<unsigned long long>());
  std::string table = line + expectations(summary);
  std::snprintf(line, sizeof line, "%6s %7s %12s  %-19s %-27s %s\n", "rung", "power", "local moves",
                "accepted", "swaps with the rung below", "log Z ratio");
  table += line;
  const auto& rungs = summary.at("rungs");
  const auto& edges = summary.at("edges");
  for (std::size_t k = rungs.size(); k-- > 0;) {
    const auto& rung = rungs.at(k);
    std::string swaps;
    std::string log_z;
    if (k > 0) {
      const auto& edge = edges.at(k - 1);
      swaps = edge.at("attempts") == 0 ? "none" : share(edge.at("acceptance"));
      if (edge.contains("log_z_ratio")) {
        char number[32];
        std::snprintf(number, sizeof number, "%.4g", edge.at("log_z_ratio").get<double>());
        log_z = number;
      }
    }
    const std::string accepted = rung.at("proposed") == 0 ? "none" : share(rung.at("acceptance"));
    std::snprintf(line, sizeof line, "%6zu %7.4g %12llu  %-19s %-27s %s", k + 1,
                  rung.at("power").get<double>(), rung.at("local_moves").get<unsigned long long>(),
                  accepted.c_str(), swaps.c_str(), log_z.c_str());
    std::string text = line;
    text.erase(text.find_last_not_of(' ') + 1);
    table += text + '\n';
  }
  return table + proposals_table(rungs) + records_table(rungs);
}

}  // namespace tempera::cli
