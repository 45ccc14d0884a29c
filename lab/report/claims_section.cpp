#include <algorithm>
#include <array>

#include "lab/report/sections.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

/// Claims that are shown together.
struct Group {
  const char* id;
  const char* title;
  const char* about;
};

constexpr std::array<Group, 5> groups{
    {{"refuted", "refuted now", "Recorded otherwise in claims.json: an error of tempera's."},
     {"fails", "fail as printed",
      "What the paper prints is not so, and the witness shows it. No error of tempera's."},
     {"holds-if", "hold under a further assumption", "Which the paper does not print."},
     {"undecided", "cannot be decided here", "With the reason."},
     {"holds", "hold", "Exactly, as they are stated."}}};

std::size_t group_of(const Decision& decision) {
  if (decision.outcome == ClaimOutcome::refuted) return 0;
  switch (decision.claim.verdict) {
    case Verdict::fails:
      return 1;
    case Verdict::holds_if:
      return 2;
    case Verdict::undecided:
      return 3;
    case Verdict::holds:
      return 4;
  }
  return 0;
}

std::string seconds_text(double seconds) { return gpu::in_decimal(seconds, "%.3f") + " s"; }

/// "check tv_at_two, 0.005 s: 4 values at N = 2; theorem four_state_tv.tv_two"
std::string what_ran(const Decision& decision) {
  const Claim& claim = decision.claim;
  std::string html;
  if (claim.check)
    html = "check " + element("code", "", *claim.check) + ", " + seconds_text(decision.seconds) +
           ": " + gpu::escaped(decision.detail);
  else if (decision.outcome == ClaimOutcome::refuted)
    html = gpu::escaped(decision.detail);
  if (claim.theorem)
    html += (html.empty() ? "" : "<br>") + ("theorem " + element("code", "", *claim.theorem)) +
            (claim.check ? "" : ", by <code>make -C proofs</code>");
  return html.empty() ? "nothing" : html;
}

std::string card_of(const Decision& decision, const Group& group) {
  const Claim& claim = decision.claim;
  std::string html = "<article class=\"claim " + std::string(group.id) + "\" id=\"claim-" +
                     gpu::escaped(claim.id) + "\"><div>" +
                     element("p", "statement", claim.statement);
  if (claim.ground)
    html += "<p><b>" + std::string(ground_for(claim.verdict)) + "</b> " +
            gpu::escaped(*claim.ground) + "</p>";
  if (claim.missing)
    html += "<p class=\"quiet\"><b>not covered</b> " + gpu::escaped(*claim.missing) + "</p>";
  html +=
      "</div><div class=\"quiet\"><p><span class=\"verdict\">" +
      std::string(decision.outcome == ClaimOutcome::refuted ? "refuted" : word_for(claim.verdict)) +
      "</span> " + element("code", "", claim.label) + "<br>" + gpu::escaped(claim.nature) +
      (claim.kind ? ", " + *claim.kind : "") + " · " + element("span", "id", claim.id) + "</p><p>" +
      what_ran(decision) + "</p></div></article>\n";
  return html;
}

}  // namespace

Section claims_section(const std::vector<Decision>& decisions) {
  std::array<std::vector<const Decision*>, groups.size()> grouped;
  for (const Decision& decision : decisions) grouped.at(group_of(decision)).push_back(&decision);
  std::string body =
      "<p>Each verdict is confirmed now by the claim's own check, which computes it from its "
      "definition, or rests on a theorem that <code>make -C proofs</code> checks; what was done is "
      "told beside it.</p>\n";
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (grouped.at(g).empty()) continue;
    const Group& group = groups.at(g);
    body += "<section id=\"" + std::string(group.id) + "\"><h3>" +
            std::to_string(grouped.at(g).size()) + " " + group.title + "</h3>" +
            element("p", "quiet", group.about) + "\n";
    for (const Decision* decision : grouped.at(g)) body += card_of(*decision, group);
    body += "</section>\n";
  }
  return {"claims", "The claims", body};
}

}  // namespace tempera::lab
