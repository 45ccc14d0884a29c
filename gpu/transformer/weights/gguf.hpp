#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/mapped_file.hpp"
#include "gpu/gguf/metadata.hpp"
#include "gpu/transformer/weights/safetensors.hpp"

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

/// A GGUF file, mapped as long as this object lives.
class GgufFile {
 public:
  /// @throw BadInput as read_gguf does, or if the file cannot be read
  explicit GgufFile(const std::filesystem::path& file)
      : mapped_(file), content_(read_gguf(mapped_.bytes(), file.string())) {}

  const GgufMetadata& metadata() const { return content_.metadata; }
  const std::map<std::string, StoredTensor>& tensors() const { return content_.tensors; }
  /// Gives back the memory of a tensor's bytes until somebody reads them again.
  void forget(const StoredTensor& tensor) const { mapped_.forget(tensor.bytes); }

 private:
  MappedFile mapped_;
  GgufContent content_;
};

}  // namespace tempera::gpu
