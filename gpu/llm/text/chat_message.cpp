#include "gpu/llm/text/chat_message.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"

namespace tempera::gpu {
namespace {

const std::string thinking_key = "enable_thinking";

}  // namespace

ChatArguments ChatArguments::read(const nlohmann::ordered_json& object, const std::string& where) {
  const std::string form = R"(give an object such as {"enable_thinking": false})";
  if (!object.is_object()) throw BadInput(where, "is not a JSON object", form);
  ChatArguments arguments;
  // Spelled one by one: a copy of them all would be destroyed by the library.
  std::string members;
  for (const auto& [name, value] : object.items()) {
    if (value.is_null()) continue;
    const std::string place = where + "." + name;
    if (name == "messages" || name == "add_generation_prompt")
      throw BadInput(place, "is tempera's own to say", "leave it out");
    if (name == "strftime_now" && !value.is_string())
      throw BadInput(place, "is not a date", R"(give a text such as "2026-11-28")");
    if (name == thinking_key) {
      if (!value.is_boolean())
        throw BadInput(place, "is neither true nor false", "give one of the two");
      arguments.thinking_ = value.get<bool>();
    }
    members += (members.empty() ? "" : ",") + nlohmann::json(name).dump() + ":" + value.dump();
  }
  arguments.json_ = "{" + members + "}";
  return arguments;
}

ChatArguments ChatArguments::parse(std::string_view json, const std::string& where) {
  // This refuses texts that are not JSON or name a member twice. The text has the members' order.
  parse_json(json, where);
  return read(nlohmann::ordered_json::parse(json), where);
}

ChatArguments ChatArguments::of_thinking(bool thinks) {
  ChatArguments arguments;
  arguments.add_thinking(thinks, "", "");  // there is nothing to differ from
  return arguments;
}

bool ChatArguments::says_thinking_alone() const { return thinking_ && object().size() == 1; }

void ChatArguments::add_thinking(bool thinks, const std::string& where, const std::string& fault) {
  if (thinking_.value_or(thinks) != thinks) throw BadInput(where, fault, "give one of the two");
  auto said = object();
  said[thinking_key] = thinks;
  json_ = said.dump();
  thinking_ = thinks;
}

nlohmann::ordered_json ChatArguments::object() const {
  return nlohmann::ordered_json::parse(json_);
}

}  // namespace tempera::gpu
