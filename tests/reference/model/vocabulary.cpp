#include "reference/model/vocabulary.hpp"

#include "base/error.hpp"
#include "tests/catch.hpp"

using namespace tempera::reference;

TEST_CASE("a vocabulary finds its tokens and joins them") {
  const Vocabulary vocabulary({"a", "\xc3\xa9", "a\\"}, "here");
  CHECK(vocabulary.size() == 3);
  CHECK(vocabulary.find("\xc3\xa9") == Token{1});
  CHECK_FALSE(vocabulary.find("b"));
  CHECK(vocabulary.join(std::vector<Token>{2, 0, 0}) == "a\\ a a");
  CHECK(vocabulary.join({}).empty());
}

TEST_CASE("tokens that a record could not be written with are refused") {
  const auto refused = [](std::vector<std::string> tokens, const std::string& message) {
    CHECK_THROWS_WITH(Vocabulary(std::move(tokens), "here"), Catch::Contains("here: " + message));
  };
  refused({}, "\"vocabulary\" is not a list of tokens");
  refused({"a", "b", "a"}, "\"vocabulary\"[2] repeats the token \"a\"");
  for (const std::string text : {"", " ", "a b", "a|b", "a\t", "\x7f", "\n"})
    refused({"a", text}, "\"vocabulary\"[1] (");
  refused({std::string("\0", 1)}, "\"vocabulary\"[0] (");
}
