#include <set>

#include "lab/report/sections.hpp"
#include "reference/analysis/round_trip.hpp"
#include "reference/analysis/swap_rate.hpp"

namespace tempera::lab {
namespace {

using reference::Rational;

/// "1.2500"
std::string four_decimals(const Rational& value) { return reference::to_decimal(value, 4); }

std::string ladder_card(const std::string& title, const ShippedUse& use) {
  const auto diagnosis = reference::diagnose_ladder(use.space(), use.ladder());
  std::string card = "<article class=\"card\"><h3>" + gpu::escaped(title) + "</h3>\n";
  for (std::size_t k = 0; k < diagnosis.acceptances.size(); ++k) {
    const Rational& accepted = diagnosis.acceptances[k];
    card += "<div class=\"edge\"><span>" + std::to_string(use.powers[k]) + " and " +
            std::to_string(use.powers[k + 1]) + "</span><span class=\"bar\"><span style=\"width:" +
            reference::to_decimal(100 * accepted, 2) + "%\"></span></span><b>" +
            four_decimals(accepted) + "</b>" + element("code", "", readable(accepted)) + "</div>\n";
  }
  const Rational sweeps = reference::adj_round_trip_formula(diagnosis.acceptances).total();
  const Rational layers = reference::deo_round_trip_formula(diagnosis.acceptances);
  return card + "<p class=\"quiet\">R = " + four_decimals(diagnosis.rejection) +
         ": a round trip takes " + four_decimals(sweeps) + " ordered sweeps, or " +
         four_decimals(layers) + " even-odd layers</p></article>\n";
}

}  // namespace

Section ladders_section(const std::vector<ShippedUse>& uses) {
  std::string body =
      "<p>How often the swap of two neighbouring powers is accepted at the product target, on the "
      "models that ship: the sum over x and y of min(p(x) q(y), p(y) q(x)), p and q being the two "
      "power targets. A round trip is by the formulas K(1 + R) and 2K(1 + R), which take each "
      "acceptance to be independent of what came before.</p>\n<div class=\"cards\">\n";
  std::set<std::string> shown;
  for (const ShippedUse& use : uses) {
    if (use.powers.size() < 2) continue;
    std::string title = use.model.name() + ", T = " + std::to_string(use.horizon) + ", powers";
    for (const unsigned power : use.powers) title += " " + std::to_string(power);
    if (shown.insert(title).second) body += ladder_card(title, use);
  }
  return {"ladders", "Acceptance of swaps", body + "</div>\n"};
}

}  // namespace tempera::lab
