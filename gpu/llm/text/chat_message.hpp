#pragma once

#include <cstdint>
#include <string>

namespace tempera::gpu {

/// A turn of a conversation.
struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

/// Whether the model thinks before it answers, if its family leaves that open.
enum class Thinking : std::uint8_t { as_published, on, off };

}  // namespace tempera::gpu
