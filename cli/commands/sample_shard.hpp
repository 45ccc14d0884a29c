#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "runs/deal.hpp"
#include "runs/shard_folder.hpp"
#include "settings/sampling_settings.hpp"

namespace tempera::cli {

/// What a shard's owner may take to show life before others give it up.
inline constexpr std::chrono::seconds patience_with_ranks{60};

/// The part of a run that this command of `tempera sample` draws, and its folder.
class SampleShard {
 public:
  /// What the command line says; empty texts are options that were not given.
  struct Asked {
    std::string shard;   ///< --shard
    std::string out;     ///< --out
    std::string resume;  ///< --resume
  };

  /// The shard that --shard, the folder of --resume, or a launcher's environment asks for, which is
  /// said on stderr if it is the environment; nothing if the run is whole.
  /// @throw BadInput as gpu::launched_shard, for a shard without a folder, and for --resume of a
  /// run's folder that does not say which shard
  static std::unique_ptr<SampleShard> asked(const Asked& asked);
  ~SampleShard();

  const std::filesystem::path& run() const { return run_; }
  const gpu::Shard& shard() const { return shard_; }

  /// config.json of the shard, or of another that has begun.
  nlohmann::ordered_json config() const { return folder_->config(); }
  /// Begins the shard, or resumes it: config is the whole run's.
  /// @throw BadInput as ShardFolder::open
  gpu::RunFolder& open(const nlohmann::ordered_json& config, const std::string& model_path);
  /// Works while the claim is held, as gpu::ShardClaim::while_held does.
  template <class Work>
  auto while_held(const Work& work) {
    return folder_->while_held(work);
  }
  /// Which answers are to be drawn.
  gpu::Deal& deal(const gpu::SamplingSettings& settings);
  /// Gives the shard up. If the shards are ranks of one program, the first then waits for all and
  /// merges them.
  void end();

 private:
  SampleShard(std::filesystem::path run, const gpu::Shard& shard, bool are_ranks);

  std::filesystem::path run_;
  gpu::Shard shard_;
  bool are_ranks_;
  std::unique_ptr<gpu::ShardFolder> folder_;
  gpu::RunFolder* opened_ = nullptr;
  std::unique_ptr<gpu::Deal> deal_;
};

/// Where `tempera merge` puts the folder of the whole run.
std::filesystem::path merged_folder(const std::filesystem::path& run);

}  // namespace tempera::cli
