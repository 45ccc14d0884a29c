#include "gpu/llm/text/chat_families.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace tempera::gpu {

namespace {

constexpr std::string_view thought_begin = "<think>";
constexpr std::string_view thought_end = "</think>";

bool is_separator(char c) { return c >= '\x1C' && c <= '\x1F'; }

/// Without white space at both ends. A template engine strips as Python does, for which the four
/// separators of ASCII are white space too.
std::string_view trimmed(std::string_view text) {
  while (!text.empty()) {
    const auto white = leading_white_space(text);
    const auto length = white == 0 && is_separator(text.front()) ? std::size_t{1} : white;
    if (length == 0) break;
    text.remove_prefix(length);
  }
  while (!text.empty()) {
    const auto white = trailing_white_space(text);
    const auto length = white == 0 && is_separator(text.back()) ? std::size_t{1} : white;
    if (length == 0) break;
    text.remove_suffix(length);
  }
  return text;
}

std::string_view without_leading_newlines(std::string_view text) {
  return text.substr(std::min(text.size(), text.find_first_not_of('\n')));
}

std::string_view without_trailing_newlines(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

/// What is after the last `mark`, or the whole text.
std::string_view after_last(std::string_view text, std::string_view mark) {
  const auto found = text.rfind(mark);
  return found == std::string_view::npos ? text : text.substr(found + mark.size());
}

std::string chatml_turn(std::string_view role, std::string_view content) {
  return "<|im_start|>" + std::string(role) + '\n' + std::string(content) + "<|im_end|>\n";
}

std::string chatml(const Conversation& conversation) {
  std::string text;
  if (conversation.messages.front().role != "system")
    text += chatml_turn("system", conversation.system);
  for (const auto& message : conversation.messages)
    text += chatml_turn(message.role, message.content);
  return text + "<|im_start|>assistant\n";
}

/// An assistant's turn, taken apart.
struct ThoughtAndContent {
  std::string_view thought;
  std::string_view content;
};

ThoughtAndContent taken_apart(std::string_view content) {
  const auto first_end = content.find(thought_end);
  if (first_end == std::string_view::npos) return {"", content};
  const auto before = without_trailing_newlines(content.substr(0, first_end));
  return {without_leading_newlines(after_last(before, thought_begin)),
          without_leading_newlines(after_last(content, thought_end))};
}

/// The turn after which thoughts are kept: the last question, or the last of all.
std::size_t last_turn(const Conversation& conversation, bool trims) {
  return last_question(conversation.messages, trims).value_or(conversation.messages.size() - 1);
}

std::string with_thought(std::string_view thought, std::string_view content) {
  return std::string(thought_begin) + '\n' + std::string(thought) + '\n' +
         std::string(thought_end) + "\n\n" + std::string(content);
}

/// Turns before the last question lose their thoughts.
std::string qwen3(const Conversation& conversation) {
  const auto last = last_turn(conversation, false);
  std::string text;
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const auto& [role, content] = conversation.messages[i];
    if (role != "assistant") {
      text += chatml_turn(role, content);
      continue;
    }
    const auto answer = taken_apart(content);
    const bool keeps = i > last && !answer.thought.empty();
    const auto thought = without_trailing_newlines(without_leading_newlines(answer.thought));
    text +=
        chatml_turn(role, keeps ? with_thought(thought, without_leading_newlines(answer.content))
                                : std::string(answer.content));
  }
  text += "<|im_start|>assistant\n";
  return conversation.thinking == Thinking::off ? text + with_thought("", "") : text;
}

/// Qwen3's, but every turn is trimmed, a turn after the question has a thought even if it is
/// empty, and the answer begins inside one.
std::string qwen35(const Conversation& conversation) {
  const auto last = last_turn(conversation, true);
  std::string text;
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const auto& role = conversation.messages[i].role;
    const auto content = trimmed(conversation.messages[i].content);
    if (role != "assistant") {
      text += chatml_turn(role, content);
      continue;
    }
    const auto answer = taken_apart(content);
    text += chatml_turn(role, i > last ? with_thought(trimmed(answer.thought), answer.content)
                                       : std::string(answer.content));
  }
  text += "<|im_start|>assistant\n";
  return text + (conversation.thinking == Thinking::off ? with_thought("", "") : "<think>\n");
}

std::string llama_header(std::string_view role) {
  return "<|start_header_id|>" + std::string(role) + "<|end_header_id|>\n\n";
}

std::string llama_turns(std::span<const ChatMessage> messages) {
  std::string text;
  for (const auto& [role, content] : messages)
    text += llama_header(role) + std::string(trimmed(content)) + "<|eot_id|>";
  return text + llama_header("assistant");
}

std::string llama3(const Conversation& conversation) {
  return std::string(conversation.beginning) + llama_turns(conversation.messages);
}

/// There is always a system turn, which begins with two dates.
std::string llama31(const Conversation& conversation) {
  const bool has_system = conversation.messages.front().role == "system";
  const auto system = has_system ? trimmed(conversation.messages.front().content) : "";
  return std::string(conversation.beginning) + llama_header("system") +
         "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n" +
         std::string(system) + "<|eot_id|>" +
         llama_turns(conversation.messages.subspan(has_system ? 1 : 0));
}

std::string tulu(const Conversation& conversation) {
  std::string text(conversation.beginning);
  for (const auto& [role, content] : conversation.messages) {
    text += "<|" + role + "|>\n" + content;
    if (role == "assistant") text += conversation.end;
    text += '\n';
  }
  return text + "<|assistant|>\n";
}

/// A system turn that says nothing is left out.
std::string phi35(const Conversation& conversation) {
  std::string text;
  for (const auto& [role, content] : conversation.messages) {
    if (role == "system" && content.empty()) continue;
    text += "<|" + role + "|>\n" + content + "<|end|>\n";
  }
  return text + "<|assistant|>\n";
}

}  // namespace

std::optional<std::size_t> last_question(std::span<const ChatMessage> messages, bool trims) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    const auto content =
        trims ? trimmed(messages[i].content) : std::string_view(messages[i].content);
    const bool is_tool_answer =
        content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
    if (messages[i].role == "user" && !is_tool_answer) return i;
  }
  return std::nullopt;
}

std::string write_conversation(ChatStyle style, const Conversation& conversation) {
  switch (style) {
    case ChatStyle::chatml:
      return chatml(conversation);
    case ChatStyle::qwen3:
      return qwen3(conversation);
    case ChatStyle::qwen35:
      return qwen35(conversation);
    case ChatStyle::llama3:
      return llama3(conversation);
    case ChatStyle::llama31:
      return llama31(conversation);
    case ChatStyle::tulu:
      return tulu(conversation);
    case ChatStyle::phi35:
      return phi35(conversation);
  }
  return "";
}

}  // namespace tempera::gpu
