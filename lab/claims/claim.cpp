#include "lab/claims/claim.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/sha256.hpp"
#include "base/text_file.hpp"

namespace tempera::lab {

namespace {

constexpr std::array<Verdict, 5> verdicts{Verdict::holds, Verdict::seen, Verdict::holds_if,
                                          Verdict::fails, Verdict::undecided};

/// The length of a digest: the first digits of a SHA-256, as proofs/statements.txt has them.
constexpr std::size_t digest_length = 16;

/// Words for a message: "a, b or c".
std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

/// "a, b".
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// The verdict and its ground.
void read_verdict(Claim& claim, const JsonObject& entry, const std::string& where) {
  const std::string word = entry.text("verdict");
  const auto found = std::find_if(verdicts.begin(), verdicts.end(),
                                  [&](Verdict verdict) { return word == word_for(verdict); });
  if (found == verdicts.end())
    throw BadInput(where, "has the unknown verdict " + in_quotes(word),
                   "use \"holds\", \"seen\", \"holds if\", \"fails\" or \"undecided\"");
  claim.verdict = *found;
  for (const Verdict other : verdicts) {
    if (other == Verdict::holds) continue;
    const char* key = ground_for(other);
    const auto ground = entry.optional_text(key);
    if (ground.has_value() != (other == claim.verdict))
      throw BadInput(where,
                     std::string(ground ? "has" : "lacks") + " the key \"" + key +
                         "\" of the verdict \"" + word_for(other) + "\"",
                     "give each verdict its own ground");
    if (ground) claim.ground = ground;
  }
}

/// That check, theorem and kind are those of its verdict.
void check_means(const Claim& claim, const std::string& where) {
  static const std::vector<std::string> kinds{"exact",  "compiled", "compiled, PTX",
                                              "proved", "bitwise",  "statistical"};
  if (claim.verdict == Verdict::undecided) {
    if (claim.kind || claim.check || claim.theorem || claim.pinned)
      throw BadInput(where, "is undecided and says what decides it",
                     "leave out kind, check and theorem, or give another verdict");
    return;
  }
  if (!claim.kind || std::find(kinds.begin(), kinds.end(), *claim.kind) == kinds.end())
    throw BadInput(where,
                   claim.kind ? "is of the unknown kind " + in_quotes(*claim.kind) : "has no kind",
                   "use " + listed(kinds));
  if (*claim.kind == "proved" ? claim.check || !claim.theorem : !claim.check)
    throw BadInput(where,
                   *claim.kind == "proved" ? "is proved: it has a theorem and no check"
                                           : "is " + *claim.kind + " and has no check",
                   "call it proved where a theorem alone decides it, and otherwise name its check");
  if (*claim.kind == "proved" && claim.verdict != Verdict::holds)
    throw BadInput(where, "is proved and does not simply hold",
                   "a theorem alone shows that a claim holds: give any other verdict a check");
  if (claim.theorem.has_value() != claim.pinned.has_value())
    throw BadInput(
        where,
        claim.theorem ? "names a theorem and not what it says" : "pins a theorem and names none",
        "run checks/claims --renew");
}

}  // namespace

const char* word_for(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::seen:
      return "seen";
    case Verdict::holds_if:
      return "holds if";
    case Verdict::fails:
      return "fails";
    case Verdict::undecided:
      return "undecided";
  }
  return "";
}

const char* ground_for(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "";
    case Verdict::seen:
      return "extent";
    case Verdict::holds_if:
      return "assumption";
    case Verdict::fails:
      return "witness";
    case Verdict::undecided:
      return "reason";
  }
  return "";
}

