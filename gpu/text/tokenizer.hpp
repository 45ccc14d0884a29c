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

/// A text's way into tokens and back, as a tokenizer.json of Hugging Face describes it.
///
/// Model BPE (byte-level or of characters) or WordLevel; normaliser NFC or none; pre-tokenizer as
/// PreTokenizer reads it; decoder ByteLevel, Fuse or none. What these leave out is refused by name.
class Tokenizer {
 public:
  /// Reads `folder`/tokenizer.json; BadInput naming file, place and remedy.
  static Tokenizer load(const std::filesystem::path& folder);
  /// Reads the text of a tokenizer.json; `where` names it in errors.
  static Tokenizer parse(std::string_view json, const std::string& where);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// One more than the greatest token; the model's vocabulary may be larger.
  std::size_t vocabulary_size() const;
  /// The token whose text in tokenizer.json this is.
  std::optional<std::uint32_t> find(std::string_view token) const;
  /// Whether tokenizer.json marks the token as special (an end of text, say).
  bool is_special(std::uint32_t token) const;

  /// The tokens of a text; no token is put before or after it. `where` names the text in errors.
  /// @throw BadInput, naming the byte, for a text that is not UTF-8, and for a character that has
  /// no token where tokenizer.json names no unknown token (Hugging Face would lose it silently).
  std::vector<std::uint32_t> encode(std::string_view text, const std::string& where) const;

  /// The text of tokens, special ones included, always well-formed UTF-8: a character that is not
  /// whole becomes U+FFFD. A token that tokenizer.json does not know gives no text.
  std::string decode(std::span<const std::uint32_t> tokens) const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace tempera::gpu
