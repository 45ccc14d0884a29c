#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "gpu/llm/text/token_text.hpp"
#include "gpu/session/sample_request.hpp"

namespace tempera::gpu {

/// The text of one answer as its tokens come, which ends before the first stop string.
///
/// What may become the beginning of a stop string is held back until it is known, so that no text
/// that was given is ever taken back.
class AnswerText {
 public:
  /// text: null if the answer has none. Both must outlive this object.
  AnswerText(const TokenText* text, const std::vector<std::string>& stop);

  /// Takes the next token, no terminal one, and gives the text that is certain now.
  /// @pre not stopped()
  std::string push(std::uint32_t token);
  /// Gives the text that was held back, when all tokens are there.
  std::string finish();
  /// Whether a stop string has come.
  bool stopped() const { return is_stopped_; }
  /// How many tokens were taken; the last completed the stop string if one has come.
  std::size_t tokens() const { return tokens_; }
  /// All the text that was given.
  const std::string& given() const { return given_; }

 private:
  std::string take(std::size_t bytes);
  bool stop_in_pending();
  std::size_t certain_bytes() const;

  const std::vector<std::string>& stop_;
  std::unique_ptr<TextPieces> pieces_;
  std::string pending_;  // came and is not yet given
  std::string given_;
  std::size_t tokens_ = 0;
  bool is_stopped_ = false;
};

/// What people read of an answer: the text of its tokens without the terminal one, up to the first
/// stop string.
std::string text_of(const Answer& answer, const TokenText& text,
                    const std::vector<std::string>& stop);

}  // namespace tempera::gpu
