// How the server writes log-probabilities: alternatives that are parts of characters, that have no
// text or another one's, and their order.
#include "serve/protocol/token_logprobs.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/utf8.hpp"
#include "gpu/llm/text/tokenizer.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/law.hpp"

namespace tempera::serve::token_logprobs_test {
namespace {

using gpu::TokenAlternatives;
using gpu::TokenId;
using nlohmann::ordered_json;

/// The text of a fixture's tokenizer.
class FixtureText final : public gpu::TokenText {
 public:
  explicit FixtureText(const std::string& fixture)
      : tokenizer(gpu::Tokenizer::load(std::filesystem::path(TEMPERA_SOURCE_DIR) /
                                       "tests/fixtures/tokenizer" / fixture)) {}
  std::vector<TokenId> encode(std::string_view text, const std::string& where) const override {
    return tokenizer.encode(text, where);
  }
  std::string decode(std::span<const TokenId> tokens) const override {
    return tokenizer.decode(tokens);
  }
  std::string bytes(TokenId token) const override { return tokenizer.bytes(token); }
  std::unique_ptr<gpu::TextPieces> pieces() const override {
    return std::make_unique<Pieces>(tokenizer);
  }

  const gpu::Tokenizer tokenizer;

 private:
  struct Pieces final : gpu::TextPieces {
    explicit Pieces(const gpu::Tokenizer& tokenizer) : stream(tokenizer) {}
    std::string push(TokenId token) override { return stream.push(token); }
    std::string last_bytes() const override { return stream.last_bytes(); }
    std::string finish() override { return stream.finish(); }
    gpu::TextStream stream;
  };
};

std::vector<SpelledToken> spelled(const gpu::TokenText& text, const std::vector<TokenId>& tokens) {
  std::vector<SpelledToken> result;
  spell_tokens(text, tokens, result);
  return result;
}

std::string bytes_of(const ordered_json& entry) {
  std::string bytes;
  for (const int byte : entry["bytes"]) bytes += static_cast<char>(byte);
  return bytes;
}

/// The names and log p of what may stand for the second token of `tokens`.
std::vector<std::pair<std::string, double>> alternatives(const gpu::TokenText& text,
                                                         const std::vector<TokenId>& tokens,
                                                         const TokenAlternatives& score) {
  const auto said = completion_logprobs(text, spelled(text, tokens), std::vector{score}, true);
  std::vector<std::pair<std::string, double>> found;
  for (const auto& [name, log_p] : said["top_logprobs"].back().items())
    found.emplace_back(name, log_p.get<double>());
  return found;
}

}  // namespace

TEST_CASE("parts of characters have names and bytes of their own", "[serve]") {
  const FixtureText text("qwen_like");
  const auto token = [&](const char* spelled) { return *text.tokenizer.find(spelled); };
  // The bytes E7, 8B and 90 make one character; "a" is whole.
  const TokenId first = token("\xC3\xA7"), second = token("\xC4\xAD"), third = token("\xC4\xB2"),
                whole = token("a");
  REQUIRE(text.decode(std::vector{first, second, third}) == "\xE7\x8B\x90");
  const TokenAlternatives score{-2.0,
                                {{third, -1.0}, {second, -2.0}, {whole, -3.0}, {first, -4.0}}};
  // The chosen part adds no whole character, so its name is what it adds; the others differ.
  const auto found = alternatives(text, {first, second}, score);
  CHECK(found ==
        std::vector<std::pair<std::string, double>>{
            {"bytes:\\x90", -1.0}, {"\xEF\xBF\xBD", -2.0}, {"a", -3.0}, {"bytes:\\xe7", -4.0}});
  const auto said =
      chat_logprobs(text, spelled(text, {first, second, third}),
                    std::vector<TokenAlternatives>{score, {-1.0, {{third, -1.0}, {first, -4.0}}}});
  const auto& content = said["content"];
  REQUIRE(content.size() == 3);
  CHECK(content[0]["token"] == "");
  CHECK(content[1]["token"] == "");
  CHECK(content[2]["token"] == "\xE7\x8B\x90");
  CHECK(bytes_of(content[0]) + bytes_of(content[1]) + bytes_of(content[2]) == "\xE7\x8B\x90");
  CHECK(bytes_of(content[1]) == "\x8B");
  CHECK(content[0]["top_logprobs"].empty());
  const auto& top = content[1]["top_logprobs"];
  REQUIRE(top.size() == 4);
  CHECK(bytes_of(top[0]) == "\x90");
  CHECK(top[0]["token"] == "bytes:\\x90");
  CHECK(top[1] == ordered_json{{"token", ""}, {"logprob", -2.0}, {"bytes", {0x8B}}});
  CHECK(bytes_of(top[3]) == "\xE7");
  // At the last part the character is the chosen token's alone.
  CHECK(content[2]["top_logprobs"][0]["token"] == "\xE7\x8B\x90");
  CHECK(content[2]["top_logprobs"][0]["bytes"] == ordered_json{0x90});
}

TEST_CASE("an alternative without a text, or with another one's, has its number", "[serve]") {
  const FixtureText text("phi_like");
  const auto& tokenizer = text.tokenizer;
  const TokenId a = *tokenizer.find("a"), byte_a = *tokenizer.find("<0x61>"), nothing = 9999;
  const auto number = [](TokenId token) { return "token_id:" + std::to_string(token); };
  const auto names = [](const auto& found) {
    std::vector<std::string> all;
    for (const auto& [name, log_p] : found) all.push_back(name);
    return all;
  };
  using Names = std::vector<std::string>;
  const TokenId e = *tokenizer.find("e");
  CHECK(names(alternatives(text, {e, e}, {-1.0, {{a, -2.0}, {byte_a, -3.0}, {nothing, -4.0}}})) ==
        Names{"a", number(byte_a), number(nothing), "e"});
  CHECK(
      names(alternatives(text, {e, e}, {-1.0, {{byte_a, -2.0}, {a, -3.0}, {nothing + 1, -4.0}}})) ==
      Names{"a", number(a), number(nothing + 1), "e"});
  // The token that is there keeps its name, wherever it is among them.
  CHECK(names(alternatives(text, {e, a}, {-3.0, {{byte_a, -2.0}, {a, -3.0}}})) ==
        Names{number(byte_a), "a"});
  // A space at the begin of a piece is a part of its name, but at the begin of the text.
  const TokenId marked = *tokenizer.find("\xE2\x96\x81in"), plain = *tokenizer.find("in");
  CHECK(names(alternatives(text, {e, e}, {-1.0, {{marked, -2.0}, {plain, -3.0}}})) ==
        Names{" in", "in", "e"});
  std::vector<SpelledToken> tokens = spelled(text, {e});
  spell_tokens(text, std::vector{e}, tokens);  // an answer, which begins a text
  const auto said = completion_logprobs(
      text, tokens, std::vector<TokenAlternatives>{{-1.0, {{marked, -2.0}, {plain, -3.0}}}}, true);
  CHECK(said["top_logprobs"][1] == ordered_json{{"in", -2.0}, {number(plain), -3.0}, {"e", -1.0}});
}

TEST_CASE("as many alternatives as were asked for, each with a name of its own", "[serve]") {
  for (const char* fixture : {"qwen_like", "phi_like", "words", "metaspace"}) {
    const FixtureText text(fixture);
    const auto size = static_cast<TokenId>(text.tokenizer.vocabulary_size());
    law(fixture, [&] {
      const auto tokens = *rc::gen::suchThat(
          rc::gen::container<std::vector<TokenId>>(rc::gen::inRange<TokenId>(0, size + 3)),
          [](const auto& some) { return some.size() > 1; });
      std::vector<TokenAlternatives> scores;
      for (std::size_t t = 1; t < tokens.size(); ++t) {
        const auto others =
            *rc::gen::container<std::vector<TokenId>>(rc::gen::inRange<TokenId>(0, size + 3));
        TokenAlternatives score{-9.0, {}};
        std::set<TokenId> known;
        for (const TokenId other : others)
          if (known.insert(other).second)
            score.likeliest.emplace_back(other, -static_cast<double>(score.likeliest.size()));
        scores.push_back(score);
      }
      const auto all = spelled(text, tokens);
      const auto said = completion_logprobs(text, all, scores, true);
      const auto chat = chat_logprobs(text, all, scores);
      std::string together, bytes;
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        together += said["tokens"][t].get<std::string>();
        bytes += bytes_of(chat["content"][t]);
        if (t == 0) continue;
        const auto& score = scores[t - 1];
        const bool is_among =
            std::any_of(score.likeliest.begin(), score.likeliest.end(),
                        [&](const auto& each) { return each.first == tokens[t]; });
        const auto& top = said["top_logprobs"][t];
        RC_ASSERT(top.size() == score.likeliest.size() + (is_among ? 0 : 1));
        RC_ASSERT(top.contains(said["tokens"][t].get<std::string>()));
        const auto& list = chat["content"][t]["top_logprobs"];
        RC_ASSERT(list.size() == score.likeliest.size());
        std::set<std::string> names;
        for (std::size_t j = 0; j < list.size(); ++j) {
          const auto name = list[j]["token"].get<std::string>();
          RC_ASSERT(names.insert(name).second);
          RC_ASSERT(list[j]["logprob"] == score.likeliest[j].second);
          RC_ASSERT(top[name] == list[j]["logprob"]);
          const TokenId token = score.likeliest[j].first;
          if (token != tokens[t]) RC_ASSERT(bytes_of(list[j]) == text.tokenizer.bytes(token));
        }
      }
      RC_ASSERT(together == text.decode(tokens));
      if (first_invalid_utf8(bytes) == bytes.size()) RC_ASSERT(bytes == together);
    });
  }
}

