#include "settings/messages.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_document.hpp"

namespace tempera::gpu {
namespace {

constexpr const char* form = "write [{\"role\": \"user\", \"content\": \"…\"}, …]";

}  // namespace

std::vector<ChatMessage> messages_of(const nlohmann::json& json, const std::string& where) {
  if (json.is_object()) {
    const JsonObject object(json, where, form);
    object.only({"messages"});
    return messages_of(object.array("messages"), where);
  }
  std::vector<ChatMessage> messages;
  for (const JsonObject& message : objects_of(json, where, form)) {
    message.only({"role", "content"});
    messages.push_back({message.text("role"), message.text("content")});
  }
  if (messages.empty()) throw BadInput(where, "holds no message", form);
  return messages;
}

std::vector<ChatMessage> read_messages_file(const std::string& file) {
  return messages_of(read_json_file(file), file);
}

std::string to_text(const std::vector<ChatMessage>& messages) {
  std::string text = "[";
  for (const ChatMessage& message : messages)
    text += (text.size() == 1 ? "\n  " : ",\n  ") +
            nlohmann::ordered_json{{"role", message.role}, {"content", message.content}}.dump();
  return text + "\n]\n";
}

}  // namespace tempera::gpu
