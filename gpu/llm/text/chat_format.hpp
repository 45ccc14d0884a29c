#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "gpu/llm/text/chat_message.hpp"

namespace tempera::gpu {

class GgufMetadata;

/// How a model's family writes a conversation as text, chosen from the model's own files.
///
/// A family is known by its published template, character by character (its SHA-256, without one
/// newline at the end, which template engines drop). Any other template is refused: what is near a
/// published one may mean something else.
class ChatFormat {
 public:
  /// Reads chat_template.jinja or the "chat_template" of tokenizer_config.json (of several, the one
  /// named "default"), and its "bos_token" and "eos_token".
  /// @throw BadInput naming file and remedy for a missing or unknown template
  static ChatFormat load(const std::filesystem::path& folder);
  /// Reads "tokenizer.chat_template" and the texts of the begin and end tokens of a GGUF file.
  /// @throw BadInput naming file, key and remedy for a missing or unknown template
  static ChatFormat from_gguf(const GgufMetadata& metadata);
  /// The format of a template; `where` names it in errors. `beginning` and `end` are the texts of
  /// the model's begin and end tokens, which some templates write.
  /// @throw BadInput for an unknown template
  static ChatFormat recognise(std::string_view chat_template, std::string beginning,
                              std::string end, const std::string& where);

  /// The family's name.
  std::string_view name() const;

  /// The text after which the model's answer begins, as the published template renders it; Llama
  /// 3.1 and 3.2 have the date 26 Jul 2024, which their templates hold, because a prompt must not
  /// depend on the day. What is in a message is not escaped: the text of a special token in it is
  /// that token, as in the template.
  /// @throw BadInput naming `where` for a conversation that does not end with the user's turn, an
  /// unknown role, a system message that is not the first, and `thinking` other than as_published
  /// if the family leaves nothing open
  std::string render(std::span<const ChatMessage> messages, Thinking thinking,
                     const std::string& where) const;

 private:
  struct Family;
  ChatFormat(const Family& family, std::string beginning, std::string end)
      : family_(&family), beginning_(std::move(beginning)), end_(std::move(end)) {}
  static const Family* find(std::string_view digest);

  const Family* family_;
  std::string beginning_;
  std::string end_;
};

}  // namespace tempera::gpu
