#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runs/run_folder.hpp"
#include "runs/shard.hpp"
#include "serve/batches/batch.hpp"

namespace tempera::serve {

struct GenerationMakings;

/// What a shard's folder says of itself: which one it is, and of which model and version.
nlohmann::ordered_json identity_of(const gpu::Shard& shard, const GenerationMakings& makings);

/// The shard's own folder in that of its batch, which the shard's first process makes; that of
/// shard 1 is the batch's.
/// @throw BadInput if it cannot be opened or made
gpu::RunFolder open_shard(const std::filesystem::path& batch, const gpu::Shard& shard,
                          const GenerationMakings& makings, Disk& disk);

/// What the servers of a batch's other shards have answered so far, by the lines in their folders:
/// for the eyes of clients alone. A batch counts an answer once it has the whole shard's.
class AnswersElsewhere {
 public:
  struct Count {
    std::size_t completed = 0;
    std::size_t failed = 0;
  };
  AnswersElsewhere(std::filesystem::path batch, const gpu::Shard& own,
                   std::chrono::milliseconds until_look)
      : batch_(std::move(batch)), own_(own), until_look_(until_look) {}
  /// Counts what was added since the last look, which is read again after `until_look` at the
  /// earliest. `taken`: shards whose answers are counted elsewhere.
  Count look(const std::set<std::size_t>& taken);

 private:
  struct Counted {
    std::uint64_t bytes = 0;
    Count count;
  };
  void read(const std::filesystem::path& file, Counted& counted) const;

  std::filesystem::path batch_;
  gpu::Shard own_;
  std::chrono::milliseconds until_look_;
  std::map<std::size_t, Counted> shards_;
  std::chrono::steady_clock::time_point look_at_ = {};
};

/// The lines that each shard draws, ascending: those that ask for the most tokens are dealt first,
/// each to the shard with the fewest so far. A function of the lines and the number of shards.
std::vector<std::vector<std::size_t>> deal(const std::vector<InputLine>& lines,
                                           const std::string& endpoint, std::size_t shards);

}  // namespace tempera::serve
