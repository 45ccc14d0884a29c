#include "lab/claims/claim.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "reference/bad_input.hpp"

namespace tempera::lab {

std::vector<Claim> read_claims(const std::string& file) {
  std::ifstream in(file);
  if (!in)
    throw reference::BadInput(file, "cannot be read", "name the tree of tempera with --tree");
  const std::set<std::string> kinds{"exact", "compiled", "proved", "bitwise", "statistical"};
  std::vector<Claim> claims;
  std::set<std::string> ids;
  try {
    for (const auto& entry : nlohmann::json::parse(in)) {
      Claim claim{
          entry.at("id"), entry.at("label"), entry.at("statement"), entry.at("kind"), {}, {}, {}};
      const auto optional = [&](const char* key) {
        return entry.contains(key) && !entry.at(key).is_null()
                   ? std::optional<std::string>(entry.at(key).get<std::string>())
                   : std::nullopt;
      };
      claim.check = optional("check");
      claim.theorem = optional("theorem");
      claim.missing = optional("missing");
      const std::string where = file + ", claim " + claim.id;
      if (!ids.insert(claim.id).second)
        throw reference::BadInput(where, "is given twice", "give each claim its own id");
      if (!kinds.contains(claim.kind))
        throw reference::BadInput(where, "is of the unknown kind " + claim.kind,
                                  "use exact, compiled, proved, bitwise or statistical");
      if (!claim.check && !claim.theorem)
        throw reference::BadInput(where, "has neither check nor theorem", "give one");
      claims.push_back(std::move(claim));
    }
  } catch (const nlohmann::json::exception& error) {
    throw reference::BadInput(file, error.what(), "see HACKING.md for the form of a claim");
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
