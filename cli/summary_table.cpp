#include "cli/summary_table.hpp"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

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

}  // namespace

std::string summary_table(const nlohmann::ordered_json& summary) {
  char line[200];
  std::snprintf(line, sizeof line, "answers: %zu; decode tokens: %llu; round trips: %llu\n",
                summary.at("samples").get<std::size_t>(),
                summary.at("decode_tokens").get<unsigned long long>(),
                summary.at("round_trips").get<unsigned long long>());
  std::string table = line;
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
  return table;
}

}  // namespace tempera::cli
