// parse_json of json_document.hpp.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/held_json.hpp"
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
template <class Json>
class StrictParse : public nlohmann::json_sax<Json> {
  using Sax = nlohmann::json_sax<Json>;
  using Object = typename Json::object_t;

 public:
  StrictParse(const std::string& where, std::string_view text, const std::string& remedy)
      : where_(where), text_(text), remedy_(remedy) {}
  Json take() { return std::move(*root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(typename Sax::number_integer_t value) override { return add(value); }
  bool number_unsigned(typename Sax::number_unsigned_t value) override { return add(value); }
  bool number_float(typename Sax::number_float_t value, const typename Sax::string_t&) override {
    return add(value);
  }
  bool string(typename Sax::string_t& value) override { return add(std::move(value)); }
  bool binary(typename Sax::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(typename Sax::string_t& name) override {
    Open& object = open_.back();
    const auto [member, is_new] =
        object.value->template get_ref<Object&>().emplace(std::move(name), nullptr);
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
    Json* value;
    typename Object::value_type* member;
  };

  /// The value that is being read: "a"["b"][2].
  std::string path() const {
    std::string path;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const Json& value = *open_[i].value;
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
  Json& insert(Json value) {
    if (open_.empty()) return *root_ = std::move(value);
    Json& around = *open_.back().value;
    if (around.is_array()) return around.emplace_back(std::move(value));
    return open_.back().member->second = std::move(value);
  }
  bool add(Json value) {
    insert(std::move(value));
    return true;
  }
  bool open(Json value) {
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
  Held<Json> root_;
  std::vector<Open> open_;
};

/// The parse of one member of an object, whose own members keep their order.
class OrderedMember final : public StrictParse<nlohmann::ordered_json> {
  using Parse = StrictParse<nlohmann::ordered_json>;

 public:
  OrderedMember(const std::string& member, std::string_view text, const std::string& remedy)
      : Parse(member, text, remedy), member_(member) {}

  bool null() override { return !is_inside_ || Parse::null(); }
  bool boolean(bool value) override { return !is_inside_ || Parse::boolean(value); }
  bool number_integer(number_integer_t value) override {
    return !is_inside_ || Parse::number_integer(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    return !is_inside_ || Parse::number_unsigned(value);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return !is_inside_ || Parse::number_float(value, text);
  }
  bool string(string_t& value) override { return !is_inside_ || Parse::string(value); }
  bool start_object(std::size_t size) override {
    members_.push_back(0);
    return !is_inside_ || Parse::start_object(size);
  }
  bool end_object() override { return end() || Parse::end_object(); }
  bool start_array(std::size_t size) override {
    members_.push_back(0);
    return !is_inside_ || Parse::start_array(size);
  }
  bool end_array() override { return end() || Parse::end_array(); }
  bool key(string_t& name) override {
    if (members_.size() == 1) is_inside_ = name == member_;
    if (!is_inside_ || members_.size() == 1) return true;
    // The library looks through all members of such an object for each that is new.
    if (++members_.back() > most_members)
      throw BadInput(member_,
                     "an object in it has more than " + std::to_string(most_members) + " members",
                     "give fewer");
    return Parse::key(name);
  }

 private:
  static constexpr std::size_t most_members = 1024;
  /// True if what ends is not of the member.
  bool end() {
    members_.pop_back();
    return !is_inside_ || members_.empty();
  }

  const std::string& member_;
  std::vector<std::size_t> members_;  ///< so far, of each object around the point of the parse
  bool is_inside_ = false;
};

}  // namespace

nlohmann::json parse_json_text(std::string_view text, const std::string& where,
                               const std::string& remedy) {
  // The parser would take a NUL for the end and what follows it for nothing.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw not_json(where, text, nul + 1, remedy);
  StrictParse<nlohmann::json> strict(where, text, remedy);
  nlohmann::json::sax_parse(text.begin(), text.end(), &strict);
  return strict.take();
}

nlohmann::ordered_json parse_ordered_member(std::string_view text, const std::string& member) {
  const std::string remedy;
  OrderedMember parse(member, text, remedy);
  nlohmann::ordered_json::sax_parse(text.begin(), text.end(), &parse);
  return parse.take();
}

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  return parse_json_text(text, where, "correct it there, or download the file again");
}

}  // namespace tempera
