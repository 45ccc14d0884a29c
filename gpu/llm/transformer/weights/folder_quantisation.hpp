#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_document.hpp"
#include "gpu/llm/transformer/weights/safetensors.hpp"

namespace tempera::gpu {

/// How a folder's linear maps are quantised, by config.json's "quantization_config". A weight is by
/// definition what the tool that is named here dequantises it to, whatever is done to the inputs of
/// a product where the tool multiplies: they are not rounded here.
struct FolderQuantisation {
  enum class Method : std::uint8_t {
    /// transformers' Fp8Dequantize: the float32 product of an e4m3 and the scale of its block of
    /// `block` outputs and inputs (NAME.weight_scale_inv), rounded to `dtype`.
    fp8,
    /// compressed-tensors' "pack-quantized": (q − z)·scale, rounded to the scale's dtype; q has
    /// `bits` bits of NAME.weight_packed, less 2^(bits − 1).
    packed,
    /// compressed-tensors' "int-quantized", "float-quantized" and "naive-quantized": the same, q
    /// being the int8 or e4m3 that NAME.weight is.
    naive,
    /// AutoAWQ's dequantize_gemm: (q − z)·scale, rounded to the scale's dtype.
    awq,
    /// GPTQModel's and AutoGPTQ's: (q − z)·scale, rounded to the scale's dtype, the scale and z
    /// being those of group g_idx[input]; z is one more than what the file holds, unless its format
    /// is "gptq_v2".
    gptq,
    /// gpt-oss's: of its experts alone, which InterleavedExpert reads.
    mxfp4,
  };
  Method method;
  unsigned bits = 8;
  /// Inputs that share a scale; 0: all.
  std::size_t group = 0;
  bool has_zeros = false;
  bool zeros_lack_one = false;
  std::vector<std::uint64_t> block = {};
  std::string dtype = {};
};

/// Reads what config.json asks for; nothing if it does not quantise.
/// @throw BadInput naming the key for a method, a key or a value that is not computed
std::optional<FolderQuantisation> read_quantisation(const JsonObject& config);

/// The tensors of a folder that a quantised linear map NAME is made of.
struct QuantisedMap {
  const StoredTensor* quants = nullptr;
  const StoredTensor* scales = nullptr;
  const StoredTensor* zeros = nullptr;
  const StoredTensor* groups = nullptr;
  const StoredTensor* shape = nullptr;

  std::vector<const StoredTensor*> all() const;
};

/// Those of the map whose weight is `name` (NAME.weight) and has this shape, [out, in]; nothing if
/// it is stored as it is.
/// @throw BadInput naming file and tensor if one is missing, or has another shape or dtype than the
/// map's and the configuration's
std::optional<QuantisedMap> quantised_map(const TensorFiles& files,
                                          const FolderQuantisation& quantisation,
                                          const std::string& name,
                                          const std::vector<std::uint64_t>& shape);

/// Its values, in memory of their own: two bytes a weight, or four if the scales are float32.
struct DequantisedMap {
  std::vector<std::byte> bytes;
  StoredTensor tensor;
};
/// @throw BadInput naming file and tensor for a scale that is NaN or infinite, or in FP8 not above
/// 0, for the number of a group that the map lacks, and for a zero point that tools read
/// differently
DequantisedMap dequantised_map(const QuantisedMap& map, const FolderQuantisation& quantisation,
                               const std::string& name, const std::vector<std::uint64_t>& shape);

/// True if a tensor is a bias of zeros that AutoGPTQ writes beside quantised maps without one.
bool is_bias_of_zeros(const TensorFiles& files, const std::string& name);

}  // namespace tempera::gpu
