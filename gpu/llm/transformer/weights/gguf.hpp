#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.hpp"
#include "gpu/llm/gguf/metadata.hpp"
#include "gpu/llm/transformer/weights/safetensors.hpp"

namespace tempera::gpu {

/// What a GGUF file holds. A tensor's shape is given outermost extent first, as that of a
/// safetensors file is (GGUF writes the innermost first); its dtype is GGUF's name of the type.
struct GgufContent {
  GgufMetadata metadata;
  std::map<std::string, StoredTensor> tensors;
};

/// The metadata and the tensors of a GGUF file of version 2 or 3, little-endian, checked whole:
/// every tensor is at a multiple of the alignment, directly after the one before it, in the
/// file, and has the bytes that its type and shape ask for; what is after the last is only
/// padding.
///
/// `bytes` is the file's content and must outlive the result; `file` names it in errors.
/// @throw BadInput naming file, place and remedy for anything else: no GGUF, another version or
/// byte order, false counts and lengths, types that `stored_block` does not know (by their
/// name), rows that are not whole blocks, offsets out of the file, overlaps, holes, names given
/// twice
GgufContent read_gguf(std::span<const std::byte> bytes, const std::string& file);

/// Lists the files of a model in the order of its parts, NAME-00001-of-0000N.gguf and so on,
/// without looking for them. `first` is the model's only file or its first part.
/// @throw BadInput naming file and remedy if `first` is not a GGUF file, is a later part, or is a
/// first part that is named otherwise
std::vector<std::filesystem::path> gguf_files(const std::filesystem::path& first);

/// The model of a GGUF file, or of all files into which it was split, mapped as long as this object
/// lives.
class GgufFile {
 public:
  /// Maps `file`, the only file or the first part, and all other parts, which are beside it.
  /// @throw BadInput as read_gguf and gguf_files do; if a file cannot be read; and naming the part
  /// if one is missing, has another number or count of parts than its name, has metadata that the
  /// first part lacks, or repeats a tensor, or if all parts hold another number of tensors than
  /// `split.tensors.count`
  explicit GgufFile(const std::filesystem::path& file);

  const GgufMetadata& metadata() const { return content_.metadata; }
  /// Those of all parts.
  const std::map<std::string, StoredTensor>& tensors() const { return content_.tensors; }
  /// Gives back the memory of a tensor's bytes until somebody reads them again.
  void forget(const StoredTensor& tensor) const {
    first_.forget(tensor.bytes);
    for (const auto& part : later_) part.forget(tensor.bytes);
  }

 private:
  void add_part(const std::filesystem::path& file, std::size_t number, std::size_t parts);

  MappedFile first_;
  GgufContent content_;
  std::vector<MappedFile> later_;
};

}  // namespace tempera::gpu
