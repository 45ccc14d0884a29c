#include "base/json_document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/nearest_name.hpp"

namespace tempera {

namespace {

/// A value as an error names it, in one short line.
std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.dump();
}

/// Where a value is, for errors.
struct Location {
  const std::string& file;
  const std::string path;
  const std::string& form;
};

[[noreturn]] void refuse(const Location& location, const nlohmann::json& value,
                         const std::string& wanted) {
  throw BadInput(location.file, "key " + location.path + " is " + shown(value) + ", not " + wanted,
                 location.form.empty() ? "give one" : location.form);
}

std::uint64_t whole_number_of(const nlohmann::json& value, const Location& location,
                              std::uint64_t least, std::uint64_t greatest) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number >= least && number <= greatest) return number;
  }
  refuse(location, value,
         "a whole number in " + std::to_string(least) + ".." + std::to_string(greatest));
}

double finite_number_of(const nlohmann::json& value, const Location& location) {
  // The parser lets no infinity through, and JSON has no spelling of NaN.
  if (!value.is_number()) refuse(location, value, "a finite number");
  return value.get<double>();
}

double positive_number_of(const nlohmann::json& value, const Location& location) {
  if (!value.is_number() || !(value.get<double>() > 0.0))
    refuse(location, value, "a finite number above 0");
  return value.get<double>();
}

std::string text_of(const nlohmann::json& value, const Location& location) {
  if (!value.is_string()) refuse(location, value, "a string");
  return value.get<std::string>();
}

}  // namespace

nlohmann::json read_json_file(const std::filesystem::path& file) {
  return parse_json(read_text_file(file), file.string());
}

JsonObject::JsonObject(const nlohmann::json& value, std::string where, std::string form)
    : JsonObject(value, std::move(where), "", std::move(form)) {}

JsonObject::JsonObject(const nlohmann::json& value, std::string file, std::string path,
                       std::string form)
    : value_(&value), file_(std::move(file)), path_(std::move(path)), form_(std::move(form)) {
  if (value.is_object()) return;
  const char* remedy = path_.empty() ? "give the file as its tool wrote it" : "give an object";
  throw BadInput(where(), "is " + shown(value) + ", not a JSON object",
                 form_.empty() ? remedy : form_);
}

std::string JsonObject::where() const { return path_.empty() ? file_ : file_ + ", " + path_; }

std::string JsonObject::path_of(const std::string& key) const {
  return path_.empty() ? in_quotes(key) : path_ + "[" + in_quotes(key) + "]";
}

void JsonObject::require_known(std::span<const std::string_view> known) const {
  for (const auto& member : value_->items()) {
    if (std::find(known.begin(), known.end(), member.key()) != known.end()) continue;
    std::string remedy;
    if (const auto nearest = nearest_name(member.key(), known)) {
      remedy = "did you mean " + in_quotes(*nearest) + "?";
    } else if (!form_.empty()) {
      remedy = form_;
    } else {
      for (const std::string_view key : known)
        remedy += (remedy.empty() ? "" : ", ") + std::string(key);
      remedy = "remove it, or write one of " + remedy;
    }
    throw BadInput(file_, "key " + path_of(member.key()) + " is not known", remedy);
  }
}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> keys;
  for (const auto& member : value_->items()) keys.push_back(member.key());
  return keys;
}

void JsonObject::only(std::initializer_list<std::string_view> known,
                      std::initializer_list<std::string_view> further) const {
  std::vector<std::string_view> all(known);
  all.insert(all.end(), further.begin(), further.end());
  require_known(all);
}

void JsonObject::check_keys(std::initializer_list<std::string_view> required,
                            std::initializer_list<std::string_view> optional) const {
  only(required, optional);
  for (const auto key : required) at(std::string(key));
}

bool JsonObject::has(const std::string& key) const {
  const auto member = value_->find(key);
  return member != value_->end() && !member->is_null();
}

const nlohmann::json& JsonObject::at(const std::string& key) const {
  if (!has(key))
    throw BadInput(file_, "key " + path_of(key) + " is missing", form_.empty() ? "add it" : form_);
  return *value_->find(key);
}

std::uint64_t JsonObject::whole_number(const std::string& key, std::uint64_t least,
                                       std::uint64_t greatest) const {
  return whole_number_of(at(key), {file_, path_of(key), form_}, least, greatest);
}

double JsonObject::finite_number(const std::string& key) const {
  return finite_number_of(at(key), {file_, path_of(key), form_});
}

double JsonObject::positive_number(const std::string& key) const {
  return positive_number_of(at(key), {file_, path_of(key), form_});
}

std::string JsonObject::text(const std::string& key) const {
  return text_of(at(key), {file_, path_of(key), form_});
}

std::optional<std::string> JsonObject::optional_text(const std::string& key) const {
  return has(key) ? std::optional(text(key)) : std::nullopt;
}

bool JsonObject::boolean(const std::string& key) const {
  const auto& member = at(key);
  if (!member.is_boolean()) refuse({file_, path_of(key), form_}, member, "true or false");
  return member.get<bool>();
}

std::size_t JsonObject::choice(const std::string& key,
                               std::span<const std::string_view> names) const {
  const std::string name = text(key);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string wanted;
  for (const std::string_view each : names)
    wanted += (wanted.empty() ? "" : " or ") + std::string(each);
  refuse({file_, path_of(key), form_}, at(key), wanted);
}

bool JsonObject::boolean_or(const std::string& key, bool otherwise) const {
  return has(key) ? boolean(key) : otherwise;
}

JsonObject JsonObject::object(const std::string& key) const {
  return {at(key), file_, path_of(key), form_};
}

const nlohmann::json& JsonObject::array(const std::string& key) const {
  const auto& member = at(key);
  if (!member.is_array()) refuse({file_, path_of(key), form_}, member, "a list");
  return member;
}

template <class Read>
auto JsonObject::entries(const std::string& key, const Read& read) const {
  std::vector<decltype(read(nlohmann::json(), Location{file_, "", form_}))> entries;
  for (const auto& entry : array(key)) {
    const std::string index = "[" + std::to_string(entries.size()) + "]";
    entries.push_back(read(entry, Location{file_, path_of(key) + index, form_}));
  }
  return entries;
}

std::vector<std::uint64_t> JsonObject::whole_numbers(const std::string& key, std::uint64_t least,
                                                     std::uint64_t greatest) const {
  return entries(key, [&](const nlohmann::json& entry, const Location& location) {
    return whole_number_of(entry, location, least, greatest);
  });
}

std::vector<double> JsonObject::finite_numbers(const std::string& key) const {
  return entries(key, finite_number_of);
}

std::vector<double> JsonObject::positive_numbers(const std::string& key) const {
  return entries(key, positive_number_of);
}

std::vector<std::string> JsonObject::texts(const std::string& key) const {
  return entries(key, text_of);
}

std::vector<JsonObject> JsonObject::objects(const std::string& key) const {
  return entries(key, [](const nlohmann::json& entry, const Location& location) {
    return JsonObject(entry, location.file, location.path, location.form);
  });
}

std::vector<JsonObject> objects_of(const nlohmann::json& document, const std::string& where,
                                   const std::string& form) {
  if (!document.is_array())
    throw BadInput(where, "is " + shown(document) + ", not a list",
                   form.empty() ? "give the file as its tool wrote it" : form);
  std::vector<JsonObject> objects;
  for (const auto& entry : document)
    objects.push_back(JsonObject(entry, where, "[" + std::to_string(objects.size()) + "]", form));
  return objects;
}

}  // namespace tempera
