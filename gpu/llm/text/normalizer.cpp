#include "gpu/llm/text/normalizer.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/utf8.hpp"

namespace tempera::gpu {

Normalizer::Normalizer(const nlohmann::json& description, const std::string& where) {
  read(description, where);
}

void Normalizer::read(const nlohmann::json& description, const std::string& where) {
  if (description.is_null()) return;
  const JsonObject object(description, where);
  const auto type = object.text("type");
  if (type == "Sequence") {
    for (const auto& part : object.array("normalizers")) read(part, where);
  } else if (type == "NFC") {
    add_nfc();
  } else if (type == "Prepend") {
    add_prepend(object.text("prepend"));
  } else if (type == "Replace") {
    const auto from = object.object("pattern").text("String");
    if (from.empty()) throw BadInput(where, "Replace has an empty pattern", "give it a character");
    add_replace(from, object.text("content"));
  } else {
    throw BadInput(where, "type " + in_quotes(type) + " is not supported",
                   "choose a tokenizer of NFC, Prepend or Replace");
  }
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  while (true) {
    const auto found = text.find(from);
    result += text.substr(0, found);
    if (found == std::string_view::npos) return result;
    result += to;
    text.remove_prefix(found + from.size());
  }
}

std::string Normalizer::operator()(std::string_view text) const {
  std::string result(text);
  for (const auto& step : steps_) {
    if (const auto* prepend = std::get_if<Prepend>(&step)) {
      if (!result.empty()) result.insert(0, prepend->text);
    } else if (const auto* replace = std::get_if<Replace>(&step)) {
      result = replace_all(result, replace->from, replace->to);
    } else {
      result = normalize_nfc(result);
    }
  }
  return result;
}

}  // namespace tempera::gpu
