#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tempera::gpu {

/// A file mapped into memory for reading, for as long as this object lives.
class MappedFile {
 public:
  /// @throw BadInput if the file cannot be read
  explicit MappedFile(const std::filesystem::path& file);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace tempera::gpu
