#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tempera::gpu {

/// What a tokenizer does to a text before it cuts it into words.
class Normalizer {
 public:
  /// Nothing.
  Normalizer() = default;
  /// Reads the "normalizer" of a tokenizer.json: null, NFC, Prepend, Replace (of a String), or a
  /// Sequence of them. `where` names it in errors; BadInput for anything else, by its name.
  Normalizer(const nlohmann::json& description, const std::string& where);

  /// Unicode normalisation form C.
  void add_nfc() { steps_.emplace_back(Nfc{}); }
  /// `text` before every text that is not empty.
  void add_prepend(std::string text) { steps_.emplace_back(Prepend{std::move(text)}); }
  /// `to` for every `from`, which is not empty; leftmost first, none inside another's place.
  void add_replace(std::string from, std::string to) {
    steps_.emplace_back(Replace{std::move(from), std::move(to)});
  }

  /// The steps in order; well-formed UTF-8 from well-formed UTF-8.
  std::string operator()(std::string_view text) const;

 private:
  struct Nfc {};
  struct Prepend {
    std::string text;
  };
  struct Replace {
    std::string from;
    std::string to;
  };
  using Step = std::variant<Nfc, Prepend, Replace>;

  void read(const nlohmann::json& description, const std::string& where);

  std::vector<Step> steps_;
};

/// The text with `to` for every `from`, which is not empty.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);

}  // namespace tempera::gpu
