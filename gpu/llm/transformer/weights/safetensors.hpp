#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.hpp"

namespace tempera::gpu {

/// A tensor as a safetensors file stores it: row-major, little-endian, not necessarily aligned.
struct StoredTensor {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;
  /// The file that holds it, for errors.
  std::string file;
};

/// @throw BadInput naming file and tensor unless the tensor has the shape that `asker` asks for
void require_shape(const StoredTensor& tensor, std::span<const std::uint64_t> shape,
                   const std::string& asker);

/// The header of a safetensors file, checked whole: every byte of the data belongs to exactly one
/// tensor, and every tensor has the bytes that its dtype and shape ask for.
///
/// `bytes` is the file's content and must outlive the result; `file` names it in errors.
/// @throw BadInput naming file, tensor and remedy for anything else: a false length, truncated
/// data, offsets out of the file, overlapping, or with holes between, a name given twice, a header
/// that is not JSON in UTF-8.
std::map<std::string, StoredTensor> read_safetensors(std::span<const std::byte> bytes,
                                                     const std::string& file);

/// The tensors of a model folder: those of model.safetensors, or else those of the files that
/// model.safetensors.index.json lists. The files stay mapped as long as this object lives.
class TensorFiles {
 public:
  /// @throw BadInput as read_safetensors does, if the folder holds neither file, or if an index and
  /// its files disagree.
  explicit TensorFiles(const std::filesystem::path& folder);

  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  /// The file that names all tensors: the index, or the only file.
  const std::string& file() const { return file_; }
  /// The tensor of this name; BadInput unless it exists and has this shape.
  const StoredTensor& tensor(const std::string& name, std::span<const std::uint64_t> shape) const;
  /// Gives back the memory of a tensor's bytes until somebody reads them again.
  void forget(const StoredTensor& tensor) const {
    for (const auto& file : files_) file.forget(tensor.bytes);
  }

 private:
  void map_file(const std::filesystem::path& file);
  void map_index(const std::filesystem::path& folder, const std::filesystem::path& index);

  std::vector<MappedFile> files_;
  std::map<std::string, StoredTensor> tensors_;
  std::string file_;
};

}  // namespace tempera::gpu
