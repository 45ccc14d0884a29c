#include "base/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/text_file.hpp"

namespace tempera {
namespace {

namespace fs = std::filesystem;

constexpr const char* other_folder = "give a folder that a run has made, and that you may read";

[[noreturn]] void refuse_to_read(const fs::path& file, int error) {
  refuse_unreadable(file, error, other_folder);
}

OpenFile open_to_read(const fs::path& file) {
  OpenFile open(open_regular_file(file, O_RDONLY));
  struct stat status {};
  if (!open || ::fstat(open.descriptor(), &status) != 0) refuse_to_read(file, errno);
  if (S_ISDIR(status.st_mode)) refuse_to_read(file, EISDIR);
  return open;
}

constexpr std::size_t piece_size = std::size_t{1} << 16;

fs::path folder_of(const fs::path& file) {
  return file.parent_path().empty() ? fs::path(".") : file.parent_path();
}

}  // namespace

OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Disk& Disk::real() {
  static Disk disk;
  return disk;
}

Disk& Disk::owners() {
  static Disk disk(of_owner);
  return disk;
}

std::string reason(int error) { return std::string("(") + std::strerror(error) + ")"; }

void Disk::do_or_refuse(const char* operation, const fs::path& file,
                        const std::function<bool()>& call) {
  int error = before(operation, file);
  if (error == 0 && !call()) error = errno;
  if (error != 0)
    throw BadInput(file.string(), std::string("cannot be ") + operation + " " + reason(error),
                   "check the name, the permissions and the disk's space");
}

void Disk::make_folder(const fs::path& folder) {
  do_or_refuse("made", folder, [&] { return ::mkdir(folder.c_str(), permissions_) == 0; });
  try {
    force_names(folder_of(folder));
  } catch (const BadInput&) {
    ::rmdir(folder.c_str());
    throw;
  }
}

void Disk::make_folders(const fs::path& folder) {
  if (folder.empty() || is_there(folder)) return;
  make_folders(folder.parent_path());
  do_or_refuse("made", folder,
               [&] { return ::mkdir(folder.c_str(), permissions_) == 0 || errno == EEXIST; });
  force_names(folder_of(folder));
}

OpenFile Disk::open_to_append(const fs::path& file) {
  OpenFile open;
  do_or_refuse("opened", file, [&] {
    open = OpenFile(
        ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, permissions_ & 0666));
    return static_cast<bool>(open);
  });
  return open;
}

void Disk::append(const OpenFile& open, std::string_view bytes, const fs::path& file) {
  while (!bytes.empty()) {
    do_or_refuse("written", file, [&] {
      const ssize_t count = ::write(open.descriptor(), bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) return false;
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      return true;
    });
  }
}

void Disk::cut(const OpenFile& open, std::uint64_t size, const fs::path& file) {
  do_or_refuse("cut", file,
               [&] { return ::ftruncate(open.descriptor(), static_cast<off_t>(size)) == 0; });
}

void Disk::force(const OpenFile& open, const fs::path& file) {
  do_or_refuse("forced to the disk", file, [&] { return ::fsync(open.descriptor()) == 0; });
}

void Disk::force_names(const fs::path& folder) {
  const OpenFile open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open) force(open, folder);
}

void Disk::require_replaceable(const fs::path& file) {
  struct stat status {};
  require_no_special_file(file);
  if (::stat(file.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throw BadInput(file.string(), "is a folder, and no file", "give the name of a file");
  const fs::path folder = folder_of(file);
  if (::stat(folder.c_str(), &status) != 0 || ::access(folder.c_str(), W_OK) != 0)
    throw BadInput(file.string(), "cannot be put into its folder " + reason(errno),
                   "give a folder that is there and may be written to");
}

void Disk::replace(const fs::path& file, std::string_view content) {
  require_replaceable(file);
  const fs::path beside = file.string() + ".new";
  try {
    {
      const OpenFile open = open_to_append(beside);
      cut(open, 0, beside);
      append(open, content, beside);
      force(open, beside);
    }
    do_or_refuse("put in its place", file,
                 [&] { return ::rename(beside.c_str(), file.c_str()) == 0; });
  } catch (const BadInput&) {
    ::unlink(beside.c_str());
    throw;
  }
  force_names(folder_of(file));
}

void Disk::rename(const fs::path& from, const fs::path& to) {
  do_or_refuse("put in its place", to, [&] { return ::rename(from.c_str(), to.c_str()) == 0; });
  force_names(folder_of(to));
}

void Disk::remove(const fs::path& file) {
  do_or_refuse("removed", file, [&] { return ::remove(file.c_str()) == 0 || errno == ENOENT; });
}

bool is_there(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw BadInput(file.string(), "cannot be looked at " + reason(errno),
                 "check the name and the permissions");
}

FileStart::FileStart(fs::path file, std::uint64_t size)
    : file_(std::move(file)), left_(size), open_(open_to_read(file_)), piece_(piece_size) {}

std::string_view FileStart::next() {
  while (left_ > 0) {
    const ssize_t got =
        ::read(open_.descriptor(), piece_.data(),
               static_cast<std::size_t>(std::min<std::uint64_t>(left_, piece_.size())));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse_to_read(file_, errno);
    if (got == 0)
      throw BadInput(file_.string(), "is shorter than its checkpoint says",
                     "the folder was changed by another program; start the run again elsewhere");
    left_ -= static_cast<std::uint64_t>(got);
    return {piece_.data(), static_cast<std::size_t>(got)};
  }
  return {};
}

void read_start(const fs::path& file, std::uint64_t size,
                const std::function<void(std::string_view)>& take) {
  FileStart start(file, size);
  for (std::string_view piece = start.next(); !piece.empty(); piece = start.next()) take(piece);
}

void read_lines(const fs::path& file, std::uint64_t size,
                const std::function<void(const std::string&)>& take) {
  std::string line;
  read_start(file, size, [&](std::string_view bytes) {
    for (std::size_t end = 0; (end = bytes.find('\n')) != std::string_view::npos;) {
      line += bytes.substr(0, end);
      take(line);
      line.clear();
      bytes.remove_prefix(end + 1);
    }
    line += bytes;
  });
}

std::uint64_t size_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) refuse_to_read(file, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

std::string read_whole(const fs::path& file) { return read_text_file(file, other_folder); }

}  // namespace tempera
