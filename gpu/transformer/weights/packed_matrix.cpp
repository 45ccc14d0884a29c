#include "gpu/transformer/weights/packed_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"
#include "gpu/transformer/weights/fragments.hpp"

namespace tempera::gpu {

namespace {

std::string place(const StoredTensor& tensor) {
  return tensor.file + ", tensor " + in_quotes(tensor.name);
}

bool is_bfloat16(const StoredTensor& tensor) {
  if (tensor.dtype == "BF16") return true;
  if (tensor.dtype == "F32") return false;
  throw BadInput(place(tensor), "has dtype " + tensor.dtype, "store it as F32 or BF16");
}

/// Element i of stored bytes, which need not be aligned.
template <class Stored>
Stored element(const StoredTensor& tensor, std::size_t i) {
  Stored value;
  std::memcpy(&value, tensor.bytes.data() + i * sizeof value, sizeof value);
  return value;
}

std::uint32_t float32_bits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::uint32_t float32_bits(std::uint16_t bfloat16) {
  return static_cast<std::uint32_t>(bfloat16) << 16;
}

/// A float is finite unless all bits of its exponent are set.
bool is_finite(std::uint32_t bits) { return (~bits & 0x7F800000U) != 0; }

float float32_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class Stored>
void require_finite(const StoredTensor& tensor, Stored value, std::size_t index) {
  if (!is_finite(float32_bits(value))) {
    throw BadInput(place(tensor), "element " + std::to_string(index) + " is NaN or infinite",
                   "download the file again, or choose another model");
  }
}

std::size_t rows_of(const StoredTensor& matrix) {
  return static_cast<std::size_t>(matrix.shape.at(0));
}

template <class Stored, class Packed>
void pack(const StoredTensor& matrix, std::size_t in, Packed* packed) {
  const std::size_t out = rows_of(matrix);
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      const auto value = element<Stored>(matrix, o * in + i);
      require_finite(matrix, value, o * in + i);
      auto& target = packed[(o / lanes * in + i) * lanes + o % lanes];
      if constexpr (sizeof(Packed) == sizeof(Stored)) {
        target = value;
      } else {
        target = float32_of(float32_bits(value));
      }
    }
  }
}

template <class Stored>
void pack_fragments(const StoredTensor& matrix, std::size_t in, std::size_t first_output,
                    std::uint32_t* fragments) {
  const std::size_t out = rows_of(matrix);
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      const auto value = element<Stored>(matrix, o * in + i);
      require_finite(matrix, value, o * in + i);
      const std::uint16_t rounded = to_bfloat16(float32_of(float32_bits(value)));
      if (!is_finite(float32_bits(rounded))) {
        throw BadInput(place(matrix),
                       "element " + std::to_string(o * in + i) + " is too large for bfloat16",
                       "take the arithmetic float32, or choose another model");
      }
      const std::size_t half = fragment_place(in, first_output + o, i);
      fragments[half / 2] |= static_cast<std::uint32_t>(rounded) << (16 * (half % 2));
    }
  }
}

PackedMatrix pack_as_fragments(std::span<const StoredTensor* const> matrices, std::size_t in,
                               std::size_t out) {
  std::vector<std::uint32_t> fragments(out / tile_outputs * steps_of(in) * fragment_words);
  std::size_t first_output = 0;
  for (const auto* matrix : matrices) {
    if (is_bfloat16(*matrix)) {
      pack_fragments<std::uint16_t>(*matrix, in, first_output, fragments.data());
    } else {
      pack_fragments<float>(*matrix, in, first_output, fragments.data());
    }
    first_output += padded(rows_of(*matrix));
  }
  return {in, out, DeviceMemory<std::uint32_t>(std::span<const std::uint32_t>(fragments))};
}

}  // namespace

MatrixView PackedMatrix::view() const {
  if (const auto* bfloat16 = std::get_if<DeviceMemory<std::uint16_t>>(&weights)) {
    return {in, out, nullptr, bfloat16->data(), nullptr};
  }
  if (const auto* fragments = std::get_if<DeviceMemory<std::uint32_t>>(&weights)) {
    return {in, out, nullptr, nullptr, fragments->data()};
  }
  return {in, out, std::get<DeviceMemory<float>>(weights).data(), nullptr, nullptr};
}

PackedMatrix pack_matrices(std::span<const StoredTensor* const> matrices, Arithmetic arithmetic) {
  PackedMatrix result;
  result.in = static_cast<std::size_t>(matrices[0]->shape.at(1));
  bool all_bfloat16 = true;
  for (const auto* matrix : matrices) {
    all_bfloat16 = is_bfloat16(*matrix) && all_bfloat16;
    result.out += padded(rows_of(*matrix));
  }
  if (arithmetic == Arithmetic::tensor_core) {
    return pack_as_fragments(matrices, result.in, result.out);
  }
  const auto fill = [&]<class Packed>(std::vector<Packed> packed) {
    std::size_t begin = 0;
    for (const auto* matrix : matrices) {
      // NOLINTNEXTLINE(bugprone-branch-clone): the first decision is the compiler's
      if constexpr (std::is_same_v<Packed, std::uint16_t>) {
        pack<std::uint16_t>(*matrix, result.in, packed.data() + begin);
      } else if (is_bfloat16(*matrix)) {
        pack<std::uint16_t>(*matrix, result.in, packed.data() + begin);
      } else {
        pack<float>(*matrix, result.in, packed.data() + begin);
      }
      begin += padded(rows_of(*matrix)) * result.in;
    }
    result.weights = DeviceMemory<Packed>(std::span<const Packed>(packed));
  };
  if (all_bfloat16) {
    fill(std::vector<std::uint16_t>(result.out * result.in));
  } else {
    fill(std::vector<float>(result.out * result.in));
  }
  return result;
}

std::vector<float> read_vector(const StoredTensor& tensor) {
  const bool bfloat16 = is_bfloat16(tensor);
  std::vector<float> values(static_cast<std::size_t>(tensor.shape.at(0)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = bfloat16 ? float32_of(float32_bits(element<std::uint16_t>(tensor, i)))
                         : element<float>(tensor, i);
    require_finite(tensor, values[i], i);
  }
  return values;
}

}  // namespace tempera::gpu
