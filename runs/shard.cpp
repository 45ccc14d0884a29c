#include "runs/shard.hpp"

#include <algorithm>
#include <charconv>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/regular_file.hpp"
#include "runs/run_folder.hpp"

namespace tempera::gpu {
namespace {

constexpr std::string_view name_begins = "shard-";
constexpr std::string_view name_goes_on = "-of-";
constexpr const char* one_command =
    "draw all shards of a run by one command; another run needs a folder of its own";

/// A whole number from 1 to most_shards, in digits without leading zeros.
std::optional<std::size_t> read_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '0' ||
      number > most_shards)
    return std::nullopt;
  return number;
}

std::optional<Shard> read_both(std::string_view text, std::string_view between) {
  const std::size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = read_number(text.substr(0, at));
  const auto of = read_number(text.substr(at + between.size()));
  if (!number || !of || *number > *of) return std::nullopt;
  return Shard{*number, *of};
}

/// A value as a message shows it, if it is short.
std::optional<std::string> shown(const nlohmann::json& config, const std::string& key) {
  const auto value = config.find(key);
  if (value == config.end()) return "missing";
  const std::string text = value->dump();
  constexpr std::size_t most = 60;
  return text.size() <= most ? std::optional(text) : std::nullopt;
}

/// Where two values of a key first differ, for a message.
std::string first_difference(const nlohmann::json& a, const nlohmann::json& b) {
  if (!a.is_array() || !b.is_array()) return "";
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return " (entry " + std::to_string(in_a - a.begin() + 1) + " is the first that does)";
}

[[noreturn]] void refuse_key(const std::string& file, const std::string& key,
                             const std::string& value, const std::string& other_value,
                             const std::string& other) {
  throw BadInput(file, "key \"" + key + "\" is " + value + ", but " + other_value + " in " + other,
                 one_command);
}

void require_same_keys(const nlohmann::json& a, const std::string& file, const nlohmann::json& b,
                       const std::string& other) {
  nlohmann::json keys = a;
  keys.update(b);
  for (const auto& [key, value] : keys.items()) {
    // Each machine may have the model elsewhere; its digest is compared.
    if (key == "model" || key == "model_path" || key == "shard") continue;
    const auto of_a = a.find(key);
    const auto of_b = b.find(key);
    if (of_a != a.end() && of_b != b.end() && *of_a == *of_b) continue;
    const auto shown_a = shown(a, key);
    const auto shown_b = shown(b, key);
    if (!shown_a && !shown_b)
      throw BadInput(
          file,
          "key \"" + key + "\" differs from that of " + other + first_difference(*of_a, *of_b),
          one_command);
    refuse_key(file, key, shown_a.value_or("longer"), shown_b.value_or("longer"), other);
  }
}

}  // namespace

std::string Shard::folder_name() const {
  return std::string(name_begins) + std::to_string(number) + std::string(name_goes_on) +
         std::to_string(of);
}

Shard read_shard(std::string_view text, const std::string& where) {
  const auto shard = read_both(text, "/");
  if (!shard)
    throw BadInput(
        where, "is " + in_quotes(text),
        "give I/N with I from 1 to N, such as 3/8, and N at most " + std::to_string(most_shards));
  return *shard;
}

std::optional<Shard> shard_of_folder(const std::string& name) {
  if (!name.starts_with(name_begins)) return std::nullopt;
  return read_both(std::string_view(name).substr(name_begins.size()), name_goes_on);
}

std::vector<Shard> shards_in(const std::filesystem::path& run) {
  std::vector<Shard> shards;
  if (!is_there(run)) return shards;
  require_no_special_file(run, "folder");
  std::error_code error;
  for (std::filesystem::directory_iterator entry(run, error), end; !error && entry != end;
       entry.increment(error))
    if (const auto shard = shard_of_folder(entry->path().filename())) shards.push_back(*shard);
  if (error)
    throw BadInput(run.string(), "cannot be read (" + error.message() + ")",
                   "give a folder that you may read");
  std::sort(shards.begin(), shards.end(), [](const Shard& a, const Shard& b) {
    return a.of != b.of ? a.of < b.of : a.number < b.number;
  });
  return shards;
}

nlohmann::ordered_json ShardIdentity::to_json() const {
  return {{"number", shard.number},
          {"of", shard.of},
          {"dealing", "before"},
          {"version", version},
          {"model", model}};
}

std::optional<ShardIdentity> ShardIdentity::from_config(const nlohmann::json& config,
                                                        const std::string& file) {
  const JsonObject whole(config, file);
  if (!whole.has("shard")) return std::nullopt;
  const JsonObject object = whole.object("shard");
  object.check_keys({"number", "of", "dealing", "version", "model"});
  ShardIdentity identity;
  identity.shard.of = object.whole_number("of", 1, most_shards);
  identity.shard.number = object.whole_number("number", 1, identity.shard.of);
  const std::string dealing = object.text("dealing");
  if (dealing == "as_asked")
    throw BadInput(object.where() + ", dealing",
                   "is \"as_asked\": ranks of MPI shared these answers out, as no later version "
                   "than 0.2.0 does",
                   "resume and merge the run with version 0.2.0, or draw it again");
  if (dealing != "before")
    throw BadInput(object.where() + ", dealing", "is " + in_quotes(dealing), remedy_for(file));
  identity.version = object.text("version");
  identity.model = object.text("model");
  return identity;
}

nlohmann::ordered_json whole_config(nlohmann::ordered_json config) {
  config.erase("shard");
  return config;
}

void require_same_run(const nlohmann::json& config, const std::string& file,
                      const nlohmann::json& other_config, const std::string& other) {
  const auto identity = ShardIdentity::from_config(config, file);
  const auto other_identity = ShardIdentity::from_config(other_config, other);
  if (!identity || !other_identity)
    throw BadInput(identity ? other : file, "has no key \"shard\": it is not a shard's",
                   "give a folder that tempera sample --shard made");
  if (identity->version != other_identity->version)
    refuse_key(file, "version", identity->version, other_identity->version, other);
  if (identity->model != other_identity->model)
    throw BadInput(file, "is of another model than " + other + " (their digests differ)",
                   "draw all shards of a run from one model");
  if (identity->shard.of != other_identity->shard.of)
    refuse_key(file, "of", std::to_string(identity->shard.of),
               std::to_string(other_identity->shard.of), other);
  require_same_keys(config, file, other_config, other);
}

}  // namespace tempera::gpu
