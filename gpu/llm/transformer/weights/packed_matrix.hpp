#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/weights/matrix_view.hpp"
#include "gpu/llm/transformer/weights/safetensors.hpp"

namespace tempera::gpu {

/// The least multiple of `lanes` that is at least `size`.
constexpr std::size_t padded(std::size_t size) { return (size + lanes - 1) / lanes * lanes; }

/// Which of MatrixView's pointers a matrix is.
enum class StoredAs : std::uint8_t { float32, bfloat16, words, quantised };

/// A packed matrix in a mapped file, where the device is the host: all processes that map the file
/// share one copy of it.
struct MappedMatrix {
  StoredAs stored_as = StoredAs::float32;
  std::span<const std::byte> weights;
  std::span<const std::uint64_t> blocks;  ///< of quantised weights
  std::shared_ptr<const void> mapping;    ///< holds both
};

/// The weights of a linear map R^in -> R^out in device memory, packed as MatrixView says: in the
/// dtype of the file, neighbouring outputs being neighbours in memory, so that a vector register or
/// a warp carries one output per lane and each output keeps its own order of summation; or, under
/// every arithmetic but `float32`, those that are not quantised as fragments or pairs. Missing
/// outputs of the last block have weight 0.
struct PackedMatrix {
  std::size_t in = 0;
  std::size_t out = 0;                          // with the padding
  Arithmetic arithmetic = Arithmetic::float32;  ///< packs_as that of the products
  std::variant<DeviceMemory<float>, DeviceMemory<std::uint16_t>, DeviceMemory<std::uint32_t>,
               DeviceMemory<std::byte>, MappedMatrix>
      weights;                         // those of device memory in the order of StoredAs
  DeviceMemory<std::uint64_t> blocks;  // of quantised weights that are not mapped

  StoredAs stored_as() const;
  /// Valid as long as the matrix is neither moved nor gone.
  MatrixView view() const;
};

/// What one step of decoding does with matrices, each of which it reads once, whatever the number
/// of records.
struct MatrixWork {
  std::uint64_t bytes = 0;          ///< read, as they are packed
  std::uint64_t multiply_adds = 0;  ///< of each record: Σ in · out, with the padding

  MatrixWork& operator+=(const MatrixWork& other);
  MatrixWork& operator-=(const MatrixWork& other);
};

/// What one matrix takes.
MatrixWork work_of(const PackedMatrix& matrix);

/// Stacks matrices [out_j, in] that share `in`, each padded to a multiple of `lanes` outputs. Under
/// `float32` the result is bfloat16 if all of them are, float32 if all are one of the two (a
/// bfloat16 is exactly a float32), and otherwise in blocks of quantised weights, each as its matrix
/// is stored. Under an arithmetic of tensor cores it is fragments, rounded to bfloat16, if none
/// of them is quantised, and otherwise in such blocks: quantised ones as they are stored, the
/// others rounded to bfloat16; likewise under `bfloat16-pairs`, with pairs. Under `integer` it is
/// whole numbers, quantised or not. All cores pack; besides
/// the result there is only a small part of it in memory.
///
/// @throw BadInput naming file and tensor for a dtype that stored_block does not know, for a NaN or
/// infinite weight, and for one that bfloat16, or a whole number, cannot hold
PackedMatrix pack_matrices(std::span<const StoredTensor* const> matrices, Arithmetic arithmetic);

/// The elements of a vector, as float32; BadInput as above, and for quantised ones.
std::vector<float> read_vector(const StoredTensor& tensor);

}  // namespace tempera::gpu
