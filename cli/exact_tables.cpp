// `tempera exact` for a terminal.
#include <algorithm>
#include <iomanip>
#include <ostream>

#include "cli/exact_report.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::cli {
namespace {

constexpr std::size_t widest_matrix = 12;
constexpr std::size_t longest_fraction = 24;
constexpr unsigned decimals = 10;

std::string decimal(const std::string& fraction) {
  return reference::to_decimal(reference::Rational(fraction), decimals);
}

// A fraction that fits its column, else its decimal expansion.
std::string cell(const std::string& fraction) {
  return fraction.size() <= longest_fraction ? fraction
                                             : std::string("~").append(decimal(fraction));
}

void print_rows(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.append(2, ' ').append(row[i]).append(widths[i] - row[i].size(), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
  out << '\n';
}

const char* verdict(const nlohmann::ordered_json& value) {
  return value.get<bool>() ? "yes" : "no";
}

void print_states(std::ostream& out, const nlohmann::ordered_json& json) {
  const auto states = json["states"].get<std::vector<std::string>>();
  out << states.size() << " states\n";
  if (!json.contains("matrix")) return;
  std::vector<std::vector<std::string>> rows{{"state", "p0", "target"}};
  for (std::size_t x = 0; x < states.size(); ++x) {
    rows.push_back({states[x], cell(json["base"][x].get<std::string>()),
                    cell(json["target"][x].get<std::string>())});
  }
  print_rows(out, rows);
  if (states.size() > widest_matrix) {
    out << "matrix: too wide for a terminal; see --json\n\n";
    return;
  }
  out << "matrix, from row to column\n";
  rows.assign(1, {""});
  rows[0].insert(rows[0].end(), states.begin(), states.end());
  for (std::size_t x = 0; x < states.size(); ++x) {
    rows.push_back({states[x]});
    for (const auto& entry : json["matrix"][x]) rows.back().push_back(cell(entry));
  }
  print_rows(out, rows);
}

}  // namespace

void print_tables(std::ostream& out, const ExactReport& report) {
  const auto& json = report.json;
  out << report.title << '\n';
  print_states(out, json);
  if (json.contains("swap_acceptance")) {
    std::vector<std::vector<std::string>> rows{{"edge", "swap acceptance at equilibrium"}};
    for (const auto& rate : json["swap_acceptance"]) {
      rows.push_back({std::to_string(rows.size()), cell(rate), decimal(rate)});
    }
    print_rows(out, rows);
  }
  out << "target invariant: " << verdict(json["invariant"]) << "\nreversible:       "
      << verdict(json[json.contains("reversible") ? "reversible" : "detailed_balance"])
      << "\nirreducible:      " << verdict(json["irreducible"]) << '\n';
  for (const std::string& finding : report.findings) out << "  " << finding << '\n';
  if (json["tv"].empty()) return;
  out << '\n';
  std::vector<std::vector<std::string>> rows{{"N", "total variation to the target"}};
  for (const auto& distance : json["tv"]) {
    rows.push_back({std::to_string(rows.size() - 1), decimal(distance), cell(distance)});
    if (rows.back()[2].front() == '~') rows.back().pop_back();
  }
  print_rows(out, rows);
}

}  // namespace tempera::cli
