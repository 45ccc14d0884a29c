#include "gpu/input/json_document.hpp"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"

namespace tempera::gpu {

namespace {

constexpr std::size_t deepest_nesting = 64;

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
    auto& members = open_.back()->get_ref<nlohmann::json::object_t&>();
    const auto [member, is_new] = members.emplace(std::move(name), nullptr);
    if (!is_new) {
      throw BadInput(where_, "key " + in_quotes(member->first) + " occurs twice in one object",
                     "remove one of the two");
    }
    member_ = &member->second;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::json::exception& error) override {
    const bool is_out_of_range =
        dynamic_cast<const nlohmann::json::out_of_range*>(&error) != nullptr;
    throw BadInput(where_,
                   is_out_of_range ? "a number is out of range"
                                   : "not valid JSON in UTF-8 at byte " + std::to_string(byte),
                   "download or export the file again");
  }

 private:
  /// Puts a value where the parse stands; the result stays where it is until it is closed.
  nlohmann::json& place(nlohmann::json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
    return *member_ = std::move(value);
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
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  nlohmann::json root_;
  std::vector<nlohmann::json*> open_;  // the objects and arrays around the place of the parse
  nlohmann::json* member_ = nullptr;   // of the innermost object, whose key came last
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  StrictParse strict(where);
  nlohmann::json::sax_parse(text.begin(), text.end(), &strict);
  return strict.take();
}

std::string read_text_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (std::filesystem::is_directory(file) || !stream || !(text << stream.rdbuf())) {
    throw BadInput(file.string(), "cannot be read, or is empty",
                   "give a folder in Hugging Face form that holds it");
  }
  return std::move(text).str();
}

nlohmann::json read_json_file(const std::filesystem::path& file) {
  return parse_json(read_text_file(file), file.string());
}

JsonObject::JsonObject(const nlohmann::json& value, std::string where)
    : value_(&value), where_(std::move(where)) {
  if (!value.is_object()) {
    throw BadInput(where_, "is not a JSON object", "give the file as its tool wrote it");
  }
}

bool JsonObject::has(const std::string& key) const {
  const auto member = value_->find(key);
  return member != value_->end() && !member->is_null();
}

const nlohmann::json& JsonObject::at(const std::string& key) const {
  if (!has(key)) throw BadInput(where_, "key " + in_quotes(key) + " is missing", "add it");
  return *value_->find(key);
}

std::uint64_t JsonObject::whole_number(const std::string& key, std::uint64_t least,
                                       std::uint64_t greatest) const {
  const auto& member = at(key);
  if (member.is_number_unsigned()) {
    const auto number = member.get<std::uint64_t>();
    if (number >= least && number <= greatest) return number;
  }
  throw BadInput(where_,
                 "key " + in_quotes(key) + " is not a whole number in " + std::to_string(least) +
                     ".." + std::to_string(greatest),
                 "give one");
}

double JsonObject::positive_number(const std::string& key) const {
  const auto& member = at(key);
  if (member.is_number()) {
    const auto number = member.get<double>();
    if (std::isfinite(number) && number > 0.0) return number;
  }
  throw BadInput(where_, "key " + in_quotes(key) + " is not a finite number above 0", "give one");
}

std::string JsonObject::text(const std::string& key) const {
  const auto& member = at(key);
  if (!member.is_string()) {
    throw BadInput(where_, "key " + in_quotes(key) + " is not a string", "give one");
  }
  return member.get<std::string>();
}

bool JsonObject::boolean(const std::string& key) const {
  const auto& member = at(key);
  if (!member.is_boolean()) {
    throw BadInput(where_, "key " + in_quotes(key) + " is not true or false",
                   "give one of the two");
  }
  return member.get<bool>();
}

bool JsonObject::boolean_or(const std::string& key, bool otherwise) const {
  return has(key) ? boolean(key) : otherwise;
}

JsonObject JsonObject::object(const std::string& key) const {
  return JsonObject(at(key), where_ + ", " + in_quotes(key));
}

const nlohmann::json& JsonObject::array(const std::string& key) const {
  const auto& member = at(key);
  if (!member.is_array()) {
    throw BadInput(where_, "key " + in_quotes(key) + " is not an array", "give one");
  }
  return member;
}

}  // namespace tempera::gpu
