#include "base/readable_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tempera {
namespace {

void append_json(const nlohmann::ordered_json& json, std::size_t depth, bool in_list,
                 std::string& text) {
  const bool is_flat =
      std::none_of(json.begin(), json.end(), [](const auto& part) { return part.is_structured(); });
  if (!json.is_structured() || json.empty() || (is_flat && (in_list || json.is_array()))) {
    text += json.dump();
    return;
  }
  text += json.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, part] : json.items()) {
    text += first ? "\n" : ",\n";
    first = false;
    text.append(depth + 1, ' ');
    if (json.is_object()) text += nlohmann::ordered_json(key).dump() + ": ";
    append_json(part, depth + 1, json.is_array(), text);
  }
  text += '\n';
  text.append(depth, ' ');
  text += json.is_object() ? '}' : ']';
}

}  // namespace

std::string readable_json(const nlohmann::ordered_json& json) {
  std::string text;
  append_json(json, 0, false, text);
  return text;
}

}  // namespace tempera
