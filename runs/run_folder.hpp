#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.hpp"
#include "base/disk.hpp"
#include "runs/journal.hpp"
#include "runs/line_place.hpp"
#include "runs/run_speed.hpp"

namespace tempera::gpu {

/// The remedy for files that are not what the run wrote, if no shard of it is known to have them.
inline constexpr const char* start_elsewhere =
    "the folder was changed by another program; start the run again elsewhere";
/// The same for one of these files: in the folder of a shard it is to draw that shard again, since
/// nothing else of the run is lost.
/// @param file  its path, also with what is wrong there after it, such as ", line 3"
const char* remedy_for(const std::filesystem::path& file);

/// The folder of a run: config.json (everything resolved), events.jsonl, samples.jsonl,
/// prompt_reports.jsonl (if prompts have ids: what was counted of each that has ended),
/// summary.json, speed.json (what the run took, up to the last checkpoint) and checkpoint; of a
/// shard also parts.jsonl (what its merge needs of each answer, in the order of samples.jsonl);
/// while it runs, also waiting-N.jsonl, the events of sample N whose turn in events.jsonl has not
/// come, and a journal. Never overwritten, and held by one process at a time (a lock on
/// events.jsonl).
///
/// A process killed at any moment leaves a folder that open resumes: files are replaced whole, and
/// what was appended to the others after the last checkpoint is cut off, to be written again from
/// the journal. So does a power failure, whatever it takes of what was not forced: bytes, and names
/// of files. The checkpoint seals config.json, itself and every byte of the other files up to it,
/// so that none of them can be edited unseen.
class RunFolder {
 public:
  /// Makes the folder with its config.json, or takes an empty one. `disk` must outlive the object.
  /// @throw BadInput if something else is there, or the folder cannot be made
  static RunFolder create(const std::filesystem::path& named, const nlohmann::ordered_json& config,
                          Disk& disk = Disk::real());
  /// Resumes a folder that create has made, at its last checkpoint. A finished run is only read,
  /// and needs no right to write.
  /// @throw BadInput if it is no run folder, its files are not those that were written, or another
  /// process holds it
  static RunFolder open(const std::filesystem::path& path, Disk& disk = Disk::real());
  /// The same of several: the seals of all their files are compared together, which takes a
  /// fraction of the time of one after the other.
  /// @throw BadInput as open, for one of those that are wrong
  static std::vector<RunFolder> open_together(const std::vector<std::filesystem::path>& paths,
                                              Disk& disk = Disk::real());

  const std::filesystem::path& path() const { return path_; }
  /// config.json.
  /// @throw BadInput if it is no JSON
  nlohmann::json config() const;
  /// The state of the last checkpoint; nothing before the first.
  const std::optional<nlohmann::json>& checkpoint() const { return state_; }
  bool finished() const { return summary_.has_value(); }
  /// summary.json of a finished run.
  nlohmann::ordered_json summary() const { return nlohmann::ordered_json::parse(*summary_); }
  /// speed.json: of the processes that have been at work here; of none if it is missing.
  /// @throw BadInput if it is not as tempera writes it
  RunSpeed speed() const;
  /// The same, and the speed of no process if the file is damaged: nothing else hangs on it. `say`,
  /// if it is given, hears what is wrong.
  RunSpeed speed_or_none(const std::function<void(const std::string&)>& say = {}) const;
  /// Hands over each line of samples.jsonl, without its end.
  void for_each_sample(const std::function<void(const std::string&)>& take) const;
  /// Hands over each line of prompt_reports.jsonl, without its end.
  void for_each_prompt_report(const std::function<void(const std::string&)>& take) const;
  /// Hands over each line of parts.jsonl, without its end, and its place for messages.
  void for_each_part(
      const std::function<void(const std::string& line, const LinePlace& where)>& take) const;
  /// How many bytes of a file the checkpoint seals; 0 of a file that is not there.
  std::uint64_t sealed_bytes(const std::string& name) const;

  /// Appends one line to events.jsonl, samples.jsonl, prompt_reports.jsonl or parts.jsonl.
  void append_event(const std::string& line) { append("events.jsonl", line + '\n'); }
  void append_sample(const std::string& line) { append("samples.jsonl", line + '\n'); }
  void append_prompt_report(const std::string& line) {
    append("prompt_reports.jsonl", line + '\n');
  }
  void append_part(const std::string& line) { append("parts.jsonl", line + '\n'); }
  /// Appends whole lines to events.jsonl and samples.jsonl.
  void append_answers(std::string_view events, std::string_view samples);
  /// Appends whole lines to prompt_reports.jsonl.
  void append_prompt_reports(std::string_view lines) { append("prompt_reports.jsonl", lines); }
  /// Appends whole lines to the file in which the events of a sample wait for its turn.
  void buffer_events(std::size_t sample, std::string_view events);
  /// The sample's turn: what waits in its file goes to events.jsonl, and `events` after it.
  /// Returns how many bytes these are.
  std::uint64_t flush_events(std::size_t sample, std::string_view events);
  /// What has happened since the last checkpoint.
  Journal& journal() { return journal_; }
  /// Makes `state` and what was appended so far the place where a killed run is resumed.
  void save_checkpoint(nlohmann::json state);
  /// Writes speed.json: what no process would measure again, so it is not sealed.
  void write_speed(const nlohmann::ordered_json& speed);
  /// Writes summary.json after a last checkpoint, of `state` or of the one before: the run is done.
  void finish(const nlohmann::ordered_json& summary, nlohmann::json state = nullptr);

 private:
  /// How much of a file is written, and the checksum of it.
  struct Written {
    std::uint64_t bytes = 0;
    Checksum checksum;
    bool forced = true;  ///< whether it is on the disk for certain
    OpenFile open = {};  ///< for appending, once something was appended
  };

  RunFolder(std::filesystem::path path, Disk& disk);
  void lock(bool make);
  void unmake(bool folder_too);
  void read_checkpoint();
  void read_journal();
  /// Opens the folder but for what its files' bytes say.
  static RunFolder open_unread(const std::filesystem::path& path, Disk& disk);
  static void verify(const std::vector<RunFolder>& folders);
  void require_whole(const std::string& name, const Written& written,
                     const Checksum& checksum) const;
  void require_summary() const;
  void take_up();
  void append(const std::string& name, std::string_view lines);
  /// Writes the lines, whose checksum is for the caller to take.
  Written& write(const std::string& name, std::string_view lines);
  /// The file, opened for appending if it is not yet.
  const OpenFile& opened(const std::string& name, Written& written);
  void for_each_line(const std::string& name,
                     const std::function<void(const std::string&)>& take) const;
  void write_checkpoint();
  void write_summary();
  void remove_strays();

  std::filesystem::path path_;
  Disk* disk_;
  OpenFile lock_;
  std::string config_;
  std::map<std::string, Written> files_;
  Journal journal_;
  bool has_new_names_ = false;  ///< whether a file may be new since its names were last forced
  std::vector<std::string> released_;  ///< files to remove once a checkpoint does without them
  std::optional<nlohmann::json> state_;
  std::optional<std::string> summary_;
  bool is_finished_ = false;  ///< whether it was, with its summary.json, as it was opened
};

}  // namespace tempera::gpu
