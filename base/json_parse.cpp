// parse_json of json_document.hpp.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/json_text.hpp"

namespace tempera {

namespace {

constexpr std::size_t deepest_nesting = 64;

/// Refuses the text at a byte, counted from 1.
BadInput not_json(const std::string& where, std::string_view text, std::size_t byte,
                  const std::string& remedy) {
  const std::string_view before =
      text.substr(0, std::min(std::max<std::size_t>(byte, 1) - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  // The text may itself be a line of a file, which `where` then names.
  constexpr std::string_view line_of = "line ";
  const std::size_t number = where.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  const std::string_view before_number = std::string_view(where).substr(0, number);
  if (number < where.size() && (before_number == line_of || before_number.ends_with(", line ")))
    return {where, "column " + std::to_string(column) + " is not valid JSON in UTF-8", remedy};
  return {where + ", line " + std::to_string(line) + ", column " + std::to_string(column),
          "not valid JSON in UTF-8", remedy};
}

/// Builds the value of a text from the events of its parse, and refuses what the parser would let
/// through. (The library's own way to watch a parse walks over all that an object already holds
/// with each of its members: quadratic in the tensors of a header.)
class StrictParse final : public nlohmann::json_sax<nlohmann::json> {
 public:
  StrictParse(const std::string& where, std::string_view text, const std::string& remedy)
      : where_(where), text_(text), remedy_(remedy) {}
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
    Open& object = open_.back();
    const auto [member, is_new] =
        object.value->get_ref<nlohmann::json::object_t&>().emplace(std::move(name), nullptr);
    object.member = &*member;
    if (!is_new)
      throw BadInput(where_, "key " + path() + " occurs twice in one object",
                     "remove one of the two");
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::json::exception& error) override {
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&error) == nullptr)
      throw not_json(where_, text_, byte, remedy_);
    throw BadInput(where_,
                   "the number at " + (open_.empty() ? "the top" : path()) + " is out of range",
                   "give one between -1.7e308 and 1.7e308");
  }

 private:
  /// An object or array around the point of the parse; of an object, the member that is being read.
  struct Open {
    nlohmann::json* value;
    nlohmann::json::object_t::value_type* member;
  };

  /// The value that is being read: "a"["b"][2].
  std::string path() const {
    std::string path;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const nlohmann::json& value = *open_[i].value;
      // What is open further in is there already, what is being read is not yet.
      const std::size_t index = value.size() - (i + 1 < open_.size() ? 1 : 0);
      const std::string step =
          value.is_array() ? std::to_string(index) : in_quotes(open_[i].member->first);
      path += path.empty() && value.is_object() ? step : "[" + step + "]";
    }
    return path;
  }

  /// Puts a value at the point that the parse has reached; the result stays where it is until it is
  /// closed.
  nlohmann::json& insert(nlohmann::json value) {
    if (open_.empty()) return root_ = std::move(value);
    nlohmann::json& around = *open_.back().value;
    if (around.is_array()) return around.emplace_back(std::move(value));
    return open_.back().member->second = std::move(value);
  }
  bool add(nlohmann::json value) {
    insert(std::move(value));
    return true;
  }
  bool open(nlohmann::json value) {
    if (open_.size() == deepest_nesting)
      throw BadInput(where_, "JSON is nested deeper than " + std::to_string(deepest_nesting),
                     "use fewer levels");
    open_.push_back({&insert(std::move(value)), nullptr});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  std::string_view text_;
  const std::string& remedy_;
  nlohmann::json root_;
  std::vector<Open> open_;
};

}  // namespace

nlohmann::json parse_json_text(std::string_view text, const std::string& where,
                               const std::string& remedy) {
  // The parser would take a NUL for the end and what follows it for nothing.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw not_json(where, text, nul + 1, remedy);
  StrictParse strict(where, text, remedy);
  nlohmann::json::sax_parse(text.begin(), text.end(), &strict);
  return strict.take();
}

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  return parse_json_text(text, where, "correct it there, or download the file again");
}

}  // namespace tempera
