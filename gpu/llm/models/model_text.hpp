#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/llm/text/chat_format.hpp"
#include "gpu/llm/text/tokenizer.hpp"
#include "gpu/llm/transformer/weights/gguf.hpp"

namespace tempera::gpu {

/// The text of a model that is in a Hugging Face folder or a GGUF file, without its weights: its
/// tokenizer, and how it writes conversations.
class ModelText {
 public:
  /// @throw BadInput naming file, place and remedy
  explicit ModelText(const std::filesystem::path& path);
  /// The text of a GGUF file that is open.
  /// @throw BadInput as above
  explicit ModelText(std::shared_ptr<const GgufFile> file);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  /// @throw BadInput if the model has no chat template
  ChatFormat chat_format() const;

  /// The tokens of a prompt: those that belong before every text, then those of the text.
  /// @throw BadInput as Tokenizer::encode
  std::vector<std::uint32_t> encode(std::string_view text, const std::string& where) const;
  /// The tokens of a conversation, as far as the model's answer. The template alone says what
  /// is before it.
  /// @throw BadInput as chat_format, ChatFormat::render and Tokenizer::encode
  std::vector<std::uint32_t> encode_chat(std::span<const ChatMessage> messages,
                                         const ChatArguments& arguments,
                                         const std::string& where) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const GgufFile> file_;  // if it is one
  Tokenizer tokenizer_;
};

/// Whether the file begins as a GGUF file does.
bool is_gguf(const std::filesystem::path& file);

/// Lists the files of a model that is not a folder: its only file, or all parts of a GGUF file.
/// @throw BadInput as gguf_files
std::vector<std::filesystem::path> parts_of_model(const std::filesystem::path& file);

}  // namespace tempera::gpu
