// The command `tempera round-trip`: expected round trips of one tagged replica.
#include "reference/analysis/round_trip.hpp"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands/command.hpp"
#include "cli/commands/fractions.hpp"
#include "cli/terminal/option_values.hpp"

namespace tempera::cli {
namespace {

constexpr const char* round_trip_description =
    "Expected round trip of one tagged replica under the ordered (adj) and even-odd (deo) "
    "schedules: from the chains, by exact elimination, and from the formulas";

constexpr const char* round_trip_footer = R"(Examples:
  tempera round-trip --acceptance 1/2,1/3
  tempera round-trip --acceptance 0.9,0.9,0.9 --json

adj counts complete ordered sweeps, deo counts parity layers.)";

void run_round_trip(const std::string& text, bool as_json) {
  using namespace reference;
  const EdgeAcceptances acceptances = parse_fractions(text, "--acceptance");
  check_acceptances(acceptances, "--acceptance");
  const RoundTrip adj = adj_round_trip(acceptances);
  const RoundTrip deo = deo_round_trip(acceptances);
  const RoundTrip adj_formula = adj_round_trip_formula(acceptances);
  const Rational deo_formula = deo_round_trip_formula(acceptances);
  if (as_json) {
    nlohmann::ordered_json report;
    report["adj"] = to_string(adj.total());
    report["deo"] = to_string(deo.total());
    report["adj_up"] = to_string(adj.up);
    report["adj_down"] = to_string(adj.down);
    report["adj_formula"] = to_string(adj_formula.total());
    report["deo_formula"] = to_string(deo_formula);
    std::cout << report.dump() << '\n';
    return;
  }
  const auto line = [](const char* name, const Rational& value, const char* unit) {
    std::cout << name << to_string(value) << " " << unit << "  (" << to_decimal(value, 4) << ")\n";
  };
  std::cout << acceptances.size() + 1 << " rungs\n";
  line("adj, from the chain    ", adj.total(), "sweeps");
  line("  rung 1 to rung K     ", adj.up, "sweeps");
  line("  rung K to rung 1     ", adj.down, "sweeps");
  line("adj, K (1 + R)         ", adj_formula.total(), "sweeps");
  line("deo, from the chain    ", deo.total(), "layers");
  line("deo, 2K (1 + R)        ", deo_formula, "layers");
}

}  // namespace

void add_round_trip(CLI::App& app) {
  struct Flags {
    std::string acceptance;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("round-trip", round_trip_description);
  command->footer(round_trip_footer);
  CLI::Option* acceptance = add_text(*command, "--acceptance", flags->acceptance, "P[,P...]",
                                     "Swap acceptance of each edge, in (0, 1], such as 1/2,1/3");
  command->add_flag("--json", flags->json, "Print JSON, rationals in lowest terms");
  command->callback([flags, acceptance] {
    require(*acceptance, "give one acceptance for each edge, such as 1/2,1/3");
    run_round_trip(flags->acceptance, flags->json);
  });
}

}  // namespace tempera::cli
