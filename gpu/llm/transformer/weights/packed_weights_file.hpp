#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/disk.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"

namespace tempera::gpu {

/// A file of packed weights cannot be made or had; the weights can still be packed in memory.
class NoPackedWeights final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The packed matrices of one model under one arithmetic in one file, which processes of a host map
/// instead of packing them: their memory is then the file's, and all share it.
///
/// The file is matrices, each at a multiple of 4096 bytes, a directory of them, and a last line
/// that says where the directory is. It is there whole or not at all: it is written as FILE.new,
/// forced to the disk and moved to its place. Whoever makes it holds a lock on FILE.new, which
/// others wait for. Every byte of it is checked each time that it is mapped, because a damaged
/// weight would change answers and nothing else would show it. No file is changed once it has its
/// name.
class PackedWeightsFile {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Maps a file whose directory has this key; nothing if there is none, or it is of another key,
  /// cut or damaged. `say` hears of the last.
  static std::unique_ptr<PackedWeightsFile> open(const std::filesystem::path& file,
                                                 const std::string& key, const Say& say);
  /// The same, but where open() gives nothing the result makes the file: of processes that come at
  /// once the first, for which the others wait.
  /// @throw NoPackedWeights if it cannot be begun, or whoever makes it adds nothing for `patience`
  static std::unique_ptr<PackedWeightsFile> open_or_make(
      const std::filesystem::path& file, const std::string& key, const Say& say,
      std::chrono::milliseconds patience = std::chrono::minutes(5), Disk& disk = Disk::real());

  ~PackedWeightsFile();
  PackedWeightsFile(const PackedWeightsFile&) = delete;
  PackedWeightsFile& operator=(const PackedWeightsFile&) = delete;

  /// The matrix that `what` describes, mapped. What the file has not is packed; a file that is
  /// being made then has it.
  /// @throw NoPackedWeights if the disk does not take it, and what `pack` throws
  PackedMatrix matrix(const std::string& what, const std::function<PackedMatrix()>& pack);
  /// Gives a file that is being made its name.
  /// @throw NoPackedWeights if the disk does not take it
  void finish();

  /// Matrices that were packed and not mapped.
  std::uint64_t packed() const { return packed_; }
  /// Whether this process makes the file, or has made it.
  bool is_maker() const { return static_cast<bool>(made_); }
  const std::filesystem::path& file() const { return file_; }
  /// Bytes of the file so far.
  std::uint64_t size() const { return size_; }

 private:
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sum = 0;
  };
  struct Entry {
    std::size_t in = 0;
    std::size_t out = 0;
    Arithmetic arithmetic = Arithmetic::float32;
    StoredAs stored_as = StoredAs::float32;
    Place weights;
    Place blocks;
    std::shared_ptr<const void> mapping;  ///< of the file from `mapped_at` on
    std::uint64_t mapped_at = 0;
  };

  PackedWeightsFile(std::filesystem::path file, std::string key, Disk& disk);
  void read();
  void read_directory(const OpenFile& open);
  Place append(const void* bytes, std::uint64_t size);
  Entry append(const PackedMatrix& matrix);
  std::string directory() const;
  static PackedMatrix mapped(const Entry& entry);
  std::filesystem::path unfinished() const { return file_.string() + ".new"; }

  std::filesystem::path file_;
  std::string key_;
  Disk* disk_;
  std::map<std::string, Entry> entries_;
  OpenFile made_;  ///< FILE.new, locked
  bool is_finished_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t packed_ = 0;
};

/// A digest of how pack_matrices packs under an arithmetic: of what it makes of given weights of
/// every dtype. It changes with the layout of packed weights, and with nothing else.
std::string packing_digest(Arithmetic arithmetic);

}  // namespace tempera::gpu
