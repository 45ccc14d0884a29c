#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/weights/expert_tensors.hpp"
#include "gpu/llm/transformer/weights/folder_quantisation.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "gpu/llm/transformer/weights/safetensors.hpp"

namespace tempera::gpu {

class PackedWeightsFile;

/// Where an architecture gets its weights from, by name and shape, in device memory.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  /// A vector of `size` elements.
  DeviceMemory<float> vector(const std::string& name, std::size_t size);
  /// The elements of a tensor of this shape, on the host: for those that are stored otherwise than
  /// they are used.
  std::vector<float> elements(const std::string& name, const std::vector<std::uint64_t>& shape);
  /// A linear map R^in -> R^out, stored [out, in], packed for an arithmetic.
  PackedMatrix matrix(const std::string& name, std::size_t out, std::size_t in,
                      Arithmetic arithmetic);

  /// Outputs of a stored map: all, or outputs begin .. begin + out - 1 of the `stored` ones.
  struct Part {
    std::string name;
    std::size_t out;
    std::size_t begin = 0;
    std::size_t stored = 0;  // 0: `out`
  };
  /// Linear maps from the same inputs, each padded to a multiple of `lanes` outputs, in one matrix.
  PackedMatrix stacked(const std::vector<Part>& parts, std::size_t in, Arithmetic arithmetic);
  /// Vectors of `out` elements each, padded with zeros as above.
  DeviceMemory<float> stacked_vector(std::initializer_list<Part> parts);
  /// Matrices are from now on those of this file, which outlives this; what it has not is packed.
  void take_packed_from(PackedWeightsFile* file) { packed_file_ = file; }
  /// The work of all matrices so far.
  const MatrixWork& packed() const { return packed_; }

 protected:
  using Shape = std::vector<std::uint64_t>;
  /// The tensor of this name and shape; it stays until release().
  virtual const StoredTensor& tensor(const std::string& name, const Shape& shape) = 0;
  virtual void release() {}
  /// Notes that the tensor of this name and shape is used, though its bytes are not asked for.
  virtual void use(const std::string& name, const Shape& shape) { tensor(name, shape); }
  /// stacked(), which counts what this gives.
  virtual PackedMatrix pack(const std::vector<Part>& parts, std::size_t in, Arithmetic arithmetic);

 private:
  void use_all(const std::vector<Part>& parts, std::size_t in);

  MatrixWork packed_;
  PackedWeightsFile* packed_file_ = nullptr;
};

/// The tensors of files that an architecture has asked for. What it has not asked for is an error:
/// its effect would silently be lost.
class UsedTensors {
 public:
  void use(const StoredTensor& tensor) {
    used_.insert(tensor.name);
    latest_.push_back(&tensor);
  }
  /// Calls forget(tensor) for each since the last call: what is packed is not read again, and
  /// weights should not be in memory twice.
  template <class Forget>
  void forget_latest(const Forget& forget) {
    for (const auto* tensor : latest_) forget(*tensor);
    latest_.clear();
  }
  /// @throw BadInput for a tensor that is neither used nor redundant; `asker` describes the model
  void require_all(const std::map<std::string, StoredTensor>& tensors,
                   const std::function<bool(const std::string& name)>& is_redundant,
                   const std::string& asker) const;

 private:
  std::set<std::string> used_;
  std::vector<const StoredTensor*> latest_;
};

/// The tensors of a model folder. BadInput for one that is missing, has the wrong shape or dtype,
/// or holds NaN or infinity.
class FolderTensors final : public TensorSource {
 public:
  /// prefix: what the files write for the leading "model." of a name.
  explicit FolderTensors(const TensorFiles& files, std::string prefix = "model.")
      : files_(files), prefix_(std::move(prefix)) {}
  /// Linear maps are from now on dequantised, unless they are stored as they are.
  void dequantise_as(std::optional<FolderQuantisation> quantisation) {
    quantisation_ = std::move(quantisation);
  }
  /// Experts may from now on be stored in one tensor for all `experts` of a layer, as
  /// "mlp.experts.gate_up_proj" and "mlp.experts.down_proj".
  void stack_experts(std::size_t experts) { experts_ = experts; }
  /// The same, as gpt-oss has them (InterleavedExpert).
  void interleave_experts() { interleaves_ = true; }
  /// The name of a tensor in the files.
  std::string name_in_files(const std::string& name) const;
  /// Gives the stored tensor of this name wherever `name` is asked for.
  void take_for(const std::string& name, const std::string& stored) { taken_for_[name] = stored; }
  /// @throw BadInput for a tensor that nobody asked for and that is not redundant either.
  void require_all_used(const std::function<bool(const std::string& name)>& is_redundant) const {
    used_.require_all(
        files_.tensors(),
        [&](const std::string& name) {
          return is_redundant(name) || (quantisation_ && is_bias_of_zeros(files_, name));
        },
        "config.json");
  }

 private:
  const StoredTensor& tensor(const std::string& name, const Shape& shape) override;
  void use(const std::string& name, const Shape& shape) override {
    if (of_interleaved_experts(name, shape)) return;
    if (!of_stacked_experts(name, shape)) used_map(name, shape);
  }
  void release() override {
    used_.forget_latest([this](const StoredTensor& tensor) { files_.forget(tensor); });
    dequantised_.clear();
    parts_.clear();
  }
  /// The tensor that all experts of a layer share, if the one of this name is in such a one; it
  /// counts as used.
  std::optional<StoredTensor> of_stacked_experts(const std::string& name, const Shape& shape);
  std::optional<InterleavedExpert> of_interleaved_experts(const std::string& name,
                                                          const Shape& shape);
  /// The quantised map of this name, or nothing; notes what is used.
  std::optional<QuantisedMap> used_map(const std::string& name, const Shape& shape);

  const TensorFiles& files_;
  std::string prefix_;
  std::map<std::string, std::string> taken_for_;
  std::optional<FolderQuantisation> quantisation_;
  std::size_t experts_ = 0;
  bool interleaves_ = false;
  std::list<DequantisedMap> dequantised_;
  std::list<StoredTensor> parts_;
  UsedTensors used_;
};

/// Tensors made of integers alone, one key for each in the order in which they are first asked for:
/// the same bits everywhere for the same seed and calls. Matrix elements are uniform on a grid with
/// a variance of one to four thirds of 1 / inputs, those of vectors uniform in (1/2, 3/2).
class RandomTensors : public TensorSource {
 public:
  explicit RandomTensors(std::uint64_t seed);

 private:
  struct Made {
    std::vector<float> values;
    StoredTensor tensor;
  };
  const StoredTensor& tensor(const std::string& name, const Shape& shape) override;
  void release() override { made_.clear(); }

  std::uint64_t key_;
  std::map<std::string, std::uint64_t> keys_;
  std::list<Made> made_;
};

}  // namespace tempera::gpu
