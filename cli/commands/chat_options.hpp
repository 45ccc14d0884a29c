#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "gpu/session/prompt_file.hpp"
#include "gpu/session/resolve.hpp"

namespace tempera::cli {

/// Says if a prompt is a conversation, and how it is written: --chat, --system, --thinking,
/// --chat-template-kwargs, and for some commands --messages.
class ChatOptions {
 public:
  /// Declares --chat, --system, --thinking and --chat-template-kwargs of `command`; this object
  /// must outlive it.
  void add_to(CLI::App& command);
  /// Declares --messages too, after add_to.
  CLI::Option* add_messages_to(CLI::App& command);
  /// Declares what a command that always holds a conversation takes: --messages, --system,
  /// --thinking and --chat-template-kwargs.
  void add_conversation_to(CLI::App& command);
  /// @throw BadInput if one of the others is given and no conversation is
  void check() const;

  /// Whether every text is the user's turn of a conversation.
  bool chat() const { return chat_; }
  /// Returns the chat template's arguments: --thinking, --chat-template-kwargs.
  /// @throw BadInput as gpu::ChatArguments::parse, and if the two differ
  gpu::ChatArguments arguments() const;
  /// Whether --messages is given.
  bool reads_messages() const { return !messages_file_.empty(); }
  /// The conversation of --messages, without the text of --system.
  /// @throw BadInput as gpu::read_messages_file
  gpu::PromptLine read_messages() const;
  /// The text of --system as the first message, if it is given, and these after it.
  /// @throw BadInput naming `where` if they begin with a system message of their own
  std::vector<gpu::ChatMessage> with_system(std::vector<gpu::ChatMessage> messages,
                                            const std::string& where) const;
  /// What a prompt means: a conversation, or its text itself.
  /// @throw BadInput as with_system
  gpu::PromptWish prompt_of(const gpu::PromptLine& line) const;

 private:
  void add_texts_to(CLI::App& command, const std::string& condition);

  bool chat_ = false;
  std::string choice_;
  std::string arguments_;
  std::string system_;
  std::string messages_file_;
  CLI::Option* chat_option_ = nullptr;  // null: the command always holds a conversation
  CLI::Option* messages_option_ = nullptr;
  CLI::Option* thinking_option_ = nullptr;
  CLI::Option* arguments_option_ = nullptr;
  CLI::Option* system_option_ = nullptr;
};

}  // namespace tempera::cli
