#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// The JSON value that `text` spells. `where` names the text in errors (its file, say).
///
/// Throws BadInput for anything that is not one JSON value in UTF-8, for a key that occurs twice in
/// one object (which of the two is meant nobody can tell) and for nesting deeper than 64. A NUL
/// byte ends nothing: it is refused.
nlohmann::json parse_json(std::string_view text, const std::string& where);

/// The JSON value that a file holds; BadInput as above, or if it cannot be read.
nlohmann::json read_json_file(const std::filesystem::path& file);

/// The bytes of a file; BadInput with this remedy if it cannot be read.
std::string read_text_file(
    const std::filesystem::path& file,
    const std::string& remedy = "give a folder in Hugging Face form that holds it");

/// A JSON object and the name of its place, for reading members one by one with errors that say
/// where. It refers to the object and the name, and does not own them.
class JsonObject {
 public:
  /// Throws BadInput unless `value` is an object.
  JsonObject(const nlohmann::json& value, std::string where);

  const std::string& where() const { return where_; }
  /// Throws BadInput, naming the key, unless every key is one of `known`.
  void only(std::initializer_list<std::string_view> known) const;
  /// Whether the key is there with a value other than null.
  bool has(const std::string& key) const;
  /// The member; BadInput if it is missing or null.
  const nlohmann::json& at(const std::string& key) const;
  /// A whole number in [least, greatest]; BadInput otherwise.
  std::uint64_t whole_number(const std::string& key, std::uint64_t least,
                             std::uint64_t greatest) const;
  /// An array of whole numbers in [least, greatest]; BadInput otherwise.
  std::vector<std::uint64_t> whole_numbers(const std::string& key, std::uint64_t least,
                                           std::uint64_t greatest) const;
  /// A finite number > 0; BadInput otherwise.
  double positive_number(const std::string& key) const;
  /// An array of them; BadInput otherwise.
  std::vector<double> positive_numbers(const std::string& key) const;
  std::string text(const std::string& key) const;
  bool boolean(const std::string& key) const;
  /// As above, or `otherwise` where the key is missing or null.
  bool boolean_or(const std::string& key, bool otherwise) const;
  JsonObject object(const std::string& key) const;
  /// An array; BadInput otherwise.
  const nlohmann::json& array(const std::string& key) const;

 private:
  const nlohmann::json* value_;
  std::string where_;
};

}  // namespace tempera::gpu
