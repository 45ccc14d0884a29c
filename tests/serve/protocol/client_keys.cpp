#include "serve/protocol/client_keys.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/sha256.hpp"
#include "tests/between.hpp"
#include "tests/law.hpp"

namespace tempera::serve::client_keys_test {
namespace {

std::string error_of(const std::string& text) {
  try {
    ClientKeys::read(text, "keys");
    return "none";
  } catch (const BadInput& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a file of one word is the key", "[serve]") {
  for (const char* text : {"secret", "secret\n", "secret\r\n", "\n secret\n\n"}) {
    const ClientKeys keys = ClientKeys::read(text, "keys");
    REQUIRE(keys.size() == 1);
    CHECK(keys[0].name == "key");
    CHECK_FALSE(keys[0].limits.any());
    CHECK(keys.shows_a_key());
    CHECK(keys.find("Bearer secret") == 0);
    for (const char* other : {"", "Bearer", "Bearer ", "Bearer secret2", "Bearer secre", "secret"})
      CHECK(keys.find(other) == std::nullopt);
  }
  CHECK(ClientKeys::read("#1", "keys").find("Bearer #1") == 0);
  CHECK(ClientKeys::read("sha256:" + sha256("secret"), "keys").find("Bearer secret") == 0);
  CHECK_FALSE(ClientKeys().find("Bearer secret").has_value());
}

TEST_CASE("each key opens as its own client, given as it is or by its digest", "[serve]") {
  law("a token is found where its key is, and nowhere else", [] {
    const auto count = between<std::size_t>(1, 6);
    std::string text = "# clients\n\n";
    std::vector<ClientLimits> limits;
    bool shows = false;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string key = "key-" + std::to_string(i);
      const bool is_digest = *rc::gen::arbitrary<bool>();
      shows = shows || !is_digest;
      ClientLimits own{between<std::size_t>(0, 2), between<std::size_t>(0, 1) * 60000};
      text += "client-" + std::to_string(i) + "\t " + (is_digest ? "sha256:" + sha256(key) : key);
      if (own.tokens_per_minute > 0)
        text += " tokens-per-minute=" + std::to_string(own.tokens_per_minute);
      if (own.requests > 0) text += " requests=" + std::to_string(own.requests);
      text += *rc::gen::arbitrary<bool>() ? "\r\n# a comment\n" : "\n\n";
      limits.push_back(own);
    }
    const ClientKeys keys = ClientKeys::read(text, "keys");
    RC_ASSERT(keys.size() == count);
    RC_ASSERT(keys.shows_a_key() == shows);
    for (std::size_t i = 0; i < count; ++i) {
      RC_ASSERT(keys[i].name == "client-" + std::to_string(i));
      RC_ASSERT(keys[i].limits.requests == limits[i].requests);
      RC_ASSERT(keys[i].limits.tokens_per_minute == limits[i].tokens_per_minute);
      RC_ASSERT(keys.find("bearer key-" + std::to_string(i)) == i);
      // Whoever reads the file has no key by its digest.
      RC_ASSERT(keys.find("Bearer sha256:" + keys[i].digest) == std::nullopt);
      RC_ASSERT(keys.find("Bearer " + keys[i].digest) == std::nullopt);
    }
    RC_ASSERT(keys.find("Bearer key-" + std::to_string(count)) == std::nullopt);
  });
}

TEST_CASE("a wrong file of keys is refused by one line with its place", "[serve]") {
  const std::string good = "ada secret-1\n";
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"", "keys: it holds no key; write one word into it, or NAME KEY for each client"},
           {"\n \n", "keys: it holds no key; write one word into it, or NAME KEY for each client"},
           {"# ada secret\n",
            "keys: it holds no key; write one word into it, or NAME KEY for each client"},
           {good + "bob\n",
            "keys, line 2: it has no key; write NAME KEY, and after them requests=N or "
            "tokens-per-minute=N if the client has limits"},
           {good + "\nada secret-2\n",
            "keys, line 3: its name \"ada\" is that of line 1; give each client a name of its own"},
           {good + "bob secret-1\n",
            "keys, line 2: its key is that of line 1; give each client a key of its own"},
           {good + "bob sha256:" + sha256("secret-1") + "\n",
            "keys, line 2: its key is that of line 1; give each client a key of its own"},
           {good + "b/b secret-2\n",
            "keys, line 2: \"b/b\" cannot be a name; give at most 64 letters, digits and signs of "
            "\"-_.@\""},
           {good + "bob sha256:12\n",
            "keys, line 2: what follows \"sha256:\" is not 64 digits of 0-9 and a-f; give what "
            "`printf %s KEY | sha256sum` prints"},
           {good + "bob secret-2 request=1\n",
            "keys, line 2: \"request=1\" does not name a limit; did you mean \"requests\"?"},
           {good + "bob secret-2 3\n",
            "keys, line 2: \"3\" does not name a limit; write requests=N or tokens-per-minute=N"},
           {good + "bob secret-2 requests=1 requests=1\n",
            "keys, line 2: requests is given twice; give it once"},
           {good + "bob secret-2 requests=0\n",
            "keys, line 2: requests is not a whole number from 1 to 1000000000; give one, or leave "
            "the limit out"},
           {"bob secret\x01\n", "keys, line 1: it has a control character; write plain text"}})
    CHECK(error_of(text) == error);
  for (const char* limit : {"requests", "requests=", "requests=-1", "requests=1.5", "requests=1e3",
                            "tokens-per-minute=99999999999999999999", "requests=1000000001"})
    CHECK(error_of(good + "bob secret-2 " + limit).find("keys, line 2: ") == 0);
  std::string many;
  for (int i = 0; i < 1025; ++i) many += "n" + std::to_string(i) + " k" + std::to_string(i) + "\n";
  CHECK(error_of(many) ==
        "keys: it has more than 1024 keys; give fewer; several clients may share one");
  CHECK(error_of(std::string(65, 'a') + " secret\n").find("keys, line 1: ") == 0);
}

}  // namespace tempera::serve::client_keys_test
