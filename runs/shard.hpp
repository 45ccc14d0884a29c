#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tempera::gpu {

/// One of the N parts that a run is dealt to.
struct Shard {
  std::size_t number = 1;  ///< from 1
  std::size_t of = 1;

  /// "3/8".
  std::string text() const { return std::to_string(number) + "/" + std::to_string(of); }
  /// The name of its run folder inside the run's: "shard-3-of-8".
  std::string folder_name() const;
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// The most shards of a run.
inline constexpr std::size_t most_shards = 65536;

/// The shard that "3/8" spells.
/// @throw BadInput naming `where` for anything else than I/N with 1 <= I <= N <= most_shards
Shard read_shard(std::string_view text, const std::string& where);
/// The shard whose folder has this name, if it is the name of one.
std::optional<Shard> shard_of_folder(const std::string& name);
/// The shards that have folders in a run's, in ascending order; none if there is no such folder.
std::vector<Shard> shards_in(const std::filesystem::path& run);

/// Which part of which run a folder holds: "shard" of its config.json. Beside that key the file is
/// the whole run's, so shards of one run have the same text there.
struct ShardIdentity {
  Shard shard;
  std::string version;  ///< of tempera
  std::string model;    ///< model_digest, which two machines share whatever the model's path

  nlohmann::ordered_json to_json() const;
  /// The identity in a config.json; nothing for one without the key.
  /// @throw BadInput naming `file` for a value that to_json does not give
  static std::optional<ShardIdentity> from_config(const nlohmann::json& config,
                                                  const std::string& file);
};

/// The whole run's config.json of a shard's: without "shard".
nlohmann::ordered_json whole_config(nlohmann::ordered_json config);

/// Refuses two config.json that are not of shards of one run. They may differ in where each machine
/// has the model.
/// @throw BadInput naming `file` and the first key that differs from `other`'s, with both values
void require_same_run(const nlohmann::json& config, const std::string& file,
                      const nlohmann::json& other_config, const std::string& other);

}  // namespace tempera::gpu
