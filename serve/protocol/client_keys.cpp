#include "serve/protocol/client_keys.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/nearest_name.hpp"
#include "base/sha256.hpp"
#include "base/text_file.hpp"
#include "serve/http/http_limits.hpp"
#include "serve/protocol/api_key.hpp"

namespace tempera::serve {
namespace {

constexpr std::size_t largest_key_file = std::size_t{1} << 20;  // bytes
constexpr std::size_t most_keys = 1024;  // each request is compared with all of them
constexpr std::size_t longest_name = 64;
/// A header of this server has room for it, and for a KiB of the request's other fields.
const std::size_t longest_key = HttpLimits().header_bytes - 1024;
constexpr std::size_t most_of_a_limit = 1'000'000'000;
constexpr std::string_view of_digests = "sha256:";
const char* const how_to_write_a_key =
    "write NAME KEY, and after them requests=N or tokens-per-minute=N if the client has limits";

struct KeyLine {
  std::size_t number = 0;
  std::vector<std::string_view> words;
};

bool is_between_words(char c) { return c == ' ' || c == '\t'; }

std::vector<std::string_view> words_of_key_line(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto end = std::find_if(line.begin(), line.end(), is_between_words);
    const auto size = static_cast<std::size_t>(end - line.begin());
    if (size > 0) words.push_back(line.substr(0, size));
    line.remove_prefix(std::min(size + 1, line.size()));
  }
  return words;
}

/// The lines with words, comments among them.
std::vector<KeyLine> lines_of_key_file(std::string_view text, const std::string& file) {
  std::vector<KeyLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (std::any_of(line.begin(), line.end(), [](unsigned char c) { return c < ' ' && c != '\t'; }))
      throw BadInput(file + ", line " + std::to_string(number), "it has a control character",
                     "write plain text");
    if (auto words = words_of_key_line(line); !words.empty())
      lines.push_back({number, std::move(words)});
  }
  return lines;
}

std::string digest_of_key(std::string_view key, const std::string& where) {
  if (key.size() > longest_key)
    throw BadInput(
        where, "a key of " + std::to_string(key.size()) + " bytes fits into no request's header",
        "give one of at most " + std::to_string(longest_key) + " bytes");
  if (!key.starts_with(of_digests)) return sha256(key);
  const std::string_view digest = key.substr(of_digests.size());
  const bool is_digest =
      digest.size() == 64 && std::all_of(digest.begin(), digest.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      });
  if (!is_digest)
    throw BadInput(where, "what follows \"sha256:\" is not 64 digits of 0-9 and a-f",
                   "give what `printf %s KEY | sha256sum` prints");
  return std::string(digest);
}

void read_client_limit(std::string_view word, ClientLimits& limits, const std::string& where) {
  const std::pair<std::string_view, std::size_t*> known[] = {
      {"requests", &limits.requests}, {"tokens-per-minute", &limits.tokens_per_minute}};
  const std::string_view name = word.substr(0, word.find('='));
  const auto found = std::find_if(std::begin(known), std::end(known),
                                  [&](const auto& each) { return each.first == name; });
  if (found == std::end(known)) {
    const std::vector<std::string_view> names{known[0].first, known[1].first};
    const auto nearest = nearest_name(name, names);
    throw BadInput(where, in_quotes(word) + " does not name a limit",
                   nearest ? "did you mean " + in_quotes(*nearest) + "?"
                           : "write requests=N or tokens-per-minute=N");
  }
  if (*found->second != 0)
    throw BadInput(where, std::string(name) + " is given twice", "give it once");
  const std::string_view digits = word.substr(std::min(name.size() + 1, word.size()));
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, *found->second);
  if (read.ec != std::errc() || read.ptr != end || *found->second == 0 ||
      *found->second > most_of_a_limit)
    throw BadInput(
        where,
        std::string(name) + " is not a whole number from 1 to " + std::to_string(most_of_a_limit),
        "give one, or leave the limit out");
}

bool is_client_name(std::string_view name) {
  return name.size() <= longest_name && std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-' || c == '_' || c == '.' || c == '@';
         });
}

NamedKey read_named_key(const KeyLine& line, const std::string& where) {
  if (line.words.size() < 2) throw BadInput(where, "it has no key", how_to_write_a_key);
  if (!is_client_name(line.words[0]))
    throw BadInput(
        where, in_quotes(line.words[0]) + " cannot be a name",
        "give at most " + std::to_string(longest_name) + " letters, digits and signs of \"-_.@\"");
  NamedKey key{std::string(line.words[0]), digest_of_key(line.words[1], where), {}};
  for (std::size_t i = 2; i < line.words.size(); ++i)
    read_client_limit(line.words[i], key.limits, where);
  return key;
}

}  // namespace

ClientKeys ClientKeys::read(std::string_view text, const std::string& file) {
  std::vector<KeyLine> lines = lines_of_key_file(text, file);
  ClientKeys keys;
  if (lines.size() == 1 && lines.front().words.size() == 1) {
    const std::string_view key = lines.front().words.front();
    keys.shows_a_key_ = !key.starts_with(of_digests);
    keys.keys_.push_back({"key", digest_of_key(key, file), {}});
    return keys;
  }
  std::erase_if(lines, [](const KeyLine& line) { return line.words[0].starts_with('#'); });
  if (lines.empty())
    throw BadInput(file, "it holds no key", "write one word into it, or NAME KEY for each client");
  if (lines.size() > most_keys)
    throw BadInput(file, "it has more than " + std::to_string(most_keys) + " keys",
                   "give fewer; several clients may share one");
  std::map<std::string, std::size_t> lines_of_names;
  std::map<std::string, std::size_t> lines_of_digests;
  for (const KeyLine& line : lines) {
    const std::string where = file + ", line " + std::to_string(line.number);
    NamedKey key = read_named_key(line, where);
    keys.shows_a_key_ = keys.shows_a_key_ || !line.words[1].starts_with(of_digests);
    if (const auto [at, is_new] = lines_of_names.try_emplace(key.name, line.number); !is_new)
      throw BadInput(
          where,
          "its name " + in_quotes(key.name) + " is that of line " + std::to_string(at->second),
          "give each client a name of its own");
    if (const auto [at, is_new] = lines_of_digests.try_emplace(key.digest, line.number); !is_new)
      throw BadInput(where, "its key is that of line " + std::to_string(at->second),
                     "give each client a key of its own");
    keys.keys_.push_back(std::move(key));
  }
  return keys;
}

ClientKeys ClientKeys::read_file(const std::string& file, std::string& remark) {
  namespace fs = std::filesystem;
  ClientKeys keys = read(read_text_file(file, "", largest_key_file), file);
  constexpr fs::perms of_others = fs::perms::group_read | fs::perms::others_read;
  std::error_code error;
  const bool is_open = (fs::status(file, error).permissions() & of_others) != fs::perms::none;
  remark = is_open && !error && keys.shows_a_key()
               ? file + ": other users of this machine may read the key; chmod 600 keeps it"
               : "";
  return keys;
}

std::optional<std::size_t> ClientKeys::find(std::string_view authorization) const {
  const auto given = bearer_token(authorization);
  if (!given || keys_.empty()) return std::nullopt;
  const std::string digest = sha256(*given);
  std::optional<std::size_t> found;
  for (std::size_t client = 0; client < keys_.size(); ++client)
    if (is_same_key(digest, keys_[client].digest)) found = client;
  return found;
}

}  // namespace tempera::serve
