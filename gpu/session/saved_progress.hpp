#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/core/sampler/progress.hpp"

namespace tempera::gpu {

/// A run between two rounds as a checkpoint keeps it: the records by their tokens and the bits of
/// their log p0.
struct SavedProgress : Position {
  std::vector<std::vector<TokenId>> replicas;
  std::vector<std::uint64_t> log_p0;  ///< bits of each record's log p0
  std::string where;                  ///< what to name if the model no longer gives these records
};

/// What a checkpoint keeps of `progress`.
SavedProgress saved(const Progress& progress, std::string where);
/// How far the run is, without its records.
inline const Position& position_of(const SavedProgress& saved) { return saved; }
/// Makes of `progress` where the run was, its records computed from the prompt on and scored again.
/// @pre run.prompt_cache holds the beginning of the prompt, or nothing
/// @throw BadInput naming saved.where if the model no longer gives these records, bit for bit
void restore(const SavedProgress& saved, const Plan& plan, const Chain& run, RowLottery& rows,
             Progress& progress);

}  // namespace tempera::gpu
