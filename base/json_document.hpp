#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_file.hpp"

namespace tempera {

/// The JSON value that `text` spells. `where` names the text in errors (its file, say).
/// @throw BadInput, naming line and column or the path of keys, for anything that is not one JSON
/// value in UTF-8 and nothing else (a NUL ends nothing), for a key that occurs twice in one object
/// (which of the two is meant nobody can tell), for a number beyond the doubles and for nesting
/// deeper than 64
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// The JSON value that a file holds.
/// @throw BadInput as parse_json, or if the file cannot be read
nlohmann::json read_json_file(const std::filesystem::path& file);

/// A JSON object and the name of its place, for reading members one by one with errors that say
/// where and what is there. It refers to the object, which must outlive it.
///
/// Every reader of a member throws BadInput if it is missing, null, or not what is asked for. The
/// remedy that it names is `form`, if the object was given one.
class JsonObject {
 public:
  /// `form` tells how the object is to be written.
  /// @throw BadInput unless `value` is an object
  JsonObject(const nlohmann::json& value, std::string where, std::string form = "");

  /// The file and the path of keys to the object.
  std::string where() const;

  /// Its keys, in ascending order.
  std::vector<std::string> keys() const;
  /// @throw BadInput unless every key is one of the two lists, with the one that is nearest to it
  void only(std::initializer_list<std::string_view> known,
            std::initializer_list<std::string_view> further = {}) const;
  /// The same for one list.
  void require_known(std::span<const std::string_view> known) const;
  /// Checks that every required key is there with a value other than null and that every key is
  /// one of the two lists.
  /// @throw BadInput otherwise, as only()
  void check_keys(std::initializer_list<std::string_view> required,
                  std::initializer_list<std::string_view> optional = {}) const;

  /// Whether the key is there with a value other than null.
  bool has(const std::string& key) const;
  const nlohmann::json& at(const std::string& key) const;

  /// A whole number in [least, greatest], written without a fraction or exponent.
  std::uint64_t whole_number(const std::string& key, std::uint64_t least,
                             std::uint64_t greatest) const;
  double finite_number(const std::string& key) const;
  /// A finite number > 0.
  double positive_number(const std::string& key) const;
  std::string text(const std::string& key) const;
  /// Nothing if the key is missing or null.
  std::optional<std::string> optional_text(const std::string& key) const;
  bool boolean(const std::string& key) const;
  /// The index of a text among these names.
  std::size_t choice(const std::string& key, std::span<const std::string_view> names) const;
  /// The same, or `otherwise` if the key is missing or null.
  bool boolean_or(const std::string& key, bool otherwise) const;
  JsonObject object(const std::string& key) const;
  /// The path of keys to a member: "a", "a"["b"].
  std::string path_of(const std::string& key) const;

  const nlohmann::json& array(const std::string& key) const;
  /// An array whose every entry is such a whole number, finite number, text or object.
  std::vector<std::uint64_t> whole_numbers(const std::string& key, std::uint64_t least,
                                           std::uint64_t greatest) const;
  std::vector<double> finite_numbers(const std::string& key) const;
  std::vector<double> positive_numbers(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  std::vector<JsonObject> objects(const std::string& key) const;

 private:
  friend std::vector<JsonObject> objects_of(const nlohmann::json&, const std::string&,
                                            const std::string&);
  JsonObject(const nlohmann::json& value, std::string file, std::string path, std::string form);
  template <class Read>
  auto entries(const std::string& key, const Read& read) const;

  const nlohmann::json* value_;
  std::string file_;
  std::string path_;  // "a"["b"][2], empty at the root
  std::string form_;
};

/// The objects of a document that is a list of them.
/// @throw BadInput if it is no list, or one of its entries no object
std::vector<JsonObject> objects_of(const nlohmann::json& document, const std::string& where,
                                   const std::string& form = "");

}  // namespace tempera
