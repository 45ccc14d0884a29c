#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runs/shard.hpp"

namespace tempera::gpu {

/// What a launcher says of this process.
struct LaunchedShard {
  Shard shard;
  std::string said;        ///< the variables that say so, with their values
  bool are_ranks = false;  ///< whether all shards run at once, as ranks of one program
};

/// The shard that a launcher's environment makes this process: the ranks of Open MPI
/// (OMPI_COMM_WORLD_RANK, _SIZE), of MPICH and its kin (PMI_RANK, PMI_SIZE), of a Slurm step
/// (SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, if SLURM_STEP_ID shows that it is one),
/// or the tasks of a Slurm array (SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _STEP). Of these launchers the
/// first whose variables are set decides, so a step of one task in a job of four is a whole run.
/// Nothing if none is set, or if there is one rank.
///
/// `get` gives a variable's value, or nothing.
/// @throw BadInput naming a variable that is no such number, an array with gaps, and ranks inside
/// an array, which are two answers to one question
std::optional<LaunchedShard> launched_shard(
    const std::function<std::optional<std::string>(const std::string&)>& get);
/// That of this process's environment.
std::optional<LaunchedShard> launched_shard();

}  // namespace tempera::gpu
