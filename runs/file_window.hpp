#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tempera::gpu {

/// Reads a file from places that mostly ascend, through a buffer. It is open only while it is read:
/// a merge has three files of each of thousands of shards.
class FileWindow {
 public:
  FileWindow(std::filesystem::path file, std::size_t size) : file_(std::move(file)), size_(size) {}

  /// Adds the bytes [offset, offset + count) to `into`.
  /// @throw BadInput if the file is shorter or cannot be read
  void read(std::uint64_t offset, std::uint64_t count, std::string& into);
  /// The line that begins at `offset`, without its end; valid until the next call.
  /// @throw BadInput as read, and if no line ends there
  std::string_view line(std::uint64_t offset);

 private:
  void fill(std::uint64_t offset, std::size_t least);
  std::string_view at(std::uint64_t offset) const;

  std::filesystem::path file_;
  std::size_t size_;
  std::uint64_t begin_ = 0;  ///< where in the file the buffer begins
  std::string buffer_;
};

}  // namespace tempera::gpu
