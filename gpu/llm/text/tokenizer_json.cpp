#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "gpu/llm/text/byte_alphabet.hpp"
#include "gpu/llm/text/tokenizer_parts.hpp"

namespace tempera::gpu {

namespace {

/// Logits are of at most 2^18 tokens. Gemma 3 has a few more, for images, and models refuse them.
constexpr std::uint64_t largest_token = (std::uint64_t{1} << 18) + 1023;
const std::string choose_another = "choose another tokenizer";

/// The member under `key`, null if it is missing.
const nlohmann::json& member_or_null(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  const auto member = object.find(key);
  return member == object.end() ? null : *member;
}

void require_absent(const JsonObject& object, const std::string& key) {
  if (!object.has(key)) return;
  const auto& value = object.at(key);
  if (value == nlohmann::json("") || value == false || value == 0.0) return;  // as good as absent
  throw BadInput(object.where(), in_quotes(key) + " is set",
                 "it is not supported; " + choose_another);
}

std::string type_of(const nlohmann::json& description, const std::string& where) {
  return description.is_null() ? "" : JsonObject(description, where).text("type");
}

void require_type(const nlohmann::json& description, const std::string& where,
                  std::initializer_list<std::string_view> supported) {
  const auto type = type_of(description, where);
  if (std::find(supported.begin(), supported.end(), type) == supported.end()) {
    throw BadInput(where, "type " + in_quotes(type) + " is not supported", choose_another);
  }
}

/// Fills the vocabulary and returns the numbers that it gives.
std::set<std::uint32_t> read_vocabulary(const JsonObject& model, Vocabulary& vocabulary) {
  const auto entries = model.object("vocab");
  std::set<std::uint32_t> taken;
  for (const auto& [token, value] : model.at("vocab").items()) {
    const auto id = static_cast<std::uint32_t>(entries.whole_number(token, 0, largest_token));
    if (!taken.insert(id).second) {
      throw BadInput(entries.where(), "two tokens have number " + std::to_string(id),
                     "give each its own");
    }
    vocabulary.emplace(token, id);
  }
  return taken;
}

std::uint32_t require_token(const Vocabulary& vocabulary, const std::string& token,
                            const std::string& where) {
  const auto found = vocabulary.find(token);
  if (found == vocabulary.end()) {
    throw BadInput(where, "token " + in_quotes(token) + " is not in \"vocab\"",
                   "download tokenizer.json again");
  }
  return found->second;
}

/// A merge is a pair of tokens, or both in one string with a space between.
std::pair<std::string, std::string> read_merge(const nlohmann::json& merge,
                                               const std::string& where) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  }
  if (merge.is_string()) {
    const auto text = merge.get<std::string>();
    const auto space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
      return {text.substr(0, space), text.substr(space + 1)};
    }
  }
  throw BadInput(where, "a merge is not a pair of tokens", "download tokenizer.json again");
}

/// A WordLevel model must name an unknown token; if the vocabulary lacks it there is none.
std::optional<std::uint32_t> read_unknown(const JsonObject& model, const Vocabulary& vocabulary) {
  if (!model.has("unk_token")) return std::nullopt;
  const auto found = vocabulary.find(model.text("unk_token"));
  return found == vocabulary.end() ? std::nullopt : std::optional(found->second);
}

BytePairEncoding read_pairs(const JsonObject& model, const Vocabulary& vocabulary) {
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
    require_absent(model, key);
  std::optional<BytePairEncoding::Unknown> unknown;
  if (const auto token = read_unknown(model, vocabulary)) {
    unknown = {*token, model.boolean_or("fuse_unk", false)};
  }
  BytePairEncoding pairs(vocabulary, unknown, model.boolean_or("ignore_merges", false),
                         model.where());
  if (model.boolean_or("byte_fallback", false))
    pairs.fall_back_to(byte_tokens(vocabulary, model.where() + ", \"byte_fallback\""));
  for (const auto& merge : model.array("merges")) {
    const auto [left, right] = read_merge(merge, model.where());
    pairs.add_merge(require_token(vocabulary, left, model.where()),
                    require_token(vocabulary, right, model.where()),
                    require_token(vocabulary, left + right, model.where()));
  }
  return pairs;
}

