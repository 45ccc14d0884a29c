#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/llm/transformer/weights/expert_tensors.hpp"
#include "gpu/llm/transformer/weights/gguf.hpp"
#include "gpu/llm/transformer/weights/tensor_source.hpp"

namespace tempera::gpu {

/// llama.cpp's name, in the files of an architecture, of a tensor that Hugging Face names so; empty
/// if it has none.
std::string gguf_name(const std::string& name, std::string_view architecture);

/// The value heads of a gated DeltaNet as llama.cpp's files have them, at their tiled_index:
/// convert_hf_to_gguf.py moves them, so that all key heads can be repeated one after the other.
struct TiledHeads {
  std::size_t key_heads;
  std::size_t value_heads;   // a multiple of key_heads
  std::size_t leading_rows;  // of queries and keys, before those of the values

  /// Whether the inputs of a linear map from all value heads can be put back in order: blocks of
  /// its dtype must not hold inputs of two heads.
  bool can_reorder_inputs(const StoredTensor& map) const;
};

/// How rows and inputs of a file's tensors are ordered, if that is not Hugging Face's way.
struct GgufOrder {
  /// Whether elements d and d + head_dim / 2 of a query or key, which rotate together, are
  /// neighbours.
  bool pairs_neighbours = false;
  std::size_t head_dim = 0;
  std::optional<TiledHeads> tiled;
  /// Those of a layer, which are stacked in one tensor for each of their maps; 0: none.
  std::size_t experts = 0;
};

/// The tensors of a GGUF file under Hugging Face's names, shapes and order. BadInput for one that
/// is missing, has the wrong shape, or holds NaN or infinity. A linear map whose inputs cannot be
/// put back in order (TiledHeads::can_reorder_inputs) has them as the file does. What an
/// architecture's converter did to values is not undone.
class GgufTensors final : public TensorSource {
 public:
  GgufTensors(const GgufFile& file, const GgufOrder& order) : file_(file), order_(order) {}
  /// @throw BadInput for a tensor of the file that nobody asked for and that is not redundant
  /// either; `name` is the file's.
  void require_all_used(const std::function<bool(const std::string& name)>& is_redundant) const {
    used_.require_all(file_.tensors(), is_redundant, "metadata");
  }

 private:
  struct Reordered {
    std::vector<std::byte> bytes;
    StoredTensor tensor;
  };
  const StoredTensor& tensor(const std::string& name, const Shape& shape) override;
  void use(const std::string& name, const Shape& shape) override { stored(name, shape); }
  /// A tensor as it is in the file, of an expert that of all of them, and at which of each expert's
  /// rows it begins there.
  struct Found {
    const StoredTensor* tensor = nullptr;
    std::size_t begin = 0;
  };
  /// Finds it; it counts as used.
  Found stored(const std::string& name, const Shape& shape);
  /// The tensor with other bytes, which stay until release().
  const StoredTensor& reordered(const StoredTensor& stored, std::vector<std::byte> bytes);
  void release() override {
    reordered_.clear();
    parts_.clear();
    used_.forget_latest([this](const StoredTensor& tensor) { file_.forget(tensor); });
  }

  const GgufFile& file_;
  const GgufOrder order_;
  UsedTensors used_;
  std::list<Reordered> reordered_;
  std::list<StoredTensor> parts_;
};

}  // namespace tempera::gpu
