#include <algorithm>
#include <array>

#include "lab/report/mathematics.hpp"
#include "lab/report/sections.hpp"

namespace tempera::lab {
namespace {

/// Claims that are shown together.
struct Group {
  const char* id;
  const char* title;
  const char* about;
};

constexpr std::array<Group, 6> groups{
    {{"refuted", "refuted now", "Recorded otherwise in claims.json: an error of tempera's."},
     {"fails", "fail as printed", "The witness shows it. No error of tempera's."},
     {"holds-if", "hold under a further assumption", "Which the paper does not print there."},
     {"undecided", "cannot be decided here", "With the reason."},
     {"seen", "were seen to hold",
      "Statements of more than was tried: on all of it they hold, and no theorem covers the rest."},
     {"holds", "hold", "Exactly, as they are stated."}}};

std::size_t group_of(const ClaimResult& decision) {
  if (decision.outcome == ClaimOutcome::refuted) return 0;
  switch (decision.claim.verdict) {
    case Verdict::fails:
      return 1;
    case Verdict::holds_if:
      return 2;
    case Verdict::undecided:
      return 3;
    case Verdict::seen:
      return 4;
    case Verdict::holds:
      return 5;
  }
  return 0;
}

/// The time if it is worth a word.
std::string seconds_text(double seconds) {
  return seconds < 0.05 ? "" : ", " + gpu::in_decimal(seconds, "%.1f") + " s";
}

/// "check tv_at_two: 4 values at N = 2; theorem four_state_tv.tv_two"
std::string what_ran(const ClaimResult& decision) {
  const Claim& claim = decision.claim;
  std::string html;
  if (claim.check)
    html = "check " + element("code", "", *claim.check) + seconds_text(decision.seconds) + ": " +
           gpu::escaped(decision.detail);
  else if (decision.outcome == ClaimOutcome::refuted)
    html = gpu::escaped(decision.detail);
  if (claim.theorem)
    html += std::string(html.empty() ? "" : "<br>") + "theorem <a href=\"#theorem-" +
            gpu::escaped(*claim.theorem) + "\">" + element("code", "", *claim.theorem) + "</a>" +
            (claim.check ? "" : ", by <code>make -C proofs</code>");
  return html.empty() ? "nothing ran" : html;
}

std::string card_of(const ClaimResult& decision, const Group& group) {
  const Claim& claim = decision.claim;
  std::string html = "<article class=\"claim " + std::string(group.id) + "\" id=\"claim-" +
                     gpu::escaped(claim.id) + "\"><div><p class=\"statement\">" +
                     sentence_as_html(claim.statement) + "</p>";
  if (claim.quote)
    html += "<blockquote><p>" + quoted_as_html(*claim.quote) + "</p><cite>" +
            gpu::escaped(*claim.place) + "</cite></blockquote>";
  html += "</div><div>";
  if (claim.ground)
    html += "<p><b>" + std::string(ground_for(claim.verdict)) + "</b> " +
            sentence_as_html(*claim.ground) + "</p>";
  if (claim.missing)
    html += "<p class=\"quiet\"><b>not covered</b> " + sentence_as_html(*claim.missing) + "</p>";
  html += "<p class=\"quiet\"><span class=\"verdict\">" + std::string(word_for(claim.verdict)) +
          "</span>" +
          (decision.outcome == ClaimOutcome::undecided
               ? std::string()
               : std::string(", ") + word_for(decision.outcome)) +
          " · " + gpu::escaped(claim.nature) + (claim.kind ? ", " + *claim.kind : "") + " · " +
          element("span", "id", claim.id) + "<br>" + what_ran(decision) + "</p></div></article>\n";
  return html;
}

std::string cards_of(const std::vector<ClaimResult>& decisions, bool paper) {
  std::array<std::vector<const ClaimResult*>, groups.size()> grouped;
  std::size_t number = 0;
  for (const ClaimResult& decision : decisions) {
    if (decision.claim.is_papers() != paper) continue;
    grouped.at(group_of(decision)).push_back(&decision);
    ++number;
  }
  if (number == 0) return "";
  const std::string whose = paper ? "paper" : "own";
  std::string body = "<h3 class=\"whose\" id=\"" + whose + "\">" +
                     (paper ? "The paper's claims: " : "Tempera's own promises and remarks: ") +
                     std::to_string(number) + "</h3>\n";
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (grouped.at(g).empty()) continue;
    const Group& group = groups.at(g);
    body += "<section id=\"" + whose + "-" + group.id + "\"><h3>" +
            std::to_string(grouped.at(g).size()) + " " + group.title + "</h3>" +
            element("p", "quiet", group.about) + "\n";
    for (const ClaimResult* decision : grouped.at(g)) body += card_of(*decision, group);
    body += "</section>\n";
  }
  return body;
}

}  // namespace

Section claims_section(const std::vector<ClaimResult>& decisions) {
  return {
      "claims", "The claims",
      "<p>A verdict is confirmed if the claim's own check, which computes both sides from their "
      "definitions, came to it just now, or rests on a theorem that <code>make -C proofs</code> "
      "checks; the evidence stands beside it. The paper is quoted, with the place of each "
      "claim.</p>\n" +
          cards_of(decisions, true) + cards_of(decisions, false)};
}

Section theorems_section(const std::map<std::string, std::string>& theorems) {
  std::string body =
      "<p>The statements as their files in <code>proofs/</code> have them; "
      "<code>proofs/print_statements.sh</code> prints their definitions and the hypotheses of "
      "their sections.</p>\n";
  for (const auto& [name, text] : theorems)
    body += "<details id=\"theorem-" + gpu::escaped(name) + "\"><summary>" +
            element("code", "", name) + "</summary>" + element("pre", "", text) + "</details>\n";
  return {"theorems", "The theorems", body};
}

}  // namespace tempera::lab
