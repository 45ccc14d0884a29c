#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/checksum.hpp"
#include "base/disk.hpp"

namespace tempera::gpu {

/// The file journal-SEAL of a run folder: line by line what has happened since the checkpoint of
/// that checksum, or since the beginning, the checksum then being that of config.json. Every line
/// begins with the checksum of the checkpoint and all lines up to itself, so that none can be
/// edited unseen; but the file may end early, or in the middle of a line, which a killed process
/// leaves.
///
/// A line that is appended is given to the system, which keeps it whatever becomes of the process;
/// what has been forced is kept when the power fails too.
class Journal {
 public:
  /// That of a checkpoint; nothing is read or made. `disk` must outlive the object.
  Journal(std::filesystem::path folder, const Checksum& checkpoint, Disk& disk);

  /// Whether a file of a run folder has the name of a journal, of this or another checkpoint.
  static bool is_name(const std::string& name);
  std::string name() const;

  /// Finds where the last whole line ends.
  /// @throw BadInput if a line is not what was appended
  void read();
  /// Cuts off what is after that.
  void cut();
  /// Keeps a line for the next write(): one write for all lines of a batch costs less than one
  /// each.
  void gather(std::string_view line);
  /// Appends what was gathered.
  /// @throw BadInput if it cannot be written; then for every other line too, for the file may end
  /// in the middle of this one
  void write();
  /// Appends a line at once.
  /// @throw BadInput as write
  void append(std::string_view line);
  /// Forces what was gathered and appended to the disk.
  /// @throw BadInput as write
  void force();
  /// Removes the file.
  void remove();
  /// Hands over each line, without its checksum and its end, and its place for messages.
  void for_each(
      const std::function<void(std::string_view line, const std::string& where)>& take) const;

 private:
  std::filesystem::path file() const { return folder_ / name(); }

  std::filesystem::path folder_;
  Checksum checkpoint_;
  Disk* disk_;
  OpenFile open_;
  Checksum checksum_;  ///< of the checkpoint and all lines
  std::uint64_t bytes_ = 0;
  std::string gathered_;   ///< whole lines with their checksums
  bool has_file_ = false;  ///< which a power failure may have left empty
  bool is_forced_ = true;
  std::exception_ptr failure_;
};

}  // namespace tempera::gpu
