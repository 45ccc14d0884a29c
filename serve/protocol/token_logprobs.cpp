#include "serve/protocol/token_logprobs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/utf8.hpp"

namespace tempera::serve {
namespace {

using nlohmann::ordered_json;

struct Alternative {
  std::string name;
  std::string bytes;
  double log_p;
};

std::string spell_bytes(const std::string& bytes) {
  if (first_invalid_utf8(bytes) == bytes.size()) return bytes;
  std::string spelled = "bytes:";
  for (const char byte : bytes) {
    std::array<char, 5> digits{};
    std::snprintf(digits.data(), digits.size(), "\\x%02x", static_cast<unsigned char>(byte));
    spelled += digits.data();
  }
  return spelled;
}

/// What a token adds to a text at the place of another one.
std::string bytes_in_place(const gpu::TokenText& text, gpu::TokenId token, bool is_first) {
  if (!is_first) return text.bytes(token);
  const auto pieces = text.pieces();
  pieces->push(token);
  return pieces->last_bytes();
}

std::vector<Alternative> name_alternatives(const gpu::TokenText& text, const SpelledToken& own,
                                           const gpu::TokenAlternatives& score) {
  std::vector<Alternative> alternatives;
  std::set<std::string> taken{own.text};
  for (const auto& [token, log_p] : score.likeliest) {
    if (token == own.token) {
      alternatives.push_back({own.text, own.bytes, log_p});
      continue;
    }
    auto bytes = bytes_in_place(text, token, own.is_first);
    auto name = spell_bytes(bytes);
    if (name.empty() || taken.contains(name)) name = "token_id:" + std::to_string(token);
    taken.insert(name);
    alternatives.push_back({std::move(name), std::move(bytes), log_p});
  }
  return alternatives;
}

ordered_json chat_token(const std::string& name, const std::string& bytes, double log_p) {
  ordered_json list = ordered_json::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return {{"token", name}, {"logprob", json_log_p(log_p)}, {"bytes", std::move(list)}};
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; }));
}

/// The score of a token; null if it is the first of all.
const gpu::TokenAlternatives* score_of(std::size_t index, std::size_t tokens,
                                       std::span<const gpu::TokenAlternatives> scores) {
  const std::size_t left = tokens - index;
  return left > scores.size() ? nullptr : &scores[scores.size() - left];
}

}  // namespace

ordered_json json_log_p(double log_p) {
  return std::isfinite(log_p) ? ordered_json(log_p) : ordered_json(-1e9);
}

void spell_tokens(const gpu::TokenText& text, std::span<const gpu::TokenId> tokens,
                  std::vector<SpelledToken>& spelled) {
  if (tokens.empty()) return;
  const auto pieces = text.pieces();
  bool is_first = true;
  for (const gpu::TokenId token : tokens) {
    auto added = pieces->push(token);
    spelled.push_back({token, std::move(added), pieces->last_bytes(), is_first});
    is_first = false;
  }
  spelled.back().text += pieces->finish();
}

ordered_json chat_logprobs(const gpu::TokenText& text, std::span<const SpelledToken> tokens,
                           std::span<const gpu::TokenAlternatives> scores) {
  ordered_json content = ordered_json::array();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& own = tokens[i];
    const auto* score = score_of(i, tokens.size(), scores);
    ordered_json entry = chat_token(own.text, own.bytes, score ? score->log_p : 0.0);
    entry["top_logprobs"] = ordered_json::array();
    if (score)
      for (const auto& [name, bytes, log_p] : name_alternatives(text, own, *score))
        entry["top_logprobs"].push_back(chat_token(name, bytes, log_p));
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}};
}

ordered_json completion_logprobs(const gpu::TokenText& text, std::span<const SpelledToken> tokens,
                                 std::span<const gpu::TokenAlternatives> scores,
                                 bool with_alternatives) {
  ordered_json texts = ordered_json::array();
  ordered_json log_ps = ordered_json::array();
  ordered_json tops = ordered_json::array();
  ordered_json offsets = ordered_json::array();
  std::size_t offset = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto& own = tokens[i];
    const auto* score = score_of(i, tokens.size(), scores);
    texts.push_back(own.text);
    offsets.push_back(offset);
    offset += characters_in(own.text);
    log_ps.push_back(score ? json_log_p(score->log_p) : ordered_json(nullptr));
    if (!score || !with_alternatives) {
      tops.push_back(nullptr);
      continue;
    }
    ordered_json top = ordered_json::object();
    for (const auto& [name, bytes, log_p] : name_alternatives(text, own, *score))
      top[name] = json_log_p(log_p);
    if (!top.contains(own.text)) top[own.text] = json_log_p(score->log_p);
    tops.push_back(std::move(top));
  }
  return {{"tokens", std::move(texts)},
          {"token_logprobs", std::move(log_ps)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace tempera::serve
