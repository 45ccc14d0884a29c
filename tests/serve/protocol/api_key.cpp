#include "serve/protocol/api_key.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace tempera::serve::api_key_test {
namespace {

/// A text that notes which of its bytes are read.
struct NotedText {
  std::string_view text;
  std::vector<std::size_t>* reads;

  std::size_t size() const { return text.size(); }
  char operator[](std::size_t i) const {
    reads->push_back(i);
    return text[i];
  }
};

}  // namespace

TEST_CASE("a key is that key and no other", "[serve]") {
  const std::vector<std::string> words{"a", "b", "aa", "ab", "aaa", "aba", "abab", "\xff", "a\xff"};
  for (const std::string& given : words)
    for (const std::string& key : words) CHECK(is_same_key(given, key) == (given == key));
  for (const std::string& key : words) CHECK_FALSE(is_same_key(std::string(), key));
}

TEST_CASE("the bytes that are read of a key do not depend on how much of a guess is right",
          "[serve]") {
  const std::string key = "secret-0123456789";
  const auto reads_of = [&](const std::string& given) {
    std::vector<std::size_t> of_given;
    std::vector<std::size_t> of_key;
    is_same_key(NotedText{given, &of_given}, NotedText{key, &of_key});
    return std::pair{of_given, of_key};
  };
  const auto all = reads_of(key);
  CHECK(all.first.size() == key.size());
  CHECK(all.second == all.first);
  for (std::size_t at = 0; at < key.size(); ++at) {
    std::string guess = key;
    guess[at] = '!';
    CHECK(reads_of(guess) == all);
  }
  CHECK(reads_of(std::string(key.size(), '!')) == all);
}

TEST_CASE("the token is what follows the scheme Bearer, in letters of any case", "[serve]") {
  for (const char* given : {"Bearer key", "bearer key", "BEARER key", "bEaReR   key"})
    CHECK(bearer_token(given) == "key");
  CHECK(bearer_token("Bearer ") == "");
  CHECK(bearer_token("Bearer Key ") == "Key ");
  for (const char* given :
       {"", "Bearer", "Bearerkey", "Bearer\tkey", "Basic key", "key", " Bearer key"})
    CHECK_FALSE(bearer_token(given).has_value());
}

}  // namespace tempera::serve::api_key_test
