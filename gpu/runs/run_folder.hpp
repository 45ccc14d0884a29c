#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace tempera::gpu {

/// The folder of a run: config.json (everything resolved), events.jsonl, samples.jsonl,
/// summary.json and checkpoint. Never overwritten. A process killed at any moment leaves a folder
/// that open takes up: files are replaced whole, and what was appended after the last checkpoint is
/// cut off.
class RunFolder {
 public:
  /// Makes the folder with its config.json, both or neither.
  /// @throw BadInput if the path exists or cannot be made
  static RunFolder create(const std::filesystem::path& named, const nlohmann::ordered_json& config);
  /// Takes up a folder that create has made, at its last checkpoint.
  /// @throw BadInput if it is no run folder or its files are damaged
  static RunFolder open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// config.json.
  nlohmann::json config() const;
  /// The last checkpoint; nothing before the first.
  /// @throw BadInput if any byte of it, or of config.json, is not the one that was written
  std::optional<nlohmann::json> checkpoint() const;
  bool finished() const;

  /// Appends one line to events.jsonl or samples.jsonl.
  void append_event(const std::string& line) { append(events_, events_size_, line); }
  void append_sample(const std::string& line) { append(samples_, samples_size_, line); }
  /// Makes `state` and what was appended so far the place where a killed run is taken up.
  void save_checkpoint(nlohmann::json state);
  /// Writes summary.json: the run is done.
  void finish(const nlohmann::ordered_json& summary);

 private:
  explicit RunFolder(std::filesystem::path path);
  static void append(std::ofstream& file, std::uint64_t& size, const std::string& line);
  void open_files(std::uint64_t events_size, std::uint64_t samples_size);

  std::filesystem::path path_;
  std::ofstream events_;
  std::ofstream samples_;
  std::uint64_t events_size_ = 0;
  std::uint64_t samples_size_ = 0;
};

}  // namespace tempera::gpu
