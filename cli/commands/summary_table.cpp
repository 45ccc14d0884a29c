#include "cli/commands/summary_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/terminal/columns.hpp"
#include "gpu/session/cache_admission.hpp"

namespace tempera::cli {
namespace {

/// "0.81  |########  |"
std::string share(double value) {
  constexpr std::size_t width = 10;
  const auto filled = static_cast<std::size_t>(std::lround(value * static_cast<double>(width)));
  char number[16];
  std::snprintf(number, sizeof number, "%4.2f  |", value);
  return number + std::string(filled, '#') + std::string(width - filled, ' ') + '|';
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
  return table +
         "saved at most: tokens that proposals had left to the horizon when --early-rejection "
         "ended\n"
         "them; some would have ended before it\n";
}

/// The means of each rung's records after the rounds of the last stage.
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

// So many columns fit on a line of table_columns beside a rung's number.
constexpr std::size_t most_columns = 9;
constexpr std::size_t most_prompts = 20;

/// `most` of 0, …, count - 1, as evenly as they go, the last among them.
std::vector<std::size_t> some_of(std::size_t count, std::size_t most) {
  std::vector<std::size_t> chosen;
  const std::size_t shown = std::min(count, most);
  for (std::size_t i = 1; i <= shown; ++i) chosen.push_back(i * count / shown - 1);
  return chosen;
}

/// A figure of each rung after some of the rounds; lists: by rung, of as many steps as the rounds.
std::string rounds_table(const nlohmann::ordered_json& rounds, const std::string& title,
                         const char* figure) {
  const auto shown = some_of(rounds.at("rounds").size(), most_columns);
  char cell[48];
  std::string table = "  rung  " + title + ", after stage.round\n      ";
  for (const std::size_t i : shown) {
    const std::string heading = std::to_string(rounds.at("stages").at(i).get<std::size_t>()) + '.' +
                                std::to_string(rounds.at("rounds").at(i).get<std::size_t>());
    std::snprintf(cell, sizeof cell, " %9s", heading.c_str());
    table += cell;
  }
  table += '\n';
  const auto& lists = rounds.at(figure);
  for (std::size_t k = lists.size(); k-- > 0;) {
    std::snprintf(cell, sizeof cell, "%6zu", k + 1);
    table += cell;
    for (const std::size_t i : shown) {
      const auto& value = lists.at(k).at(i);
      if (value.is_null()) {
        table += "         -";
        continue;
      }
      std::snprintf(cell, sizeof cell, " %9.4g", value.get<double>());
      table += cell;
    }
    table += '\n';
  }
  return table;
}

/// The series by round, and where the replicas were.
std::string series(const nlohmann::ordered_json& summary) {
  if (!summary.contains("rounds")) return "";
  const auto& rounds = summary.at("rounds");
  std::string text = rounds_table(rounds, "log p0: mean over answers", "mean_log_p0");
  if (rounds.contains("mean_confidence"))
    text += rounds_table(rounds, "confidence: mean over answers", "mean_confidence");
  if (rounds.contains("first_answer_replicas"))
    text +=
        rounds_table(rounds, "index process of the first answer: replica",
                     "first_answer_replicas") +
        "index process: a replica is a record that swaps carry from rung to rung, named by the\n"
        "rung that it began at; one that goes from the first rung to the last and back has made\n"
        "a round trip\n";
  if (!summary.contains("replica_rounds") || summary.at("replica_rounds").size() > most_columns)
    return text;
  const auto& visits = summary.at("replica_rounds");
  char cell[32];
  text += "  rung  rounds of all answers that replica 1, 2, ... was there\n";
  for (std::size_t k = visits.size(); k-- > 0;) {
    std::snprintf(cell, sizeof cell, "%6zu", k + 1);
    text += cell;
    for (const auto& replica : visits) {
      std::snprintf(cell, sizeof cell, " %9.0f", replica.at(k).get<double>());
      text += cell;
    }
    text += '\n';
  }
  return text;
}

/// "0.81", or "-" if nothing was tried.
std::string share_of_all(const nlohmann::ordered_json& parts, const char* tried) {
  double all = 0.0;
  double accepted = 0.0;
  for (const auto& part : parts) {
    all += number_at(part, tried);
    accepted += number_at(part, "accepted");
  }
  if (all == 0.0) return "-";
  char number[16];
  std::snprintf(number, sizeof number, "%.2f", accepted / all);
  return number;
}

/// A figure of the last rung, or "-" if it has none.
std::string of_last_rung(const nlohmann::ordered_json& report, const char* figure) {
  const auto& rung = report.at("rungs").back();
  if (!rung.contains(figure)) return "-";
  char number[32];
  std::snprintf(number, sizeof number, "%.4g", number_at(rung, figure));
  return number;
}

/// A line for each prompt with an id, of the first.
std::string prompts_table(const nlohmann::ordered_json& prompts) {
  constexpr std::size_t id_columns = 22;
  char line[200];
  std::snprintf(line, sizeof line, "%-22s %7s %9s %5s %5s %6s %8s %10s %10s %5s\n", "prompt",
                "answers", "tokens", "moves", "swaps", "trips", "expected", "log p0", "confidence",
                "cut");
  std::string table = line;
  for (std::size_t i = 0; i < std::min(prompts.size(), most_prompts); ++i) {
    const auto& prompt = prompts.at(i);
    const std::string id = fitted(prompt.at("id").get<std::string>(), id_columns);
    std::string expected = "-";
    if (prompt.contains("round_trips_expected")) {
      std::snprintf(line, sizeof line, "%.3g", number_at(prompt, "round_trips_expected"));
      expected = line;
    }
    std::snprintf(
        line, sizeof line, " %7.0f %9.0f %5s %5s %6.0f %8s %10s %10s %5.2f\n",
        number_at(prompt, "samples"), number_at(prompt, "decode_tokens"),
        share_of_all(prompt.at("rungs"), "proposed").c_str(),
        share_of_all(prompt.at("edges"), "attempts").c_str(), number_at(prompt, "round_trips"),
        expected.c_str(), of_last_rung(prompt, "mean_log_p0").c_str(),
        of_last_rung(prompt, "mean_confidence").c_str(), number_at(prompt, "hit_capacity"));
    table += id + std::string(id_columns - std::min(id_columns, columns_of(id)), ' ') + line;
  }
  table +=
      "moves, swaps: share accepted; trips: round trips, expected: by their acceptances; log p0,\n"
      "confidence: mean of the last rung; cut: share of answers at the horizon\n";
  if (prompts.size() > most_prompts)
    table += "and " + std::to_string(prompts.size() - most_prompts) +
             " more prompts: in summary.json of a run folder (--out), or with --json\n";
  return table;
}

/// Z_α of exact rejection, and what it proves of one chain at the same power.
std::string log_z_lines(const nlohmann::ordered_json& log_z) {
  char line[400];
  const auto& chain = log_z.at("one_chain");
  std::snprintf(line, sizeof line,
                "log Z: %.4g, from %.4g to %.4g at a confidence of %g %%, Z being the share of "
                "proposals kept\n"
                "one chain at this power: TV at most (1 - Z/%.0f)^N after N local moves from any "
                "start, as proved;\n"
                "%g after %.17g of them, at the same confidence\n",
                number_at(log_z, "estimate"), number_at(log_z, "low"), number_at(log_z, "high"),
                100.0 * number_at(log_z, "confidence"), number_at(chain, "horizon"),
                number_at(chain, "tv_at_most"), number_at(chain, "moves"));
  return line;
}

}  // namespace

std::string speed_lines(const nlohmann::ordered_json& speed) {
  if (speed.is_null()) return "";
  char line[200];
  const double processes = number_at(speed, "processes");
  char of_processes[48] = "";
  if (processes > 1.0)
    std::snprintf(of_processes, sizeof of_processes, " of %.0f processes", processes);
  std::snprintf(line, sizeof line,
                "speed: %.4g tokens/s, %.0f tokens in %.4g s%s; caches: %s at most\n",
                number_at(speed, "tokens_per_second"), number_at(speed, "decode_tokens"),
                number_at(speed, "seconds"), of_processes,
                gpu::bytes_text(speed.at("cache_bytes").get<std::size_t>()).c_str());
  std::string text = line;
  if (number_at(speed, "discarded_tokens") > 0.0) {
    std::snprintf(line, sizeof line, "wasted: %.0f of these tokens\n",
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
        char number[48];
        std::snprintf(number, sizeof number, "%.4g", edge.at("log_z_ratio").get<double>());
        log_z = number;
        if (edge.contains("log_z_ratio_error")) {
          std::snprintf(number, sizeof number, ", error %.2g",
                        number_at(edge, "log_z_ratio_error"));
          log_z += number;
        }
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
  if (rungs.size() > 1)
    table +=
        "log Z ratio: log(Z_k/Z_j) of a rung k and the one below it, j, Z being the sum of "
        "p0^power\n"
        "over all answers; estimated from the records of both\n";
  if (!edges.empty() && edges.front().contains("log_z_ratio_error"))
    table += "error: the standard error, by the jackknife over the answers\n";
  if (summary.contains("log_z")) table += log_z_lines(summary.at("log_z"));
  table += proposals_table(rungs) + records_table(rungs) + series(summary);
  return summary.contains("prompts") ? table + prompts_table(summary.at("prompts")) : table;
}

}  // namespace tempera::cli
