#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runs/run_folder.hpp"
#include "runs/shard.hpp"
#include "runs/shard_claim.hpp"

namespace tempera::gpu {

/// A shard's own run folder inside the run's, held by this process.
class ShardFolder {
 public:
  /// Claims the shard, unless it is finished: then it is read only, also on a disk that cannot be
  /// written.
  /// @throw BadInput if another process draws it, or `run` was dealt to another number of shards
  ShardFolder(std::filesystem::path run, const Shard& shard,
              const std::function<void(const std::string&)>& say = {}, ClaimTimes times = {});

  /// config.json of this shard, or, if it has not begun, what it must be by that of another shard.
  /// @throw BadInput if there is none
  nlohmann::ordered_json config() const;
  /// Begins the shard with this config.json, or resumes it.
  /// @throw BadInput if the folder, or that of another shard, is of another run
  RunFolder& open(const nlohmann::ordered_json& config);
  /// Works while the claim is held, as ShardClaim::while_held does.
  template <class Work>
  auto while_held(const Work& work) {
    return claim_ ? claim_->while_held(work) : work();
  }

 private:
  std::filesystem::path run_;
  Shard shard_;
  std::filesystem::path path_;
  std::optional<ShardClaim> claim_;  ///< of a shard that is not finished
  std::optional<ClaimedDisk> disk_;
  std::optional<RunFolder> folder_;
};

/// Waits until all shards of a run are finished.
/// @throw BadInput naming a shard whose process has ended, or stood still for `patience`, without
/// finishing it, and the command that goes on with it
/// stop: asked now and then whether to give up; then the result is false
bool wait_for_shards(const std::filesystem::path& run, std::size_t shards,
                     std::chrono::milliseconds patience, const std::function<bool()>& stop);

}  // namespace tempera::gpu
