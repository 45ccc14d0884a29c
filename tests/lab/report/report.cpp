#include "lab/report/report.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include "lab/report/sections.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/kernels/power_target.hpp"
#include "tests/catch.hpp"

namespace tempera::report_test {

using namespace tempera;
using Catch::Contains;

namespace {

const std::string tree = TEMPERA_SOURCE_DIR;

lab::ClaimResult decision(const std::string& id, lab::Verdict verdict, lab::ClaimOutcome outcome,
                          const std::string& ground = "") {
  lab::Claim claim;
  claim.id = id;
  claim.label = "eq:" + id;
  claim.statement = "Statement of " + id + ".";
  claim.nature = "theorem";
  claim.verdict = verdict;
  if (id != "own") {
    claim.quote = "so says the paper of \\(\\pi_k\\) in " + id;
    claim.place = "Sec. 3.1, Eq. 5 of " + id;
  }
  if (!ground.empty()) claim.ground = ground;
  if (outcome == lab::ClaimOutcome::confirmed || outcome == lab::ClaimOutcome::refuted) {
    claim.kind = "exact";
    claim.check = "check_of_" + id;
  }
  if (outcome == lab::ClaimOutcome::proof) {
    claim.kind = "proved";
    claim.theorem = "file.theorem_of_" + id;
  }
  return {claim, outcome, outcome == lab::ClaimOutcome::undecided ? "" : "found of " + id, 0.25};
}

lab::DefectFound defect(const std::string& name, bool caught) {
  return {name,
          "What is done in " + name + ".",
          caught,
          R"({"name": "m"})",
          2,
          caught ? "the example of " + name : "",
          0.5,
          caught ? std::optional(
                       lab::ShownPair{lab::ShownPair::What::flows, "a b|e", "e|e", "7/384", "1/64"})
                 : std::nullopt};
}

lab::Report small_report() {
  using Outcome = lab::ClaimOutcome;
  using lab::Verdict;
  return {"tempera 1 < 2",
          {decision("sound", Verdict::holds, Outcome::confirmed),
           decision("proved", Verdict::holds, Outcome::proof),
           decision("under", Verdict::holds_if, Outcome::confirmed, "x < y & \"more\""),
           decision("false", Verdict::fails, Outcome::confirmed, "the smallest"),
           decision("open", Verdict::undecided, Outcome::undecided, "needs a GPU"),
           decision("some", Verdict::seen, Outcome::confirmed, "three cases"),
           decision("own", Verdict::holds, Outcome::confirmed),
           decision("wrong", Verdict::holds, Outcome::refuted)},
          {defect("seen", true), defect("unseen", false)},
          {},
          {{"file.theorem_of_proved", "Theorem theorem_of_proved : 1 < 2."}}};
}

/// A model with answers, in two uses, and one without.
std::vector<lab::ShippedUse> some_uses() {
  std::vector<lab::ShippedUse> some;
  for (lab::ShippedUse& use : lab::read_shipped_uses(tree))
    if ((use.name == "four_state.json" && use.horizon == 2) || use.name == "ties.json")
      some.push_back(std::move(use));
  return some;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The first tag that is not closed by its own end in order; empty if all are. Names of elements
/// that have no end are passed over.
std::string unbalanced_tag(const std::string& page) {
  std::vector<std::string> open;
  const std::regex tags("<(/?)([a-zA-Z0-9]+)((?:[^<>\"]|\"[^\"]*\")*?)(/?)>");
  for (auto tag = std::sregex_iterator(page.begin(), page.end(), tags);
       tag != std::sregex_iterator(); ++tag) {
    const std::string name = (*tag)[2];
    if (name == "meta" || name == "br" || (*tag)[4] == "/") continue;
    if ((*tag)[1] != "/") {
      open.push_back(name);
    } else {
      if (open.empty() || open.back() != name) return (*tag)[0];
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

}  // namespace

TEST_CASE("the page is whole in itself, its tags are closed and its text is escaped") {
  lab::Report report = small_report();
  report.uses = some_uses();
  const std::string page = lab::report_page(report);
  CHECK_THAT(page, Catch::StartsWith("<!DOCTYPE html>") && Catch::EndsWith("</html>\n"));
  CHECK(unbalanced_tag(page) == "");
  CHECK(unbalanced_tag(page.substr(0, page.size() - 20)) != "");
  for (const char* outside : {"<script", "<link", "<img", "<iframe", "src=", "url(", "@import"})
    CHECK_THAT(page, !Contains(outside));
  // The one address is the name of SVG's vocabulary, which nothing fetches.
  CHECK(times(page, "http") == times(page, "xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK_THAT(page, Contains("tempera 1 &lt; 2") && Contains("y &amp; &quot;more&quot;") &&
                       Contains("prefers-color-scheme: dark") && Contains("width=device-width"));
}

TEST_CASE("every claim is told once with its place, ground and what ran, the refuted first") {
  const lab::Report report = small_report();
  const std::string page = lab::claims_section(report.decisions).body;
  for (const lab::ClaimResult& one : report.decisions) {
    const lab::Claim& claim = one.claim;
    INFO(claim.id);
    CHECK(times(page, claim.statement) == 1);
    if (claim.place) CHECK(times(page, "<cite>" + *claim.place + "</cite>") == 1);
    if (claim.check) CHECK(times(page, *claim.check + "</code>, 0.2 s: found of " + claim.id) == 1);
    if (claim.theorem)
      CHECK(times(page, "<a href=\"#theorem-" + *claim.theorem + "\"><code>" + *claim.theorem) ==
            1);
  }
  CHECK(times(page, "<math><msub><mi>π</mi><mi>k</mi></msub></math>") ==
        report.decisions.size() - 1);
  CHECK_THAT(page, Contains("<b>witness</b> the smallest") &&
                       Contains("<b>reason</b> needs a GPU") && Contains("<b>assumption</b> x"));
  std::vector<std::size_t> offsets;
  for (const char* id : {"wrong", "false", "under", "open", "some", "sound", "own"})
    offsets.push_back(page.find("id=\"claim-" + std::string(id)));
  CHECK(std::is_sorted(offsets.begin(), offsets.end()));
  CHECK(offsets.back() != std::string::npos);
  // A claim that is refuted is not said to hold.
  CHECK(times(page, "<h3>1 refuted now</h3>") == 1);
  CHECK(times(page, "<h3>2 hold</h3>") == 1);
  CHECK(times(page, "<h3>1 hold</h3>") == 1);
  CHECK_THAT(page, Contains("The paper's claims: 7<") && Contains("own promises and remarks: 1<"));
  const std::string whole = lab::report_page(report);
  CHECK_THAT(whole, Contains("<details id=\"theorem-file.theorem_of_proved\">") &&
                        Contains("Theorem theorem_of_proved : 1 &lt; 2."));
  CHECK_THAT(whole, Contains("<b>1</b>refuted now") && Contains("<b>1</b>of 2 defects caught"));
  auto confirmed = report.decisions;
  confirmed.pop_back();
  CHECK_THAT(lab::claims_section(confirmed).body, !Contains("refuted"));
}

TEST_CASE("the four-state curves are those of the closed forms") {
  const std::string body = lab::curves_section().body;
  for (const unsigned n : {0U, 1U, 2U, 3U, 4U, 5U, 10U}) {
    CAPTURE(n);
    CHECK_THAT(
        body,
        Contains("<tr><th>" + std::to_string(n) + "</th><td><code>" +
                 reference::to_string(reference::four_state_fixed_tv(n)) + "</code><small>") &&
            Contains("<td><code>" + reference::to_string(reference::four_state_truncating_tv(n)) +
                     "</code><small>"));
  }
  CHECK(times(body, "<polyline") == 2);
  CHECK(times(body, "<circle") == 2 * 13);
}

TEST_CASE("the comparison's section has each model with answers once, drawn and in numbers") {
  const auto uses = some_uses();
  std::set<std::string> named;
  for (const lab::ShippedUse& use : uses)
    if (!use.model.answers().empty()) named.insert(use.model.name());
  const auto comparisons = lab::compared_for_report(uses);
  REQUIRE(comparisons.size() == named.size());
  CHECK(named.size() == 1);
  const std::string body = lab::comparison_section(comparisons).body;
  std::size_t signs = 0;
  for (const lab::ExactComparison& comparison : comparisons) {
    CAPTURE(comparison.model);
    CHECK(times(body, ">" + comparison.model + ", T = ") == 1);
    for (const lab::ExactRow& row : comparison.rows) {
      CHECK_THAT(body, Contains("<td>" + reference::to_decimal(row.tv, 4) + "</td>") &&
                           Contains("<td>" + reference::to_decimal(*row.answer_probability, 4) +
                                    "</td></tr>"));
      ++signs;
    }
  }
  CHECK(times(body, "class=\"sign\"") == signs);
  CHECK(times(body, "<svg") == signs + comparisons.size());
  // Without a model that names answers there is nothing to show.
  CHECK(lab::compared_for_report({}).empty());
}

TEST_CASE("the ablations' section has every row of every ablation") {
  const lab::ShippedUse use = lab::read_shipped_uses(tree).front();
  REQUIRE(!use.model.answers().empty());
  const auto all = lab::ablated_for_report({use, use});
  REQUIRE(all.size() == 1);
  const std::string body = lab::ablations_section(all).body;
  std::size_t rows = 0;
  for (const lab::Ablation& ablation : all[0].ablations) {
    CHECK(times(body, "<b>" + ablation.name + "</b>") == 1);
    for (const lab::ExactRow& row : ablation.rows) {
      CHECK_THAT(body, Contains("<td>" + reference::to_decimal(row.tv, 4) + "</td><td>" +
                                reference::to_decimal(*row.answer_probability, 4) + "</td>"));
      ++rows;
    }
  }
  CHECK(times(body, "<tr>") == 1 + rows + all[0].ablations.size());
}

TEST_CASE("a ladder's acceptances are the sums of the lesser flows, each ladder once") {
  const auto uses = lab::read_shipped_uses(tree);
  const std::string body = lab::ladders_section(uses).body;
  std::size_t sums = 0;
  for (const lab::ShippedUse& use : uses) {
    if (use.powers.size() < 3 || use.horizon > 2) continue;
    const auto space = use.space();
    for (std::size_t k = 0; k + 1 < use.powers.size(); ++k) {
      // By the least of the two flows, where the section goes through the swap's acceptance.
      const auto p = reference::power_target(space, use.ladder()[k]);
      const auto q = reference::power_target(space, use.ladder()[k + 1]);
      reference::Rational sum = 0;
      for (std::size_t x = 0; x < p.size(); ++x)
        for (std::size_t y = 0; y < p.size(); ++y) sum += std::min(p[x] * q[y], p[y] * q[x]);
      CHECK_THAT(body, Contains("<code>" + reference::to_string(sum) + "</code>"));
      ++sums;
    }
  }
  CHECK(sums >= 2);
  CHECK(times(body, "<h3>restart-law, T = 8, powers 1 3</h3>") == 1);
}

TEST_CASE("a counterexample is drawn with both numbers and a line for each rung's record") {
  using What = lab::ShownPair::What;
  const std::string flows = lab::flow_diagram({What::flows, "a b|<e>", "e|e", "7/384", "1/64"});
  CHECK_THAT(flows, Contains(">flow 7/384</text>") && Contains(">flow 1/64</text>") &&
                        Contains(">a b</text>") && Contains(">&lt;e&gt;</text>"));
  CHECK(times(flows, "<path") == 2);
  const std::string entry = lab::flow_diagram({What::entry, "a", "b", "1/2", "1/3"});
  CHECK_THAT(entry, Contains(">is 1/2</text>") && Contains(">ought to be 1/3</text>"));
  CHECK(times(entry, "<path") == 1);
  const std::string escape = lab::flow_diagram({What::escape, "a", "a a a", "1/9", ""});
  CHECK_THAT(escape, Contains(">1/9</text>") && Contains(">no state</text>") &&
                         Contains("stroke-dasharray"));
  // Long numbers make it wider; nothing is cut.
  const auto width = [](const std::string& svg) {
    std::smatch found;
    REQUIRE(std::regex_search(svg, found, std::regex("viewBox=\"0 0 ([0-9]+)")));
    return std::stoul(found[1]);
  };
  CHECK(width(lab::flow_diagram({What::flows, "a", "b", "12345678901/98765432109", "1"})) >
        width(flows));
}

TEST_CASE("the gallery's section shows what was caught and names what was missed") {
  const std::string body = lab::gallery_section(small_report().defects).body;
  CHECK(times(body, "<svg") == 1);
  CHECK_THAT(body,
             Contains("the example of seen") && Contains("{&quot;name&quot;: &quot;m&quot;}"));
  CHECK(times(body, "<b>MISSED</b>") == 1);
}

}  // namespace tempera::report_test
