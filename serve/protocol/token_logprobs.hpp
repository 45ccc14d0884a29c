#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "gpu/llm/text/token_text.hpp"
#include "gpu/session/token_alternatives.hpp"

namespace tempera::serve {

/// A token of a prompt or an answer, and what it adds to the text of those before it.
struct SpelledToken {
  gpu::TokenId token;
  std::string text;   ///< whole characters; of all tokens together the text
  std::string bytes;  ///< its own, part of a character where it is one
  bool is_first;      ///< of its text
};

/// Appends the tokens of a text.
void spell_tokens(const gpu::TokenText& text, std::span<const gpu::TokenId> tokens,
                  std::vector<SpelledToken>& spelled);

/// The "logprobs" of a chat completion: of each token its text, log p0 and bytes, and those of its
/// likeliest alternatives. No two alternatives of a token have one "token": it is the alternative's
/// text; "bytes:" and its bytes in hexadecimal, each after \x, if they are no whole characters; or
/// "token_id:" and its number, if it has no text or another one's. The token itself has there what
/// it adds to the text.
///
/// scores: of the last tokens, as many as there are; a token without one is the first of all.
nlohmann::ordered_json chat_logprobs(const gpu::TokenText& text,
                                     std::span<const SpelledToken> tokens,
                                     std::span<const gpu::TokenAlternatives> scores);

/// The "logprobs" of a completion: the same in lists and maps, with the place of each token in the
/// text in characters. with_alternatives: else "top_logprobs" has null for each token.
nlohmann::ordered_json completion_logprobs(const gpu::TokenText& text,
                                           std::span<const SpelledToken> tokens,
                                           std::span<const gpu::TokenAlternatives> scores,
                                           bool with_alternatives);

/// log p as JSON, which knows no infinity.
nlohmann::ordered_json json_log_p(double log_p);

}  // namespace tempera::serve
