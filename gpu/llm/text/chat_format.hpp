#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gpu/llm/text/chat_message.hpp"

namespace tempera::gpu {

class GgufMetadata;

/// How a model writes a conversation as text, which its own chat template says.
///
/// The families that tempera is tested with are known by their published templates, character by
/// character (SHA-256, without one newline at the end, which template engines drop): plain
/// conversations of theirs need no template engine. Jinja2 renders all others
/// (template_engine.hpp).
class ChatFormat {
 public:
  /// Reads chat_template.jinja or the "chat_template" of tokenizer_config.json (of several, the one
  /// named "default"), and the special tokens that tokenizer_config.json names.
  /// @throw BadInput naming file and remedy for a missing template
  static ChatFormat load(const std::filesystem::path& folder);
  /// Reads "tokenizer.chat_template" and the texts of the special tokens of a GGUF file.
  /// @throw BadInput naming file, key and remedy for a missing template
  static ChatFormat from_gguf(const GgufMetadata& metadata);
  /// The format of a template; `where` names it in errors. `tokens` are the texts that it may write
  /// by name, such as "bos_token".
  static ChatFormat of(std::string_view chat_template, std::map<std::string, std::string> tokens,
                       std::string where);

  /// The family's name; empty if tempera is not tested with the template.
  std::string_view name() const;
  bool is_tested() const { return family_ != nullptr; }
  /// SHA-256 of the template, without one newline at its end.
  const std::string& digest() const { return digest_; }

  /// The text after which the model's answer begins, as the template renders it. Llama 3.1 and 3.2
  /// have the date 26 Jul 2024, which their templates hold, because a prompt must not depend on the
  /// day. What is in a message is not escaped: the text of a special token in it is that token, as
  /// in the template. "developer" is "system" for a template that does not name it.
  /// @throw BadInput naming `where` for no message, for arguments that have no effect, and as
  /// render_template
  std::string render(std::span<const ChatMessage> messages, const ChatArguments& arguments,
                     const std::string& where) const;

 private:
  struct Family;
  ChatFormat() = default;
  static const Family* find(std::string_view digest);
  /// Nothing if the conversation is none that the family is known for.
  std::optional<std::string> render_family(std::span<const ChatMessage> messages,
                                           const ChatArguments& arguments) const;

  const Family* family_ = nullptr;
  std::string source_;
  std::string digest_;
  std::map<std::string, std::string> tokens_;
  std::string where_;
};

}  // namespace tempera::gpu