std::vector<Claim> read_claims(const std::string& file) {
  static const std::vector<std::string> natures{"definition",         "theorem",   "closed form",
                                                "approximation",      "heuristic", "table value",
                                                "measured elsewhere", "promise"};
  const nlohmann::json document =
      parse_json(read_text_file(file, "name the tree of tempera with --tree"), file);
  std::vector<Claim> claims;
  std::set<std::string> ids, checks;
  for (const auto& entry : objects_of(document, file, "see HACKING.md for the form of a claim")) {
    entry.check_keys({"id", "label", "statement", "nature", "verdict"},
                     {"aliases", "quote", "place", "extent", "assumption", "witness", "reason",
                      "kind", "check", "theorem", "pinned", "missing"});
    Claim claim;
    claim.id = entry.text("id");
    claim.label = entry.text("label");
    if (entry.has("aliases")) claim.aliases = entry.texts("aliases");
    claim.statement = entry.text("statement");
    claim.nature = entry.text("nature");
    claim.quote = entry.optional_text("quote");
    claim.place = entry.optional_text("place");
    claim.kind = entry.optional_text("kind");
    claim.check = entry.optional_text("check");
    claim.theorem = entry.optional_text("theorem");
    claim.pinned = entry.optional_text("pinned");
    claim.missing = entry.optional_text("missing");
    const std::string where = file + ", claim " + in_quotes(claim.id);
    std::set<std::string> labels{claim.label};
    for (const std::string& alias : claim.aliases)
      if (!labels.insert(alias).second)
        throw BadInput(where, "has the label " + in_quotes(alias) + " twice", "name each once");
    if (!ids.insert(claim.id).second)
      throw BadInput(where, "is given twice", "give each claim its own id");
    if (std::find(natures.begin(), natures.end(), claim.nature) == natures.end())
      throw BadInput(where, "is of the unknown nature " + in_quotes(claim.nature),
                     "use " + listed(natures));
    if (claim.quote.has_value() != claim.place.has_value())
      throw BadInput(where,
                     claim.quote ? "quotes the paper and not where" : "has a place and no quote",
                     "give both, or neither where the paper does not say it");
    if (claim.quote && claim.nature == "promise")
      throw BadInput(where, "quotes the paper for a promise of tempera's own",
                     "leave out quote and place, or give its nature in the paper");
    read_verdict(claim, entry, where);
    check_means(claim, where);
    if (claim.check && !checks.insert(*claim.check).second)
      throw BadInput(where, "names a check that another claim names",
                     "give each claim the check that computes it alone");
    claims.push_back(std::move(claim));
  }
  return claims;
}

namespace {

/// The file of this name in a folder of `proofs`, or in `proofs` itself.
std::string proof_named(const std::string& proofs, const std::string& name) {
  std::error_code missing;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(proofs, missing))
    if (entry.path().filename() == name) return entry.path().string();
  return "";
}

}  // namespace

std::string words_digest(const Claim& claim) {
  std::string words;
  const auto add = [&](const char* key, const std::optional<std::string>& value) {
    if (value) words += std::string(key) + ": " + *value + "\n";
  };
  add("id", claim.id);
  add("label", claim.label);
  if (!claim.aliases.empty()) add("aliases", joined(claim.aliases));
  add("quote", claim.quote);
  add("place", claim.place);
  add("statement", claim.statement);
  add("nature", claim.nature);
  add("verdict", word_for(claim.verdict));
  add(ground_for(claim.verdict), claim.ground);
  add("kind", claim.kind);
  add("check", claim.check);
  add("theorem", claim.theorem);
  add("pinned", claim.pinned);
  add("missing", claim.missing);
  return sha256(words).substr(0, digest_length);
}

Bindings read_bindings(const std::string& tree) {
  Bindings bindings;
  std::ifstream statements(tree + "/proofs/statements.txt");
  for (std::string line; std::getline(statements, line);) {
    std::istringstream words(line);
    std::string mark, theorem, digest;
    if (words >> mark >> theorem >> digest && mark == "==") bindings.theorems[theorem] = digest;
  }
  std::ifstream sealed(tree + "/proofs/claims.sealed");
  for (std::string line; std::getline(sealed, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string id, digest;
    if (words >> id >> digest) bindings.words[id] = digest;
  }
  return bindings;
}

std::string theorem_as_written(const std::string& tree, const std::string& theorem) {
  const std::size_t dot = theorem.find('.');
  if (dot == std::string::npos) return "";
  std::ifstream in(proof_named(tree + "/proofs", theorem.substr(0, dot) + ".v"));
  const std::regex begins("^(Theorem|Lemma|Corollary|Proposition|Fact)\\s+" +
                          theorem.substr(dot + 1) + "(?![A-Za-z0-9_'])");
  const std::regex proof("^Proof\\b");
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    inside = inside || std::regex_search(line, begins);
    if (inside && std::regex_search(line, proof)) return text;
    if (inside) text += line + "\n";
  }
  return "";
}

bool theorem_is_stated(const std::string& tree, const std::string& theorem) {
  const std::size_t dot = theorem.find('.');
  if (dot == std::string::npos) return false;
  std::ifstream in(proof_named(tree + "/proofs", theorem.substr(0, dot) + ".v"));
  std::stringstream content;
  content << in.rdbuf();
  const std::string text = content.str();
  const std::regex stated("(Theorem|Lemma|Corollary|Proposition|Fact)\\s+" +
                          theorem.substr(dot + 1) + "[^A-Za-z0-9_']");
  const std::regex unproved("\\b(Admitted|Axiom|Axioms|Parameter|Parameters|Conjecture)\\b");
  return std::regex_search(text, stated) && !std::regex_search(text, unproved);
}

}  // namespace tempera::lab
