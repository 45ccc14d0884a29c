#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/jobs/run_folder.hpp"
#include "gpu/jobs/shard.hpp"
#include "serve/batches/batch_run.hpp"

namespace tempera::serve {

/// What a shard's folder says of itself: which one it is, and of which model and version.
nlohmann::ordered_json identity_of(const gpu::Shard& shard, const GenerationMakings& makings);

/// The shard's own folder in that of its batch, which the shard's first process makes; that of
/// shard 1 is the batch's.
/// @throw BadInput if it cannot be opened or made
gpu::RunFolder open_shard(const std::filesystem::path& batch, const gpu::Shard& shard,
                          const GenerationMakings& makings, Disk& disk);

/// The lines that each shard draws, ascending: those that ask for the most tokens are dealt first,
/// each to the shard with the fewest so far. A function of the lines and the number of shards.
std::vector<std::vector<std::size_t>> deal(const std::vector<std::string_view>& lines,
                                           const std::string& endpoint, std::size_t shards);

}  // namespace tempera::serve
