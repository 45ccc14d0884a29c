#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "base/disk.hpp"

namespace tempera::gpu {

/// What a merge has made, or found made.
struct MergedRun {
  std::filesystem::path folder;
  std::size_t shards = 0;
  std::size_t prompts = 0;
  std::size_t answers = 0;
  bool was_there = false;  ///< whether an earlier merge has made it
};

struct MergeOptions {
  std::string version = {};  ///< of the program that merges; shards of another are refused
  std::function<void(double)> share_done = {};  ///< told now and then how much is done, 0 to 1
  Disk* disk = &Disk::real();
};

/// Makes of the shards in `run` the folder that one process would have made, byte for byte but for
/// speed.json, which is their sum. It is at `merged` whole or not at all. Memory does not grow with
/// the number of answers, but for shards that were dealt as they asked and resumed: these take 32
/// bytes an answer.
///
/// @throw BadInput naming what is wrong and the command that mends it: no shard, shards of several
/// N, one that is missing or not finished, one of another run, model or version, an answer that two
/// shards or none hold, a file that is not what its shard wrote, a disk that is full
MergedRun merge_shards(const std::filesystem::path& run, const std::filesystem::path& merged,
                       const MergeOptions& options = {});

/// The command that draws a shard, or what is left of it.
std::string command_for(const std::filesystem::path& run, std::size_t shard, std::size_t shards);

}  // namespace tempera::gpu
