#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tempera {

/// An open file descriptor; closed with the object, which gives up a lock on it.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();
  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// What a run folder does to the disk, one system call each. Every failure is a BadInput that names
/// the file, the system's reason and a remedy.
class Disk {
 public:
  /// Permissions of the files and folders that it makes, before the umask: for all, or the owner.
  static constexpr mode_t of_all = 0777;
  static constexpr mode_t of_owner = 0700;

  Disk() = default;
  explicit Disk(mode_t permissions) : permissions_(permissions) {}
  virtual ~Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  /// The machine's.
  static Disk& real();
  /// The machine's, for files that only their owner may read.
  static Disk& owners();

  /// Makes a folder, whose name is then on the disk for certain.
  void make_folder(const std::filesystem::path& folder);
  /// Makes those that are missing of a folder and the folders above it, each as make_folder;
  /// another process may make them too.
  void make_folders(const std::filesystem::path& folder);
  /// Opens a file for appending, made if it is missing.
  OpenFile open_to_append(const std::filesystem::path& file);
  /// Writes all of `bytes` at the end of an open file.
  void append(const OpenFile& open, std::string_view bytes, const std::filesystem::path& file);
  void cut(const OpenFile& open, std::uint64_t size, const std::filesystem::path& file);
  /// Forces a file's bytes to the disk.
  void force(const OpenFile& open, const std::filesystem::path& file);
  /// Forces the names in a folder to the disk: a file whose bytes are there can still lose its
  /// name.
  void force_names(const std::filesystem::path& folder);
  /// Refuses what replace() could not put there, or should not: a name that something else than a
  /// file has (a folder, a device), or one in a folder that is not there or takes no files.
  void require_replaceable(const std::filesystem::path& file);
  /// Writes a file beside its place and moves it there: it is there whole, or as it was before. A
  /// refusal leaves nothing beside it.
  void replace(const std::filesystem::path& file, std::string_view content);
  /// Gives a file or folder another name, in a folder of the same disk; it has the one or the other
  /// at any moment. A folder of this name must be empty or not there.
  void rename(const std::filesystem::path& from, const std::filesystem::path& to);
  /// Removes a file, or an empty folder; what is not there is removed already.
  void remove(const std::filesystem::path& file);
  /// Whether this process is known to be the only one that writes here, whatever locks say: those
  /// of a process that has stopped outlast its right to write.
  virtual bool is_claimed() const { return false; }

 protected:
  /// Is told of every operation before it is done; a result other than 0 is the error number that
  /// it fails with instead.
  virtual int before(const char* /*operation*/, const std::filesystem::path& /*file*/) { return 0; }

 private:
  void do_or_refuse(const char* operation, const std::filesystem::path& file,
                    const std::function<bool()>& call);

  mode_t permissions_ = of_all;
};

/// The text of an error number, as a part of a message: "(No space left on device)".
std::string reason(int error);

/// Whether something is there under this name.
/// @throw BadInput if the system cannot say: a name too long, a folder that may not be read
bool is_there(const std::filesystem::path& file);

/// Reads the first bytes of a file, piece by piece.
class FileStart {
 public:
  /// @throw BadInput if the file cannot be opened
  FileStart(std::filesystem::path file, std::uint64_t size);
  /// The next bytes, valid until the next call; none once all were handed over.
  /// @throw BadInput if the file cannot be read or is shorter
  std::string_view next();

 private:
  std::filesystem::path file_;
  std::uint64_t left_;
  OpenFile open_;
  std::vector<char> piece_;
};

/// Hands the first `size` bytes of a file to `take`, piece by piece.
/// @throw BadInput if the file cannot be read or is shorter
void read_start(const std::filesystem::path& file, std::uint64_t size,
                const std::function<void(std::string_view)>& take);

/// Hands those bytes to `take` line by line, without their ends; what no end follows is left out.
/// @throw BadInput as read_start
void read_lines(const std::filesystem::path& file, std::uint64_t size,
                const std::function<void(const std::string&)>& take);

/// How many bytes a file has.
/// @throw BadInput if the system cannot say
std::uint64_t size_of(const std::filesystem::path& file);

/// All bytes of a file of a run folder.
/// @throw BadInput if it cannot be read
std::string read_whole(const std::filesystem::path& file);

}  // namespace tempera