/// The tokens that a post-processor puts before a text: those of TemplateProcessing's "single".
/// ByteLevel moves offsets into the text only.
std::vector<std::uint32_t> read_beginning(const nlohmann::json& description,
                                          const Vocabulary& vocabulary, const std::string& where) {
  std::vector<std::uint32_t> beginning;
  require_type(description, where, {"", "ByteLevel", "TemplateProcessing", "Sequence"});
  const auto type = type_of(description, where);
  if (type == "Sequence") {
    const JsonObject sequence(description, where);
    for (const auto& part : sequence.array("processors")) {
      for (const auto token : read_beginning(part, vocabulary, where)) beginning.push_back(token);
    }
  } else if (type == "TemplateProcessing") {
    const JsonObject processing(description, where);
    bool is_after = false;
    for (const auto& part : processing.array("single")) {
      const JsonObject item(part, where + ", single");
      if (item.has("Sequence")) {
        is_after = true;
        continue;
      }
      const auto token = item.object("SpecialToken").text("id");
      if (is_after) {
        throw BadInput(where, "puts token " + in_quotes(token) + " after the text",
                       "it is not supported; " + choose_another);
      }
      beginning.push_back(require_token(vocabulary, token, where));
    }
  }
  return beginning;
}

/// What a decoder makes of each token, and of the text.
class TokenSpelling {
 public:
  TokenSpelling(const nlohmann::json& description, const std::string& where) {
    read(description, where);
  }

  /// is_added: it is found in a text as it is, and so spelled in no alphabet of bytes.
  std::string text(const std::string& token, bool is_added) const {
    if (const auto spelled = byte(token)) return std::string(1, *spelled);
    const std::string text = replaced(token);
    return spells_bytes_ && !is_added ? from_byte_alphabet(text).value_or(text) : text;
  }
  /// The text of a token that is the first of all, if it differs: Metaspace gives no space for a
  /// mark there.
  std::optional<std::string> first_text(const std::string& token) const {
    if (!first_mark_ || token.find(*first_mark_) == std::string::npos) return std::nullopt;
    return replaced(replace_all(token, *first_mark_, ""));
  }
  /// The byte that a token stands for, of a decoder that knows such tokens.
  std::optional<char> byte(const std::string& token) const {
    return falls_back_ ? spelled_byte(replaced(token)) : std::nullopt;
  }
  std::size_t leading_spaces() const { return leading_spaces_; }

 private:
  std::string replaced(const std::string& token) const {
    std::string text = token;
    for (const auto& [from, to] : replaced_) text = replace_all(text, from, to);
    return text;
  }
  void read(const nlohmann::json& description, const std::string& where) {
    const auto type = type_of(description, where);
    require_type(
        description, where,
        {"", "ByteLevel", "Fuse", "Sequence", "Replace", "ByteFallback", "Metaspace", "Strip"});
    if (type.empty()) return;
    const JsonObject object(description, where);
    if (type == "Sequence") {
      for (const auto& part : object.array("decoders")) read(part, where);
    } else if (type == "ByteLevel") {
      spells_bytes_ = true;
    } else if (type == "ByteFallback") {
      falls_back_ = true;
    } else if (type == "Fuse") {
      fuses_ = true;
    } else if (type == "Metaspace") {
      const Metaspace metaspace(object, where);
      if (falls_back_ || fuses_ || !replaced_.empty()) {
        throw BadInput(where, "Metaspace follows Replace, ByteFallback or Fuse",
                       "it is not supported; " + choose_another);
      }
      replaced_.emplace_back(metaspace.replacement, " ");
      if (metaspace.prepends != Metaspace::Prepends::never) first_mark_ = metaspace.replacement;
    } else if (type == "Replace") {
      const auto from = object.object("pattern").text("String");
      if (from.empty() || falls_back_ || fuses_) {
        throw BadInput(where, "Replace has an empty pattern, or follows ByteFallback or Fuse",
                       "it is not supported; " + choose_another);
      }
      replaced_.emplace_back(from, object.text("content"));
    } else {
      if (!fuses_ || object.text("content") != " " || object.whole_number("stop", 0, 9) != 0) {
        throw BadInput(where, "Strip takes something other than spaces off the start of a text",
                       "it is not supported; " + choose_another);
      }
      leading_spaces_ += object.whole_number("start", 0, 9);
    }
  }

