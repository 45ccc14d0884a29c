#include "cli/commands/chat_options.hpp"

#include "cli/terminal/option_values.hpp"

namespace tempera::cli {

void ChatOptions::add_to(CLI::App& command) {
  chat_option_ = command.add_flag(
      "--chat", chat_,
      "Take the text as the user's turn of a conversation, written as the model's own chat "
      "template does, up to where the answer begins");
  thinking_option_ =
      add_choice(command, "--thinking", choice_, {"on", "off"},
                 "With --chat: whether the model thinks first, where its family leaves that open "
                 "(default: as its template has it)");
}

void ChatOptions::check() const {
  if (thinking_option_->count() > 0)
    require(*chat_option_, "--thinking is about a conversation: give --chat");
}

gpu::PromptWish ChatOptions::prompt_of(const std::string& text) const {
  if (!chat_) return text;
  return std::vector<gpu::ChatMessage>{{"user", text}};
}

gpu::Thinking ChatOptions::thinking() const {
  if (choice_.empty()) return gpu::Thinking::as_published;
  return choice_ == "on" ? gpu::Thinking::on : gpu::Thinking::off;
}

}  // namespace tempera::cli
