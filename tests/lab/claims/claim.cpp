#include "lab/claims/claim.hpp"

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

TEST_CASE("a malformed list of claims is refused") {
  const auto refused = [](const std::string& json) {
    CHECK_THROWS_AS(claims_of(json), reference::BadInput);
  };
  refused("[{");
  refused(R"([{"id": "a"}])");
  refused(R"([{"id": "a", "label": "l", "statement": "s", "kind": "guessed", "check": "c"}])");
  refused(R"([{"id": "a", "label": "l", "statement": "s", "kind": "exact", "check": null}])");
  refused(R"([{"id": "a", "label": "l", "statement": "s", "kind": "exact", "check": "c"},
              {"id": "a", "label": "l", "statement": "s", "kind": "exact", "check": "c"}])");
}
