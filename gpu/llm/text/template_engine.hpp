#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "gpu/llm/text/chat_message.hpp"

namespace tempera::gpu {

/// Jinja2, which renders any chat template.
struct TemplateEngine {
  /// The answer to a task; both are lines of JSON as python/tempera/template_engine.py has them.
  std::function<std::string(const std::string& task)> answer;
  /// Says one line to the user.
  std::function<void(const std::string& line)> say;
};

/// Lets this process render by another engine than a TemplateProcess of its own, and say what there
/// is to say in another way than on stderr.
/// @pre no template has been rendered
void use_template_engine(TemplateEngine engine);

/// A template and its variables.
struct TemplateTask {
  std::string_view source;
  std::string_view digest;  ///< SHA-256 of the source
  std::string_view tokens;  ///< JSON: {"bos_token": "…", …}
  bool is_tested = false;   ///< whether tempera's own tests render this template
  const ChatArguments& arguments;
};

/// The text of a conversation up to where the answer begins, as transformers' apply_chat_template
/// gives it, but for what draws or reads the clock: strftime_now is defined only if the arguments
/// give its date. The first time that the process renders a template that is not tested, a line
/// says so.
/// @throw BadInput for what the template itself refuses, for a template that fails or takes too
/// long, for an argument that it never reads, and if Jinja2 is not there
std::string render_template(const TemplateTask& task, std::span<const ChatMessage> messages,
                            const std::string& where, const std::string& where_template);

}  // namespace tempera::gpu
