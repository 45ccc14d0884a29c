#pragma once

#include <cstddef>
#include <filesystem>

#include "base/disk.hpp"
#include "runs/run_folder.hpp"
#include "serve/batches/batch.hpp"

namespace tempera::serve {

/// Makes the run folder of a new batch.
/// @throw BadInput if the disk does not take it
void create_batch_folder(const std::filesystem::path& folder, const Batch& batch,
                         std::size_t shards, Disk& disk);

/// The batch of a folder: what config.json and, if it is over, summary.json say.
/// @throw BadInput if they are not as create_batch_folder and BatchRun have written them
Batch read_batch(const gpu::RunFolder& folder);

}  // namespace tempera::serve
