#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gpu/llm/text/chat_message.hpp"

namespace tempera::gpu {

/// Whether the model thinks before it answers, if its family leaves that open.
enum class Thinking : std::uint8_t { as_published, on, off };

/// How a family writes a conversation.
enum class ChatStyle : std::uint8_t { chatml, qwen3, qwen35, llama3, llama31, tulu, phi35 };

/// What a style is given: the turns, checked, and the texts that the family or the model adds.
struct Conversation {
  std::span<const ChatMessage> messages;
  std::string_view system;     ///< what ChatML's system turn says if there is none
  std::string_view beginning;  ///< text of the begin token, if the template writes it
  std::string_view end;        ///< text of the end token
  Thinking thinking = Thinking::as_published;
};

/// The last turn of the user that is no tool's answer, if there is one;
/// Qwen3.5 trims a turn before it looks.
std::optional<std::size_t> last_question(std::span<const ChatMessage> messages, bool trims);

/// The text after which the answer begins.
std::string write_conversation(ChatStyle style, const Conversation& conversation);

}  // namespace tempera::gpu
