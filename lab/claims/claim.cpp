#include "lab/claims/claim.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "reference/bad_input.hpp"
#include "reference/in_quotes.hpp"
#include "reference/json_document.hpp"
#include "reference/text_file.hpp"

namespace tempera::lab {

std::vector<Claim> read_claims(const std::string& file) {
  const nlohmann::json document = reference::parse_json(
      reference::read_text_file(file, "name the tree of tempera with --tree"), file);
  const std::set<std::string> kinds{"exact", "compiled", "proved", "bitwise", "statistical"};
  std::vector<Claim> claims;
  std::set<std::string> ids, checks;
  for (const auto& entry :
       reference::objects_of(document, file, "see HACKING.md for the form of a claim")) {
    entry.check_keys({"id", "label", "statement", "kind"}, {"check", "theorem", "missing"});
    Claim claim{entry.text("id"),
                entry.text("label"),
                entry.text("statement"),
                entry.text("kind"),
                entry.optional_text("check"),
                entry.optional_text("theorem"),
                entry.optional_text("missing")};
    const std::string where = file + ", claim " + reference::in_quotes(claim.id);
    if (!ids.insert(claim.id).second)
      throw reference::BadInput(where, "is given twice", "give each claim its own id");
    if (!kinds.contains(claim.kind))
      throw reference::BadInput(where, "is of the unknown kind " + reference::in_quotes(claim.kind),
                                "use exact, compiled, proved, bitwise or statistical");
    if (claim.kind == "proved" ? claim.check || !claim.theorem : !claim.check)
      throw reference::BadInput(
          where,
          claim.kind == "proved" ? "is proved: it has a theorem and no check"
                                 : "is " + claim.kind + " and has no check",
          "call it proved where a theorem alone decides it, and otherwise name its check");
    if (claim.check && !checks.insert(*claim.check).second)
      throw reference::BadInput(where, "names a check that another claim names",
                                "give each claim the check that computes it alone");
    claims.push_back(std::move(claim));
  }
  return claims;
}

bool theorem_is_stated(const std::string& tree, const std::string& theorem) {
  const std::size_t dot = theorem.find('.');
  if (dot == std::string::npos) return false;
  std::ifstream in(tree + "/proofs/" + theorem.substr(0, dot) + ".v");
  std::stringstream content;
  content << in.rdbuf();
  const std::string text = content.str();
  const std::regex stated("(Theorem|Lemma|Corollary|Proposition|Fact)\\s+" +
                          theorem.substr(dot + 1) + "[^A-Za-z0-9_']");
  const std::regex unproved("\\b(Admitted|Axiom|Axioms|Parameter|Parameters|Conjecture)\\b");
  return std::regex_search(text, stated) && !std::regex_search(text, unproved);
}

}  // namespace tempera::lab
