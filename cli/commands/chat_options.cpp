#include "cli/commands/chat_options.hpp"

#include "base/error.hpp"
#include "cli/terminal/option_values.hpp"
#include "settings/messages.hpp"

namespace tempera::cli {

void ChatOptions::add_to(CLI::App& command) {
  chat_option_ = command.add_flag(
      "--chat", chat_,
      "Take the text as the user's turn of a conversation, written as the model's own chat "
      "template does, up to where the answer begins");
  add_texts_to(command, "For a conversation: ");
}

CLI::Option* ChatOptions::add_messages_to(CLI::App& command) {
  messages_option_ = add_text(
      command, "--messages", messages_file_, "FILE",
      "JSON file of a conversation of any number of turns, the last of them the user's: "
      "[{\"role\": \"system\", \"content\": \"...\"}, {\"role\": \"user\", \"content\": \"...\"}]");
  return messages_option_;
}

void ChatOptions::add_conversation_to(CLI::App& command) {
  messages_option_ =
      add_text(command, "--messages", messages_file_, "FILE",
               "JSON file of the conversation so far, as /save writes it: [{\"role\": \"user\", "
               "\"content\": \"...\"}, ...]");
  add_texts_to(command, "");
}

void ChatOptions::add_texts_to(CLI::App& command, const std::string& condition) {
  system_option_ = add_text(command, "--system", system_, "TEXT",
                            condition + "the system's message, before all turns");
  thinking_option_ =
      add_choice(command, "--thinking", choice_, {"on", "off"},
                 condition +
                     "whether the model thinks first, if its template asks: \"enable_thinking\" "
                     "of --chat-template-kwargs (default: as the template has it)");
  arguments_option_ =
      add_text(command, "--chat-template-kwargs", arguments_, "JSON",
               condition +
                   "what its chat template is given beside the messages, an object such as "
                   "{\"reasoning_effort\": \"low\"}; \"strftime_now\" is the date that it writes");
}

void ChatOptions::check() const {
  if (chat_option_ == nullptr || (messages_option_ != nullptr && messages_option_->count() > 0))
    return;
  for (const CLI::Option* option : {thinking_option_, arguments_option_, system_option_})
    if (option->count() > 0)
      require(*chat_option_, option->get_name() + " is about a conversation: give --chat");
}

gpu::PromptLine ChatOptions::read_messages() const {
  return {"", "", messages_file_, gpu::read_messages_file(messages_file_)};
}

std::vector<gpu::ChatMessage> ChatOptions::with_system(std::vector<gpu::ChatMessage> messages,
                                                       const std::string& where) const {
  if (system_.empty()) return messages;
  if (!messages.empty() && messages.front().role == "system")
    throw BadInput(where, "begins with a system message, and --system gives one too",
                   "give one of the two");
  messages.insert(messages.begin(), {"system", system_});
  return messages;
}

gpu::PromptWish ChatOptions::prompt_of(const gpu::PromptLine& line) const {
  if (!line.messages.empty()) return with_system(line.messages, line.where);
  if (!chat_) return line.text;
  return with_system({{"user", line.text}}, line.where);
}

gpu::ChatArguments ChatOptions::arguments() const {
  gpu::ChatArguments arguments;
  if (!arguments_.empty())
    arguments = gpu::ChatArguments::parse(arguments_, "--chat-template-kwargs");
  if (!choice_.empty())
    arguments.add_thinking(choice_ == "on", "--thinking",
                           "differs from \"enable_thinking\" of --chat-template-kwargs");
  return arguments;
}

}  // namespace tempera::cli
