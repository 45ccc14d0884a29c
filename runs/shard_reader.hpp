#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runs/file_window.hpp"
#include "runs/held_runs.hpp"
#include "runs/part_line.hpp"
#include "runs/run_folder.hpp"
#include "runs/run_speed.hpp"

namespace tempera::gpu {

/// The finished folder of a shard, read answer by answer in the order of the runs.
class ShardReader {
 public:
  /// window: the bytes of each buffer, of which there are three
  ShardReader(std::filesystem::path folder, std::size_t window);

  /// Checks that the shard is one of this run, and marks its runs. Several shards may be checked
  /// at the same time.
  /// @throw BadInput if it is another run's, if one of its runs is marked already, or if its parts
  /// do not count the bytes of its files
  void check(const RunFolder& folder, const nlohmann::json& config, const std::string& config_name,
             HeldRuns& held);
  const RunSpeed& speed() const { return speed_; }

  /// The run of the next answer; nothing at the end.
  std::optional<std::size_t> run_index();
  /// That answer's line of parts.jsonl; valid until the next call of run_index.
  /// @pre run_index has given it
  std::string_view part_line() const { return line_; }
  /// The name of parts.jsonl, for messages.
  const std::string& part_file() const { return name_; }
  /// Adds that answer's events and line to `events` and `samples`, and goes on to the one after it.
  /// @pre run_index has given it
  void take(std::string& events, std::string& samples);

 private:
  /// Where the part, events and line of an answer begin.
  struct Offsets {
    std::uint64_t part = 0;
    std::uint64_t events = 0;
    std::uint64_t sample = 0;
  };
  static Offsets after(const Offsets& at, std::size_t line, const Part& part) {
    return {at.part + line + 1, at.events + part.events, at.sample + part.sample};
  }

  std::filesystem::path folder_;
  std::string name_;
  FileWindow parts_;
  FileWindow events_;
  FileWindow samples_;
  std::size_t runs_ = 0;     ///< of the whole run
  std::size_t answers_ = 0;  ///< of the shard
  RunSpeed speed_;
  std::size_t taken_ = 0;
  Offsets at_;
  std::string_view line_;
  Part part_;
};

}  // namespace tempera::gpu
