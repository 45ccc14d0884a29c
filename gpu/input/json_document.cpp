#include "gpu/input/json_document.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"

namespace tempera::gpu {

namespace {

constexpr int deepest_nesting = 64;

/// Watches a parse for what the parser itself lets through.
class StrictParse {
 public:
  explicit StrictParse(const std::string& where) : where_(where) {}

  bool operator()(int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > deepest_nesting) {
      throw BadInput(where_, "JSON is nested deeper than " + std::to_string(deepest_nesting),
                     "give the file as its tool wrote it");
    }
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        throw BadInput(where_, "key " + in_quotes(key) + " occurs twice in one object",
                       "remove one of the two");
      }
    }
    return true;
  }

 private:
  const std::string& where_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  StrictParse strict(where);
  // The parser takes a NUL byte for the end of the text.
  if (const auto end = text.find('\0'); end != std::string_view::npos) {
    throw BadInput(where, "not valid JSON in UTF-8 at byte " + std::to_string(end + 1),
                   "download or export the file again");
  }
  try {
    return nlohmann::json::parse(text.begin(), text.end(), std::ref(strict));
  } catch (const nlohmann::json::parse_error& error) {
    throw BadInput(where, "not valid JSON in UTF-8 at byte " + std::to_string(error.byte),
                   "download or export the file again");
  } catch (const nlohmann::json::out_of_range&) {
    throw BadInput(where, "a number is out of range", "download or export the file again");
  }
}

std::string read_text_file(const std::filesystem::path& file, const std::string& remedy) {
  std::error_code error;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (std::filesystem::is_directory(file, error) || !stream || !(text << stream.rdbuf())) {
    throw BadInput(file.string(), "cannot be read, or is empty", remedy);
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

void JsonObject::only(std::initializer_list<std::string_view> known) const {
  for (const auto& item : value_->items()) {
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    std::string keys;
    for (const std::string_view key : known) keys += (keys.empty() ? "" : ", ") + std::string(key);
    throw BadInput(where_, "key " + in_quotes(item.key()) + " is not known",
                   "remove it, or write one of " + keys);
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

std::vector<std::uint64_t> JsonObject::whole_numbers(const std::string& key, std::uint64_t least,
                                                     std::uint64_t greatest) const {
  std::vector<std::uint64_t> numbers;
  for (const auto& member : array(key)) {
    if (!member.is_number_unsigned() || member.get<std::uint64_t>() < least ||
        member.get<std::uint64_t>() > greatest) {
      throw BadInput(where_,
                     "key " + in_quotes(key) + " holds something else than whole numbers in " +
                         std::to_string(least) + ".." + std::to_string(greatest),
                     "give whole numbers alone");
    }
    numbers.push_back(member.get<std::uint64_t>());
  }
  return numbers;
}

double JsonObject::positive_number(const std::string& key) const {
  const auto& member = at(key);
  if (member.is_number()) {
    const auto number = member.get<double>();
    if (std::isfinite(number) && number > 0.0) return number;
  }
  throw BadInput(where_, "key " + in_quotes(key) + " is not a finite number above 0", "give one");
}

std::vector<double> JsonObject::positive_numbers(const std::string& key) const {
  std::vector<double> numbers;
  for (const auto& member : array(key)) {
    if (!member.is_number() || !std::isfinite(member.get<double>()) || member.get<double>() <= 0.0)
      throw BadInput(where_, "key " + in_quotes(key) + " holds something else than numbers above 0",
                     "give finite numbers above 0 alone");
    numbers.push_back(member.get<double>());
  }
  return numbers;
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
