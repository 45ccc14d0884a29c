#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tempera {

/// A file mapped into memory for reading, for as long as this object lives.
class MappedFile {
 public:
  /// @throw BadInput if the file cannot be read
  explicit MappedFile(const std::filesystem::path& file);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Gives back the memory that holds `part` of the bytes, and perhaps their neighbours; whoever
  /// reads them again has them read from the file again. Nothing if `part` is none of them.
  void forget(std::span<const std::byte> part) const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace tempera
