#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// A turn of a conversation.
struct ChatMessage {
  std::string role;  ///< such as "system", "user" or "assistant": the chat template decides
  std::string content;
};

/// The variables that a user gives to a model's chat template: the "chat_template_kwargs" of vLLM
/// and transformers.
class ChatArguments {
 public:
  ChatArguments() = default;
  /// An object whose every member is a variable of the template; a member that is null says
  /// nothing. "enable_thinking" is true or false, "strftime_now" the date in ISO 8601 that
  /// strftime_now() writes.
  /// @throw BadInput naming `where` and the member for anything else, for "messages" and for
  /// "add_generation_prompt"
  static ChatArguments read(const nlohmann::ordered_json& object, const std::string& where);
  /// The same of a text.
  /// @throw BadInput also if it is not JSON
  static ChatArguments parse(std::string_view json, const std::string& where);
  /// {"enable_thinking": thinks}.
  static ChatArguments of_thinking(bool thinks);

  bool empty() const { return json_ == "{}"; }
  /// "enable_thinking", if it is there.
  std::optional<bool> thinking() const { return thinking_; }
  /// True if "enable_thinking" is the only member.
  bool says_thinking_alone() const;
  /// Says "enable_thinking" too.
  /// @throw BadInput naming `where`, with this fault, if it is there with the other value
  void add_thinking(bool thinks, const std::string& where, const std::string& fault);
  /// The object as JSON, its members in the order in which they were given.
  const std::string& json() const { return json_; }
  nlohmann::ordered_json object() const;

 private:
  std::string json_ = "{}";
  std::optional<bool> thinking_;
};

}  // namespace tempera::gpu
