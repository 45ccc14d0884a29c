#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"
#include "gpu/input/json_document.hpp"
#include "gpu/input/utf8.hpp"
#include "gpu/text/byte_alphabet.hpp"
#include "gpu/text/tokenizer_parts.hpp"

namespace tempera::gpu {

namespace {

constexpr std::uint64_t largest_token = (std::uint64_t{1} << 18) - 1;
const std::string choose_another = "choose another tokenizer";

/// The member under `key`, null where it is missing.
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

/// Whether a normaliser is NFC (null: there is none).
bool read_normalizer(const nlohmann::json& description, const std::string& where) {
  const auto type = type_of(description, where);
  if (type == "Sequence") {
    bool normalizes = false;
    const JsonObject sequence(description, where);
    for (const auto& part : sequence.array("normalizers")) {
      normalizes = read_normalizer(part, where) || normalizes;
    }
    return normalizes;
  }
  require_type(description, where, {"", "NFC"});
  return type == "NFC";
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

/// A WordLevel model must name an unknown token; where the vocabulary lacks it there is none.
std::optional<std::uint32_t> read_unknown(const JsonObject& model, const Vocabulary& vocabulary) {
  if (!model.has("unk_token")) return std::nullopt;
  const auto found = vocabulary.find(model.text("unk_token"));
  return found == vocabulary.end() ? std::nullopt : std::optional(found->second);
}

BytePairEncoding read_pairs(const JsonObject& model, const Vocabulary& vocabulary) {
  for (const char* key :
       {"dropout", "byte_fallback", "continuing_subword_prefix", "end_of_word_suffix"}) {
    require_absent(model, key);
  }
  std::optional<BytePairEncoding::Unknown> unknown;
  if (const auto token = read_unknown(model, vocabulary)) {
    unknown = {*token, model.boolean_or("fuse_unk", false)};
  }
  BytePairEncoding pairs(vocabulary, unknown, model.boolean_or("ignore_merges", false));
  for (const auto& merge : model.array("merges")) {
    const auto [left, right] = read_merge(merge, model.where());
    pairs.add_merge(require_token(vocabulary, left, model.where()),
                    require_token(vocabulary, right, model.where()),
                    require_token(vocabulary, left + right, model.where()));
  }
  return pairs;
}

}  // namespace

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  const auto file = folder / "tokenizer.json";
  return parse(read_text_file(file), file.string());
}

Tokenizer Tokenizer::parse(std::string_view text, const std::string& where) {
  const auto document = parse_json(text, where);
  const JsonObject json(document, where);
  auto parts = std::make_unique<Parts>();
  require_absent(json, "truncation");
  require_absent(json, "padding");
  parts->normalizes =
      read_normalizer(member_or_null(document, "normalizer"), where + ", normalizer");
  parts->pre_tokenizer.emplace(member_or_null(document, "pre_tokenizer"),
                               where + ", pre_tokenizer");
  // A ByteLevel post-processor moves offsets into the text only.
  require_type(member_or_null(document, "post_processor"), where + ", post_processor",
               {"", "ByteLevel"});

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

  if (json.has("added_tokens")) {
    for (const auto& entry : json.array("added_tokens")) {
      const JsonObject token(entry, where + ", added_tokens");
      const auto content = token.text("content");
      const auto id = static_cast<std::uint32_t>(token.whole_number("id", 0, largest_token));
      for (const char* key : {"single_word", "lstrip", "rstrip"}) require_absent(token, key);
      const auto [known, is_new] = parts->vocabulary.emplace(content, id);
      const bool is_free = taken.insert(id).second;
      if (content.empty() || known->second != id || is_new != is_free) {
        throw BadInput(token.where(),
                       in_quotes(content) + " is empty, has two numbers or another token's",
                       "download tokenizer.json again");
      }
      if (token.boolean_or("special", false)) parts->special.insert(id);
      if (token.boolean_or("normalized", true)) {
        parts->normalized_tokens.add(parts->normalizes ? normalize_nfc(content) : content, id);
      } else {
        parts->raw_tokens.add(content, id);
      }
    }
  }

  const auto& decoder = member_or_null(document, "decoder");
  require_type(decoder, where + ", decoder", {"", "ByteLevel", "Fuse"});
  const bool spells_bytes = type_of(decoder, where) == "ByteLevel";
  parts->separator = decoder.is_null() ? " " : "";
  for (const auto& [token, id] : parts->vocabulary) {
    if (parts->texts.size() <= id) parts->texts.resize(id + 1);
    const auto bytes = spells_bytes ? from_byte_alphabet(token) : std::nullopt;
    parts->texts[id] = bytes.value_or(token);
  }
  return Tokenizer(std::move(parts));
}

}  // namespace tempera::gpu
