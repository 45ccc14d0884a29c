#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::reference {

/// The one JSON value that `text` is. `source` names the file in messages.
/// @throw BadInput with line and column if it is no JSON in UTF-8 or if anything follows it (a NUL
/// too), with the key if one object has it twice, for a number beyond the doubles, and for
/// nesting deeper than 32
nlohmann::json parse_json(std::string_view text, const std::string& source);

/// One object of a document that is read key by key. Every refusal names the file, the path of keys
/// and the remedy. Refers to the value, which must outlive it.
class JsonObject {
 public:
  /// `place` is the path of keys to the object, empty for the document; `form` tells how the
  /// object is to be written.
  /// @throw BadInput if `value` is no object
  JsonObject(const nlohmann::json& value, std::string source, std::string place, std::string form);

  /// @throw BadInput if a required key is missing, or if a key is in neither list: with the known
  /// key that it probably meant
  void check_keys(const std::vector<std::string>& required,
                  const std::vector<std::string>& optional) const;

  bool has(const std::string& key) const;
  /// The value under a key that is there.
  const nlohmann::json& operator[](const std::string& key) const;
  /// Path of keys to a value of this object: "a", "a"["b"].
  std::string place_of(const std::string& key) const;

  /// @throw BadInput if it is no string
  std::string text(const std::string& key) const;
  /// Nothing if the key is missing or null.
  /// @throw BadInput if it is something else than a string
  std::optional<std::string> optional_text(const std::string& key) const;
  /// @throw BadInput if it is no array of strings
  std::vector<std::string> texts(const std::string& key) const;
  /// @throw BadInput if it is not written as a whole number in [least, greatest]
  std::uint64_t whole_number(const std::string& key, std::uint64_t least,
                             std::uint64_t greatest) const;
  /// @throw BadInput if it is no array of such numbers
  std::vector<std::uint64_t> whole_numbers(const std::string& key, std::uint64_t least,
                                           std::uint64_t greatest) const;

 private:
  std::string text_at(const nlohmann::json& value, const std::string& place) const;
  template <class Read>
  auto entries(const std::string& key, const Read& read) const;

  std::string source_, place_, form_;
  const nlohmann::json* value_;
};

/// The objects of a document that is a list of them.
/// @throw BadInput if it is no list, or one of its entries no object
std::vector<JsonObject> objects_of(const nlohmann::json& document, const std::string& source,
                                   const std::string& form);

}  // namespace tempera::reference
