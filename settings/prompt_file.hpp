#pragma once

#include <istream>
#include <string>
#include <vector>

#include "gpu/llm/text/chat_message.hpp"

namespace tempera::gpu {

/// A prompt of a file of prompts: a text, or a conversation.
struct PromptLine {
  std::string id;
  std::string text;
  std::string where;                       ///< file and line, for error texts
  std::vector<ChatMessage> messages = {};  ///< of a conversation; none: the prompt is the text
};

/// Prompts from lines of {"id": "…", "prompt": "…"}, or {"id": "…", "messages": […]} as messages_of
/// reads them.
/// @throw BadInput naming `file`, line and remedy for a line that is anything else (empty lines,
/// unknown, missing and doubled keys), an id that occurs twice, or a file without prompts
std::vector<PromptLine> read_prompts(std::istream& lines, const std::string& file);
/// The same of a file.
std::vector<PromptLine> read_prompt_file(const std::string& file);

}  // namespace tempera::gpu
