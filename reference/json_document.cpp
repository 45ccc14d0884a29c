#include "reference/json_document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reference/bad_input.hpp"
#include "reference/in_quotes.hpp"
#include "reference/nearest_key.hpp"

namespace tempera::reference {
namespace {

using nlohmann::json;

constexpr std::size_t deepest = 32;

std::string line_and_column(std::string_view text, std::size_t byte) {
  const auto before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto newline = before.rfind('\n');
  const auto column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

BadInput malformed(std::string_view text, const std::string& source, std::size_t byte) {
  return {source + ", " + line_and_column(text, byte), "malformed JSON",
          "correct the syntax there"};
}

// Puts the document together from what the parser reports. The library's own callbacks look at all
// members of an object again with each of them, which a model of many rows would not survive.
class Assembly final : public nlohmann::json_sax<json> {
 public:
  Assembly(std::string_view text, const std::string& source) : text_(text), source_(source) {}
  json document;

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return enter(json::object()); }
  bool start_array(std::size_t) override { return enter(json::array()); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    if (around_.back()->contains(name))
      throw BadInput(source_, "the key " + in_quotes(name) + " is given twice in " + place(),
                     "keep one of the two");
    keys_.back() = name;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&, const json::exception& error) override {
    if (dynamic_cast<const json::out_of_range*>(&error))
      throw BadInput(source_, "a JSON number is too large to read",
                     "write probabilities as strings such as \"3/8\"");
    throw malformed(text_, source_, byte);
  }

 private:
  json* insert(json value) {
    if (around_.empty()) return &(document = std::move(value));
    if (around_.back()->is_array()) return &around_.back()->emplace_back(std::move(value));
    return &((*around_.back())[keys_.back()] = std::move(value));
  }
  bool put(json value) { return insert(std::move(value)) != nullptr; }

  bool enter(json value) {
    if (around_.size() == deepest)
      throw BadInput(source_, "is nested deeper than " + std::to_string(deepest) + " levels",
                     "nest as docs/exact.md shows");
    around_.push_back(insert(std::move(value)));
    keys_.emplace_back();
    return true;
  }
  bool leave() {
    around_.pop_back();
    keys_.pop_back();
    return true;
  }

  // Keys of the objects around the innermost one; positions in arrays are left out.
  std::string place() const {
    std::string keys;
    for (std::size_t i = 0; i + 1 < around_.size(); ++i) {
      if (around_[i]->is_array()) continue;
      const std::string key = in_quotes(keys_[i]);
      keys += keys.empty() ? key : "[" + key + "]";
    }
    return keys.empty() ? "one object" : keys;
  }

  std::string_view text_;
  const std::string& source_;
  std::vector<json*> around_;
  std::vector<std::string> keys_;  // of each of them, the one whose value is being read
};

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.dump();
}

std::uint64_t whole(const json& value, const std::string& source, const std::string& place,
                    std::uint64_t least, std::uint64_t greatest) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number >= least && number <= greatest) return number;
  }
  throw BadInput(source, place + " is " + shown(value) + ", no whole number in range",
                 "give one from " + std::to_string(least) + " to " + std::to_string(greatest));
}

}  // namespace

json parse_json(std::string_view text, const std::string& source) {
  // To the parser a NUL is the end of its input.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    throw malformed(text, source, nul + 1);
  Assembly assembly(text, source);
  json::sax_parse(text.begin(), text.end(), &assembly);
  return std::move(assembly.document);
}

JsonObject::JsonObject(const json& value, std::string source, std::string place, std::string form)
    : source_(std::move(source)), place_(std::move(place)), form_(std::move(form)), value_(&value) {
  if (!value.is_object())
    throw BadInput(source_, (place_.empty() ? "the file" : place_) + " is not a JSON object",
                   form_);
}

std::string JsonObject::place_of(const std::string& key) const {
  return place_.empty() ? in_quotes(key) : place_ + "[" + in_quotes(key) + "]";
}

void JsonObject::check_keys(const std::vector<std::string>& required,
                            const std::vector<std::string>& optional) const {
  std::vector<std::string> known = required;
  known.insert(known.end(), optional.begin(), optional.end());
  const std::string where = place_.empty() ? "" : " in " + place_;
  for (const auto& member : value_->items()) {
    if (std::find(known.begin(), known.end(), member.key()) != known.end()) continue;
    const auto meant = nearest_key(member.key(), known);
    throw BadInput(source_, "the key " + in_quotes(member.key()) + where + " is unknown",
                   meant ? "did you mean " + in_quotes(*meant) + "?" : form_);
  }
  for (const std::string& key : required)
    if (!has(key))
      throw BadInput(source_, "the key " + in_quotes(key) + where + " is missing", form_);
}

bool JsonObject::has(const std::string& key) const { return value_->contains(key); }

const json& JsonObject::operator[](const std::string& key) const { return value_->at(key); }

std::string JsonObject::text_at(const json& value, const std::string& place) const {
  if (!value.is_string())
    throw BadInput(source_, place + " is " + shown(value) + ", not a string", form_);
  return value.get<std::string>();
}

template <class Read>
auto JsonObject::entries(const std::string& key, const Read& read) const {
  const json& list = value_->at(key);
  if (!list.is_array())
    throw BadInput(source_, place_of(key) + " is " + shown(list) + ", not a list", form_);
  std::vector<decltype(read(list, std::string()))> entries;
  for (const json& entry : list)
    entries.push_back(read(entry, place_of(key) + "[" + std::to_string(entries.size()) + "]"));
  return entries;
}

std::string JsonObject::text(const std::string& key) const {
  return text_at(value_->at(key), place_of(key));
}

std::optional<std::string> JsonObject::optional_text(const std::string& key) const {
  if (!has(key) || value_->at(key).is_null()) return std::nullopt;
  return text(key);
}

std::vector<std::string> JsonObject::texts(const std::string& key) const {
  return entries(
      key, [&](const json& entry, const std::string& place) { return text_at(entry, place); });
}

std::uint64_t JsonObject::whole_number(const std::string& key, std::uint64_t least,
                                       std::uint64_t greatest) const {
  return whole(value_->at(key), source_, place_of(key), least, greatest);
}

std::vector<std::uint64_t> JsonObject::whole_numbers(const std::string& key, std::uint64_t least,
                                                     std::uint64_t greatest) const {
  return entries(key, [&](const json& entry, const std::string& place) {
    return whole(entry, source_, place, least, greatest);
  });
}

std::vector<JsonObject> objects_of(const json& document, const std::string& source,
                                   const std::string& form) {
  if (!document.is_array())
    throw BadInput(source, "the file is " + shown(document) + ", not a list", form);
  std::vector<JsonObject> objects;
  for (const json& entry : document)
    objects.emplace_back(entry, source, "[" + std::to_string(objects.size()) + "]", form);
  return objects;
}

}  // namespace tempera::reference