TEST_CASE("what has no score, or no alternatives, says so", "[serve]") {
  const FixtureText text("qwen_like");
  const auto tokens = spelled(text, {64, 65, 66});
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<TokenAlternatives> scores{{-infinity, {{67, -1.0}}}, {-2.0, {{66, -2.0}}}};
  const auto said = completion_logprobs(text, tokens, scores, true);
  CHECK(said["token_logprobs"] == ordered_json{nullptr, -1e9, -2.0});
  CHECK(said["top_logprobs"] == ordered_json{nullptr, {{"d", -1.0}, {"b", -1e9}}, {{"c", -2.0}}});
  CHECK(said["text_offset"] == ordered_json{0, 1, 2});
  const auto plain = completion_logprobs(text, tokens, scores, false);
  CHECK(plain["top_logprobs"] == ordered_json{nullptr, nullptr, nullptr});
  CHECK(plain["token_logprobs"] == said["token_logprobs"]);
  // The scores are of the last tokens: all may have one.
  const auto answer = completion_logprobs(text, spelled(text, {65, 66}), scores, true);
  CHECK(answer["token_logprobs"] == ordered_json{-1e9, -2.0});
  CHECK(completion_logprobs(text, {}, {}, true)["tokens"].empty());
}

}  // namespace tempera::serve::token_logprobs_test
