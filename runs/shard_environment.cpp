#include "runs/shard_environment.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace tempera::gpu {
namespace {

using Get = std::function<std::optional<std::string>(const std::string&)>;

constexpr const char* say_it = "say which shard this is with --shard I/N";

std::optional<std::size_t> number(const Get& get, const std::string& name) {
  const std::optional<std::string> text = get(name);
  if (!text) return std::nullopt;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size())
    throw BadInput(name, "is " + in_quotes(*text) + ", which is not a whole number", say_it);
  return value;
}

std::string said(const std::string& name, std::size_t value) {
  return name + "=" + std::to_string(value);
}

/// The variables of one launcher, whose ranks count from 0.
struct Launcher {
  const char* rank;
  const char* size;
  const char* step = nullptr;  ///< without this variable the process is not one of the ranks
};

/// The first that sets both of its variables decides, also where it says that there is one rank:
/// the later ones may speak of a whole job in which this launcher has started a part.
constexpr std::array launchers{
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    Launcher{"PMI_RANK", "PMI_SIZE"},
    // A batch script itself is process 0 of many, and only a step runs them all.
    Launcher{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
    Launcher{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
};

std::optional<LaunchedShard> any_ranks(const Get& get) {
  for (const auto& [rank, size, step] : launchers) {
    if (step != nullptr && !get(step)) continue;
    const auto of = number(get, size);
    const auto index = number(get, rank);
    if (!of || !index) continue;
    if (*index >= *of || *of > most_shards)
      throw BadInput(rank, "is " + std::to_string(*index) + " of " + std::to_string(*of), say_it);
    if (*of == 1) return std::nullopt;
    return LaunchedShard{{*index + 1, *of}, said(rank, *index) + ", " + said(size, *of), true};
  }
  return std::nullopt;
}

std::optional<LaunchedShard> task_of_array(const Get& get) {
  const auto id = number(get, "SLURM_ARRAY_TASK_ID");
  const auto count = number(get, "SLURM_ARRAY_TASK_COUNT");
  if (!id || !count || *count <= 1) return std::nullopt;
  const std::size_t least = number(get, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::size_t step = number(get, "SLURM_ARRAY_TASK_STEP").value_or(1);
  const bool is_even = step > 0 && *id >= least && (*id - least) % step == 0;
  if (!is_even || (*id - least) / step >= *count || *count > most_shards)
    throw BadInput("SLURM_ARRAY_TASK_ID",
                   "is " + std::to_string(*id) + " in an array of " + std::to_string(*count) +
                       " tasks that has gaps",
                   say_it);
  return LaunchedShard{
      {(*id - least) / step + 1, *count},
      said("SLURM_ARRAY_TASK_ID", *id) + ", " + said("SLURM_ARRAY_TASK_COUNT", *count),
      false};
}

}  // namespace

std::optional<LaunchedShard> launched_shard(const Get& get) {
  const auto of_ranks = any_ranks(get);
  const auto of_array = task_of_array(get);
  if (of_ranks && of_array)
    throw BadInput("SLURM_ARRAY_TASK_ID",
                   "is that of an array whose tasks have ranks (" + of_ranks->said + ")", say_it);
  return of_ranks ? of_ranks : of_array;
}

std::optional<LaunchedShard> launched_shard() {
  return launched_shard([](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace tempera::gpu
