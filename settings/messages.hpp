#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "gpu/llm/text/chat_message.hpp"

namespace tempera::gpu {

/// A conversation as programs write it: [{"role": "user", "content": "…"}, …], or an object whose
/// only key "messages" holds such a list. Which roles may follow each other is the chat format's to
/// say.
/// @throw BadInput naming `where`, the message and the remedy for anything else, and for none
std::vector<ChatMessage> messages_of(const nlohmann::json& json, const std::string& where);

/// The same of a file.
std::vector<ChatMessage> read_messages_file(const std::string& file);

/// The conversation as messages_of reads it, a message a line.
std::string to_text(const std::vector<ChatMessage>& messages);

}  // namespace tempera::gpu
