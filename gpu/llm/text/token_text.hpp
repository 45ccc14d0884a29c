#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/llm/text/chat_format.hpp"

namespace tempera::gpu {

/// The text of tokens as they come, in whole characters. All pieces, one after the other, are what
/// TokenText::decode gives for all the tokens at once.
class TextPieces {
 public:
  virtual ~TextPieces() = default;
  /// The text that is certain now that this token has come; well-formed UTF-8, perhaps empty.
  virtual std::string push(std::uint32_t token) = 0;
  /// What the last token gave, before whole characters are made of it: all together are the text,
  /// where U+FFFD stands for bytes that make no character.
  virtual std::string last_bytes() const = 0;
  /// The text that is left at the end; perhaps empty.
  virtual std::string finish() = 0;
};

/// How people write and read the tokens of a model.
class TokenText {
 public:
  virtual ~TokenText() = default;
  /// The tokens of a prompt that is plain text.
  /// @throw BadInput naming `where` for what the model has no tokens for
  virtual std::vector<std::uint32_t> encode(std::string_view text,
                                            const std::string& where) const = 0;
  /// The tokens of a conversation, up to where the model's answer begins. Which roles may follow
  /// each other is the chat template's to say.
  /// @throw BadInput naming `where` or the model's files, as ChatFormat::render; always if the
  /// model has no tokenizer
  virtual std::vector<std::uint32_t> encode_chat(std::span<const ChatMessage> messages,
                                                 const ChatArguments& arguments,
                                                 const std::string& where) const;
  /// How it writes conversations; nothing if the model has no tokenizer.
  /// @throw BadInput as ChatFormat::load and from_gguf
  virtual std::optional<ChatFormat> chat_format() const { return std::nullopt; }
  /// The text of tokens, the terminal one included.
  virtual std::string decode(std::span<const std::uint32_t> tokens) const = 0;
  /// The bytes of a token after others, part of a character where it is one.
  virtual std::string bytes(std::uint32_t token) const { return decode(std::span(&token, 1)); }
  /// The text of tokens that come one by one. This object must outlive what is returned.
  virtual std::unique_ptr<TextPieces> pieces() const;
};

}  // namespace tempera::gpu
