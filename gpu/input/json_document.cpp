#include "gpu/input/json_document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"
#include "gpu/input/nearest_word.hpp"

namespace tempera::gpu {

namespace {

constexpr std::size_t deepest_nesting = 64;

BadInput not_json(const std::string& where, std::size_t byte) {
  return {where, "not valid JSON in UTF-8 at byte " + std::to_string(byte),
          "correct it there, or download the file again"};
}

/// Builds the value of a text from the events of its parse, and refuses what the parser would let
/// through. (The library's own way to watch a parse walks over all that an object already holds
/// with each of its members: quadratic in the tensors of a header.)
class StrictParse final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit StrictParse(const std::string& where) : where_(where) {}
  nlohmann::json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    auto& members = open_.back().value->get_ref<nlohmann::json::object_t&>();
    const auto [member, is_new] = members.emplace(std::move(name), nullptr);
    if (!is_new) {
      throw BadInput(where_,
                     "key " + path_of(in_quotes(member->first)) + " occurs twice in one object",
                     "remove one of the two");
    }
    open_.back().member = &member->second;
    open_.back().key = &member->first;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::json::exception& error) override {
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&error) == nullptr)
      throw not_json(where_, byte);
    throw BadInput(
        where_,
        "the number at " + (open_.empty() ? "the top" : path_of_next()) + " is out of range",
        "give one between -1.7e308 and 1.7e308");
  }

 private:
  /// Puts a value where the parse stands; the result stays where it is until it is closed.
  nlohmann::json& place(nlohmann::json value) {
    if (open_.empty()) return root_ = std::move(value);
    Open& open = open_.back();
    if (open.value->is_array()) return open.value->emplace_back(std::move(value));
    return *open.member = std::move(value);
  }
  /// The member or entry that comes next, as "a"["b"][2].
  std::string path_of_next() const {
    const Open& open = open_.back();
    return path_of(open.value->is_array() ? std::to_string(open.value->size())
                                          : in_quotes(*open.key));
  }
  /// The same for `step` in the innermost object or array.
  std::string path_of(const std::string& step) const {
    std::string path;
    const auto add_step = [&](const Open& open, const std::string& name) {
      path += path.empty() && open.value->is_object() ? name : "[" + name + "]";
    };
    for (std::size_t i = 0; i + 1 < open_.size(); ++i)
      add_step(open_[i], open_[i].value->is_array() ? std::to_string(open_[i].value->size() - 1)
                                                    : in_quotes(*open_[i].key));
    add_step(open_.back(), step);
    return path;
  }
  bool add(nlohmann::json value) {
    place(std::move(value));
    return true;
  }
  bool open(nlohmann::json value) {
    if (open_.size() == deepest_nesting) {
      throw BadInput(where_, "JSON is nested deeper than " + std::to_string(deepest_nesting),
                     "give the file as its tool wrote it");
    }
    open_.push_back({&place(std::move(value))});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  struct Open {
    nlohmann::json* value;
    nlohmann::json* member = nullptr;  // whose key came last
    const std::string* key = nullptr;
  };

  const std::string& where_;
  nlohmann::json root_;
  std::vector<Open> open_;  // the objects and arrays around the place of the parse
};

/// A value as an error names it, in one short line.
std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.dump();
}

[[noreturn]] void refuse(const std::string& file, const std::string& path,
                         const nlohmann::json& value, const std::string& wanted) {
  throw BadInput(file, "key " + path + " is " + shown(value) + ", not " + wanted, "give one");
}

/// Where a value stands, for errors.
struct Place {
  const std::string& file;
  const std::string path;
};

std::uint64_t whole_number_of(const nlohmann::json& value, const Place& place, std::uint64_t least,
                              std::uint64_t greatest) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number >= least && number <= greatest) return number;
  }
  refuse(place.file, place.path, value,
         "a whole number in " + std::to_string(least) + ".." + std::to_string(greatest));
}

double finite_number_of(const nlohmann::json& value, const Place& place) {
  // The parser lets no infinity through, and JSON has no spelling of NaN.
  if (!value.is_number()) refuse(place.file, place.path, value, "a finite number");
  return value.get<double>();
}

double positive_number_of(const nlohmann::json& value, const Place& place) {
  if (!value.is_number() || !(value.get<double>() > 0.0))
    refuse(place.file, place.path, value, "a finite number above 0");
  return value.get<double>();
}

