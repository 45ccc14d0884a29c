#include "lab/claims/claim.hpp"

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::claim_test {

using namespace tempera;

namespace {

const std::string tree = TEMPERA_SOURCE_DIR;

std::vector<lab::Claim> claims_of(const std::string& json) {
  const test::TemporaryFile file(json);
  return lab::read_claims(file.path());
}

}  // namespace

TEST_CASE("a theorem that is not there is not stated") {
  CHECK(lab::theorem_is_stated(tree, "markov_missing.law") == false);
  CHECK(lab::theorem_is_stated(tree, "record_space.no_such_theorem") == false);
  CHECK(lab::theorem_is_stated(tree, "record_space") == false);
}

TEST_CASE("a theorem of a file that leaves something unproved is not stated") {
  const test::TemporaryFolder folder;
  const auto is_stated = [&](const std::string& text) {
    std::filesystem::create_directories(folder / "proofs/theory");
    std::ofstream(folder / "proofs/theory/one.v") << text;
    return lab::theorem_is_stated((folder / ".").string(), "one.law");
  };
  CHECK(is_stated("Theorem law : True.\nProof. exact I. Qed.\n"));
  CHECK_FALSE(
      is_stated("Lemma other : True.\nAdmitted.\nTheorem law : True.\nProof. exact I. Qed.\n"));
  CHECK_FALSE(is_stated("Axiom other : True.\nTheorem law : True.\nProof. exact I. Qed.\n"));
}

namespace {

/// A claim by check and theorem, with these keys besides or instead.
std::string claim(const std::string& id, const std::string& rest,
                  const std::string& verdict = R"("verdict": "holds")") {
  return R"({"id": ")" + id + R"(", "label": "l", "statement": "s", "nature": "theorem", )" +
         verdict + (rest.empty() ? "" : ", ") + rest + "}";
}

const std::string by_check = R"("kind": "exact", "check": "c", "theorem": "f.t", "pinned": "1")";
const std::string by_proof = R"("kind": "proved", "check": null, "theorem": "f.t", "pinned": "1")";

void refused(const std::string& json, const std::string& what) {
  INFO(json);
  CHECK_THROWS_WITH(claims_of("[" + json + "]"), Catch::Contains(what));
}

}  // namespace

TEST_CASE("a malformed list of claims is refused") {
  CHECK_THROWS_AS(claims_of("[{"), tempera::BadInput);
  refused(R"({"id": "a"})", "label");
  refused(claim("a", R"("kind": "guessed", "check": "c")"), "is of the unknown kind");
  refused(claim("a", R"("check": "c")"), "has no kind");
  refused(claim("a", by_check) + ", " + claim("a", R"("kind": "exact", "check": "d")"),
          "is given twice");
  refused(R"({"id": "a", "label": "l", "statement": "s", "nature": "guess", "verdict": "holds"})",
          "is of the unknown nature");
}

TEST_CASE("a claim has other labels of the paper's, each once, and they are among its words") {
  const auto with = [](const std::string& aliases) {
    return claim("a", by_check + R"(, "aliases": )" + aliases);
  };
  const auto one = claims_of("[" + with(R"(["m", "n"])") + "]").front();
  CHECK(one.aliases == std::vector<std::string>{"m", "n"});
  const auto plain = claims_of("[" + claim("a", by_check) + "]").front();
  CHECK(plain.aliases.empty());
  CHECK(lab::words_digest(one) != lab::words_digest(plain));
  CHECK(lab::words_digest(one) !=
        lab::words_digest(claims_of("[" + with(R"(["m"])") + "]").front()));
  refused(with(R"(["m", "m"])"), "has the label \"m\" twice");
  refused(with(R"(["l"])"), "has the label \"l\" twice");
  refused(with(R"("m")"), "aliases");
}

TEST_CASE("a claim without a check is called proved, and no two share a check") {
  CHECK(claims_of("[" + claim("a", by_check) + ", " + claim("b", by_proof) + "]").size() == 2);
  refused(claim("a", R"("kind": "exact", "check": null, "theorem": "f.t")"),
          "is exact and has no check");
  refused(claim("a", R"("kind": "proved", "check": "c", "theorem": "f.t")"),
          "is proved: it has a theorem and no check");
  refused(claim("a", R"("kind": "proved", "check": null)"), "it has a theorem and no check");
  refused(claim("a", by_check) + ", " + claim("b", by_check),
          "names a check that another claim names");
}

TEST_CASE("a verdict other than that a claim holds has its own ground, and no other's") {
  const auto read = claims_of(
      "[" + claim("a", by_check, R"("verdict": "holds if", "assumption": "the energy varies")") +
      ", " +
      claim("b", R"("kind": "exact", "check": "e")",
            R"("verdict": "fails", "witness": "one token")") +
      ", " + claim("c", "", R"("verdict": "undecided", "reason": "needs a GPU")") + ", " +
      claim("d", R"("kind": "exact", "check": "d")") + "]");
  CHECK(read[0].verdict == lab::Verdict::holds_if);
  CHECK(read[0].ground == "the energy varies");
  CHECK(read[1].verdict == lab::Verdict::fails);
  CHECK(read[1].ground == "one token");
  CHECK(read[2].verdict == lab::Verdict::undecided);
  CHECK(read[2].ground == "needs a GPU");
  CHECK(read[3].verdict == lab::Verdict::holds);
  CHECK_FALSE(read[3].ground.has_value());

  refused(claim("a", by_proof, R"("verdict": "fails", "witness": "one token")"),
          "is proved and does not simply hold");
  refused(claim("a", by_check, R"("verdict": "seen")"), "lacks the key \"extent\"");
  refused(claim("a", by_check, R"("verdict": "true")"), "has the unknown verdict");
  refused(claim("a", by_check, R"("verdict": "holds if")"), "lacks the key \"assumption\"");
  refused(claim("a", by_check, R"("verdict": "fails")"), "lacks the key \"witness\"");
  refused(claim("a", "", R"("verdict": "undecided")"), "lacks the key \"reason\"");
  refused(claim("a", by_check, R"("verdict": "holds", "witness": "w")"), "has the key \"witness\"");
  refused(claim("a", by_check, R"("verdict": "undecided", "reason": "r")"),
          "is undecided and says what decides it");
}

TEST_CASE("a theorem is named with what it says, a quotation with its place") {
  refused(claim("a", R"("kind": "exact", "check": "c", "theorem": "f.t")"),
          "names a theorem and not what it says");
  refused(claim("a", R"("kind": "exact", "check": "c", "pinned": "1")"),
          "pins a theorem and names none");
  refused(claim("a", by_check + R"(, "quote": "so it is")"), "quotes the paper and not where");
  refused(claim("a", by_check + R"(, "place": "Sec. 1")"), "has a place and no quote");
  const auto read =
      claims_of("[" + claim("a", by_check + R"(, "quote": "so it is", "place": "Sec. 1")") + "]");
  CHECK(read[0].is_papers());
  CHECK(read[0].pinned == "1");
}

TEST_CASE("a tree's bindings are its pinned types and its seals, and its theorems can be shown") {
  const lab::Bindings bindings = lab::read_bindings(tree);
  const auto claims = lab::read_claims(tree + "/proofs/claims.json");
  CHECK(bindings.words.size() == claims.size());
  for (const lab::Claim& claim : claims) {
    INFO(claim.id);
    CHECK(bindings.words.at(claim.id) == lab::words_digest(claim));
    if (!claim.theorem) continue;
    CHECK(bindings.theorems.at(*claim.theorem) == claim.pinned);
    CHECK_THAT(lab::theorem_as_written(tree, *claim.theorem),
               Catch::Contains(claim.theorem->substr(claim.theorem->find('.') + 1)));
  }
  const lab::Bindings nothing = lab::read_bindings(tree + "/no-such-folder");
  CHECK(nothing.theorems.empty());
  CHECK(nothing.words.empty());
}

}  // namespace tempera::claim_test
