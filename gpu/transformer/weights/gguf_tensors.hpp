#pragma once

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "gpu/transformer/weights/gguf.hpp"
#include "gpu/transformer/weights/tensor_source.hpp"

namespace tempera::gpu {

/// llama.cpp's name of a tensor that Hugging Face names so; empty where it has none.
std::string gguf_name(const std::string& name);

/// The tensors of a GGUF file under Hugging Face's names. BadInput for one that is missing, has the
/// wrong shape, or holds NaN or infinity.
///
/// Hugging Face rotates element d of a head with element d + head_dim / 2. For architectures whose
/// files have those two as neighbours, the rows of queries and keys are put back in its order.
class GgufTensors final : public TensorSource {
 public:
  /// pairs_neighbours: whether they are; head_dim: the size of a head.
  GgufTensors(const GgufFile& file, bool pairs_neighbours, std::size_t head_dim)
      : file_(file), pairs_neighbours_(pairs_neighbours), head_dim_(head_dim) {}
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
  void release() override {
    reordered_.clear();
    used_.forget_latest([this](const StoredTensor& tensor) { file_.forget(tensor); });
  }

  const GgufFile& file_;
  bool pairs_neighbours_;
  std::size_t head_dim_;
  UsedTensors used_;
  std::list<Reordered> reordered_;
};

}  // namespace tempera::gpu
