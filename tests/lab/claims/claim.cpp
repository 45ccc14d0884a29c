#include "lab/claims/claim.hpp"

#include <filesystem>
#include <fstream>

#include "reference/bad_input.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_file.hpp"

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
    std::filesystem::create_directory(folder / "proofs");
    std::ofstream(folder / "proofs/one.v") << text;
    return lab::theorem_is_stated((folder / ".").string(), "one.law");
  };
  CHECK(is_stated("Theorem law : True.\nProof. exact I. Qed.\n"));
  CHECK_FALSE(
      is_stated("Lemma other : True.\nAdmitted.\nTheorem law : True.\nProof. exact I. Qed.\n"));
  CHECK_FALSE(is_stated("Axiom other : True.\nTheorem law : True.\nProof. exact I. Qed.\n"));
}

TEST_CASE("a malformed list of claims is refused") {
  const auto refused = [](const std::string& json) {
    CHECK_THROWS_AS(claims_of(json), reference::BadInput);
  };
  refused("[{");
  refused(R"([{"id": "a"}])");
  refused(R"([{"id": "a", "label": "l", "statement": "s", "kind": "guessed", "check": "c"}])");
  refused(R"([{"id": "a", "label": "l", "statement": "s", "kind": "exact", "check": null}])");
  refused(R"([{"id": "a", "label": "l", "statement": "s", "kind": "exact", "check": "c"},
              {"id": "a", "label": "l", "statement": "s", "kind": "exact", "check": "d"}])");
}

TEST_CASE("a claim without a check is called proved, and no two share a check") {
  const auto claim = [](const std::string& id, const std::string& rest) {
    return R"({"id": ")" + id + R"(", "label": "l", "statement": "s", )" + rest + "}";
  };
  const std::string by_check = R"("kind": "exact", "check": "c", "theorem": "f.t")";
  const std::string by_proof = R"("kind": "proved", "check": null, "theorem": "f.t")";
  CHECK(claims_of("[" + claim("a", by_check) + ", " + claim("b", by_proof) + "]").size() == 2);
  const auto refused = [](const std::string& json, const std::string& what) {
    CHECK_THROWS_WITH(claims_of("[" + json + "]"), Catch::Contains(what));
  };
  refused(claim("a", R"("kind": "exact", "check": null, "theorem": "f.t")"),
          "is exact and has no check");
  refused(claim("a", R"("kind": "proved", "check": "c", "theorem": "f.t")"),
          "is proved: it has a theorem and no check");
  refused(claim("a", R"("kind": "proved", "check": null)"), "it has a theorem and no check");
  refused(claim("a", by_check) + ", " + claim("b", by_check),
          "names a check that another claim names");
}
