#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

class GgufMetadata;

/// A text's way into tokens and back, as a tokenizer.json of Hugging Face or a GGUF file describes
/// it.
///
/// Reads tokenizer.json: model BPE (byte-level, of characters, or falling back to bytes) or
/// WordLevel; normaliser as Normalizer, pre-tokenizer as PreTokenizer reads it; decoder ByteLevel,
/// Replace, ByteFallback, Fuse, Metaspace, Strip or none. What these leave out is refused by name.
class Tokenizer {
 public:
  /// What it is made of; the readers of this folder fill it.
  struct Parts;

  /// Reads `folder`/tokenizer.json; BadInput naming file, place and remedy.
  static Tokenizer load(const std::filesystem::path& folder);
  /// Reads the text of a tokenizer.json; `where` names it in errors.
  static Tokenizer parse(std::string_view json, const std::string& where);
  /// Reads "tokenizer.ggml.*" of a GGUF file: model "gpt2" (byte-level BPE with the words of
  /// "pre": see gguf_words.hpp) or "llama" (BPE by the pieces' scores, falling
  /// back to bytes), as Hugging Face's tokenizer of the same model does.
  /// @throw BadInput naming file, key and remedy
  static Tokenizer from_gguf(const GgufMetadata& metadata);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// One more than the greatest token; the model's vocabulary may be larger.
  std::size_t vocabulary_size() const;
  /// The token whose text in tokenizer.json this is.
  std::optional<std::uint32_t> find(std::string_view token) const;

  /// The tokens that belong before a text which is no part of a conversation (a begin of text);
  /// often none.
  const std::vector<std::uint32_t>& beginning() const;

  /// The added tokens (special ones and others; in GGUF those of type control, user-defined or
  /// unknown) that end a text by their names, as llama.cpp knows them; ascending, often several. A
  /// piece of the vocabulary that only looks so, as "</s>" in Qwen's, is an ordinary text.
  /// "<|end|>" ends a message only, and not the answer, beside the ends of gpt-oss and Solar Open;
  /// "</s>" is a text beside Gemma 4's "<|tool_response>".
  std::vector<std::uint32_t> known_ends() const;

  /// The tokens of a text; no token is put before or after it. `where` names the text in errors.
  /// @throw BadInput, naming the byte, for a text that is not UTF-8, and for a character that has
  /// no token if tokenizer.json names no unknown token (Hugging Face would lose it silently).
  std::vector<std::uint32_t> encode(std::string_view text, const std::string& where) const;

  /// The text of tokens, special ones included, always well-formed UTF-8; an added token is the
  /// text that it is found by, whatever letters stand for bytes in the others. A character that is
  /// not whole becomes U+FFFD; so does each byte of neighbouring tokens that stand for a byte each
  /// (ByteFallback), unless all of them together are UTF-8. A token that tokenizer.json does not
  /// know gives no text.
  std::string decode(std::span<const std::uint32_t> tokens) const;
  /// The text of a token alone, with U+FFFD for what is no whole character.
  std::string piece(std::uint32_t token) const;
  /// The bytes of a token after others, part of a character where it is one.
  std::string bytes(std::uint32_t token) const;

 private:
  friend class TextStream;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

/// The text of tokens as they come, whole characters only. All that it gives is, one after the
/// other, what Tokenizer::decode gives for all tokens at once. The tokenizer must outlive it.
class TextStream {
 public:
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}
  /// The text that is certain now that this token has come; well-formed, perhaps empty.
  std::string push(std::uint32_t token);
  /// What the last token gave; all together are the text, but for bytes that make no character.
  const std::string& last_bytes() const { return last_; }
  /// What is left at the end: U+FFFD for a character that is not whole, or nothing.
  std::string finish();

 private:
  void append(std::string_view text);
  void end_bytes();

  const Tokenizer* tokenizer_;
  std::string pending_;  // the start of a character
  std::string bytes_;    // of tokens that stand for a byte each, until another one comes
  std::string last_;
  bool is_first_ = true;
  std::size_t stripped_ = 0;  // leading spaces taken off so far
  bool strips_ = true;        // whether another may be
};

}  // namespace tempera::gpu