std::string text_of(const nlohmann::json& value, const Place& place) {
  if (!value.is_string()) refuse(place.file, place.path, value, "a string");
  return value.get<std::string>();
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  // The parser would take a NUL for the end and what follows it for nothing.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw not_json(where, nul + 1);
  StrictParse strict(where);
  nlohmann::json::sax_parse(text.begin(), text.end(), &strict);
  return strict.take();
}

nlohmann::json read_json_file(const std::filesystem::path& file) {
  return parse_json(read_text_file(file), file.string());
}

JsonObject::JsonObject(const nlohmann::json& value, std::string where)
    : JsonObject(value, std::move(where), "") {}

JsonObject::JsonObject(const nlohmann::json& value, std::string file, std::string path)
    : value_(&value), file_(std::move(file)), path_(std::move(path)) {
  if (!value.is_object())
    throw BadInput(where(), "is " + shown(value) + ", not a JSON object",
                   "give the file as its tool wrote it");
}

std::string JsonObject::where() const { return path_.empty() ? file_ : file_ + ", " + path_; }

std::string JsonObject::path_of(const std::string& key) const {
  return path_.empty() ? in_quotes(key) : path_ + "[" + in_quotes(key) + "]";
}

void JsonObject::require_known(std::span<const std::string_view> known) const {
  for (const auto& member : value_->items()) {
    if (std::find(known.begin(), known.end(), member.key()) != known.end()) continue;
    std::string remedy;
    if (const auto nearest = nearest_word(member.key(), known)) {
      remedy = "did you mean " + in_quotes(*nearest) + "?";
    } else {
      for (const std::string_view key : known)
        remedy += (remedy.empty() ? "" : ", ") + std::string(key);
      remedy = "remove it, or write one of " + remedy;
    }
    throw BadInput(file_, "key " + path_of(member.key()) + " is not known", remedy);
  }
}

void JsonObject::only(std::initializer_list<std::string_view> known) const {
  require_known({known.begin(), known.size()});
}

void JsonObject::check_keys(std::initializer_list<std::string_view> required,
                            std::initializer_list<std::string_view> optional) const {
  std::vector<std::string_view> known(required);
  known.insert(known.end(), optional.begin(), optional.end());
  require_known(known);
  for (const auto key : required) at(std::string(key));
}

bool JsonObject::has(const std::string& key) const {
  const auto member = value_->find(key);
  return member != value_->end() && !member->is_null();
}

const nlohmann::json& JsonObject::at(const std::string& key) const {
  if (!has(key)) throw BadInput(file_, "key " + path_of(key) + " is missing", "add it");
  return *value_->find(key);
}

std::uint64_t JsonObject::whole_number(const std::string& key, std::uint64_t least,
                                       std::uint64_t greatest) const {
  return whole_number_of(at(key), {file_, path_of(key)}, least, greatest);
}

double JsonObject::finite_number(const std::string& key) const {
  return finite_number_of(at(key), {file_, path_of(key)});
}

double JsonObject::positive_number(const std::string& key) const {
  return positive_number_of(at(key), {file_, path_of(key)});
}

std::string JsonObject::text(const std::string& key) const {
  return text_of(at(key), {file_, path_of(key)});
}

bool JsonObject::boolean(const std::string& key) const {
  const auto& member = at(key);
  if (!member.is_boolean()) refuse(file_, path_of(key), member, "true or false");
  return member.get<bool>();
}

bool JsonObject::boolean_or(const std::string& key, bool otherwise) const {
  return has(key) ? boolean(key) : otherwise;
}

JsonObject JsonObject::object(const std::string& key) const {
  return {at(key), file_, path_of(key)};
}

const nlohmann::json& JsonObject::array(const std::string& key) const {
  const auto& member = at(key);
  if (!member.is_array()) refuse(file_, path_of(key), member, "a list");
  return member;
}

template <class Read>
auto JsonObject::entries(const std::string& key, const Read& read) const {
  std::vector<decltype(read(nlohmann::json(), Place{file_, ""}))> entries;
  for (const auto& entry : array(key)) {
    const std::string index = "[" + std::to_string(entries.size()) + "]";
    entries.push_back(read(entry, Place{file_, path_of(key) + index}));
  }
  return entries;
}

std::vector<std::uint64_t> JsonObject::whole_numbers(const std::string& key, std::uint64_t least,
                                                     std::uint64_t greatest) const {
  return entries(key, [&](const nlohmann::json& entry, const Place& place) {
    return whole_number_of(entry, place, least, greatest);
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
  return entries(key, [](const nlohmann::json& entry, const Place& place) {
    return JsonObject(entry, place.file, place.path);
  });
}

}  // namespace tempera::gpu