  std::vector<std::pair<std::string, std::string>> replaced_;
  bool spells_bytes_ = false;
  bool falls_back_ = false;
  bool fuses_ = false;
  std::size_t leading_spaces_ = 0;
  std::optional<std::string> first_mark_;
};

/// Reads "added_tokens" into the parts; `taken` are the numbers of the vocabulary.
void read_added_tokens(const JsonObject& json, std::set<std::uint32_t> taken,
                       Tokenizer::Parts& parts) {
  for (const auto& entry : json.array("added_tokens")) {
    const JsonObject token(entry, json.where() + ", added_tokens");
    const auto content = token.text("content");
    const auto id = static_cast<std::uint32_t>(token.whole_number("id", 0, largest_token));
    required_flag(token, "single_word");
    require_absent(token, "single_word");
    const auto [known, is_new] = parts.vocabulary.emplace(content, id);
    const bool is_free = taken.insert(id).second;
    if (content.empty() || known->second != id || is_new != is_free) {
      throw BadInput(token.where(),
                     in_quotes(content) + " is empty, has two numbers or another token's",
                     "download tokenizer.json again");
    }
    const AddedTokens::Sides sides{required_flag(token, "lstrip"), required_flag(token, "rstrip")};
    const bool is_normalized = required_flag(token, "normalized");
    const auto& text =
        parts.added.emplace(id, is_normalized ? parts.normalizer(content) : content).first->second;
    (is_normalized ? parts.normalized_tokens : parts.raw_tokens).add(text, id, sides);
  }
}

}  // namespace

BytePairEncoding::ByteTokens byte_tokens(const Vocabulary& vocabulary, const std::string& where) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  BytePairEncoding::ByteTokens tokens{};
  for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
    const std::string spelled = std::string("<0x") + digits[byte / 16] + digits[byte % 16] + '>';
    const auto found = vocabulary.find(spelled);
    if (found == vocabulary.end()) {
      throw BadInput(where, "there is no token " + in_quotes(spelled), choose_another);
    }
    tokens[byte] = found->second;
  }
  return tokens;
}

std::optional<char> spelled_byte(std::string_view token) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const auto high = digits.find(token[3]);
  const auto low = digits.find(token[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<char>(16 * high + low);
}

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  const auto file = folder / "tokenizer.json";
  return parse(read_text_file(file), file.string());
}

Tokenizer Tokenizer::parse(std::string_view text, const std::string& where) {
  const auto document = parse_json(text, where);
  const JsonObject json(document, where);
  auto parts = std::make_unique<Parts>();
  parts->file = where;
  require_absent(json, "truncation");
  require_absent(json, "padding");
  parts->normalizer = Normalizer(member_or_null(document, "normalizer"), where + ", normalizer");
  parts->pre_tokenizer.emplace(member_or_null(document, "pre_tokenizer"),
                               where + ", pre_tokenizer");
  const auto model = json.object("model");
  const auto type = model.text("type");
  auto taken = read_vocabulary(model, parts->vocabulary);
  if (type == "BPE") {
    parts->model = read_pairs(model, parts->vocabulary);
  } else if (type == "WordLevel") {
    parts->model = Parts::WordLevel{read_unknown(model, parts->vocabulary)};
  } else {
    throw BadInput(model.where(), "type " + in_quotes(type) + " is not supported", choose_another);
  }

  if (json.has("added_tokens")) read_added_tokens(json, std::move(taken), *parts);
  parts->beginning = read_beginning(member_or_null(document, "post_processor"), parts->vocabulary,
                                    where + ", post_processor");

  const auto& decoder = member_or_null(document, "decoder");
  const TokenSpelling spelling(decoder, where + ", decoder");
  parts->separator = decoder.is_null() ? " " : "";
  parts->leading_spaces = spelling.leading_spaces();
  for (const auto& [token, id] : parts->vocabulary) {
    if (parts->texts.size() <= id) parts->texts.resize(id + 1);
    const auto added = parts->added.find(id);
    const auto& spelled = added == parts->added.end() ? token : added->second;
    parts->texts[id] = spelling.text(spelled, added != parts->added.end());
    if (const auto first = spelling.first_text(spelled)) parts->first_texts.emplace(id, *first);
    if (spelling.byte(token)) parts->bytes.insert(id);
  }
  return Tokenizer(std::move(parts));
}

}  // namespace tempera::gpu
