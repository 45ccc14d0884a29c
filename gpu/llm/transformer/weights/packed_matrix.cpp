#include "gpu/llm/transformer/weights/packed_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/device/whole_numbers.hpp"
#include "gpu/llm/transformer/weights/dequantise.hpp"
#include "gpu/llm/transformer/weights/fragments.hpp"
#include "gpu/llm/transformer/weights/pair_word.hpp"
#include "gpu/llm/transformer/weights/quantised_packing.hpp"
#include "gpu/llm/transformer/weights/whole_words.hpp"

namespace tempera::gpu {

namespace {

/// Bytes that are packed before they go to the device together.
constexpr std::size_t upload_bytes = std::size_t{1} << 24;

std::string named(const StoredTensor& tensor) {
  return tensor.file + ", tensor " + in_quotes(tensor.name);
}

Packing packing_of(const StoredTensor& tensor) {
  const auto packing = packing_of_dtype(tensor.dtype);
  if (!packing) {
    throw BadInput(named(tensor), "has dtype " + tensor.dtype, "store it as F16, F32 or BF16");
  }
  return *packing;
}

/// A float is finite unless all bits of its exponent are set.
bool is_finite(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return (~bits & 0x7F800000U) != 0;
}

bool has_quants(Packing packing) {
  return packing != Packing::float32 && packing != Packing::bfloat16 && packing != Packing::float16;
}

/// How the blocks of a matrix are stored beside quantised ones: if inputs are rounded to
/// bfloat16, one that is not quantised itself is rounded once, here.
Packing packing_beside(const StoredTensor& matrix, Arithmetic arithmetic) {
  const Packing packing = packing_of(matrix);
  return rounds_to_bfloat16(arithmetic) && !has_quants(packing) ? Packing::bfloat16 : packing;
}

/// Up to `lanes` outputs of a matrix, and where they begin in the packed one.
struct Block {
  const StoredTensor* matrix;
  Packing packing;  // of blocks of quantised weights
  std::size_t first_output;
  std::size_t outputs;
  std::size_t begin;  // in bytes
  std::size_t bytes;
  Arithmetic packing_of_words = Arithmetic::tensor_core;

  std::size_t bytes_of_output() const {
    return matrix->bytes.size() / static_cast<std::size_t>(matrix->shape[0]);
  }
  std::span<const std::byte> stored() const {
    return matrix->bytes.subspan(first_output * bytes_of_output(), outputs * bytes_of_output());
  }
  std::span<const std::byte> stored(std::size_t output) const {
    return stored().subspan(output * bytes_of_output(), bytes_of_output());
  }
};

/// What keeps a block from being packed; elements count from its first output on.
struct Fault {
  enum class Kind { none, not_finite, too_large, unfit } kind = Kind::none;
  std::size_t element = 0;
};

[[noreturn]] void refuse(const Block& block, const Fault& fault, std::size_t in) {
  const auto element = "element " + std::to_string(block.first_output * in + fault.element);
  if (fault.kind == Fault::Kind::too_large) {
    throw BadInput(named(*block.matrix), element + " is too large for bfloat16",
                   "take the arithmetic float32, or choose another model");
  }
  if (fault.kind == Fault::Kind::unfit) {
    throw BadInput(named(*block.matrix), element + " is too large for whole numbers of 16 bits",
                   "take the arithmetic float32, or choose another model");
  }
  throw BadInput(named(*block.matrix), element + " is NaN or infinite",
                 "download the file again, or choose another model");
}

/// The one that comes first if a tensor is stored.
Fault first_of(const Fault& a, const Fault& b) {
  if (a.kind == Fault::Kind::none) return b;
  return b.kind == Fault::Kind::none || a.element <= b.element ? a : b;
}

/// Inputs that are made floats together: whole blocks of every dtype, and an even number.
constexpr std::size_t inputs_at_once = 512;

/// Weights of a block as floats. What is not there, of an output or an input, is 0.
struct BlockPart {
  std::size_t begin;  // the first input
  std::size_t inputs;
  float values[lanes][inputs_at_once];

  /// The first value that `at_fault` finds, in a matrix of `in` inputs.
  template <class AtFault>
  Fault first(Fault::Kind kind, std::size_t in, const AtFault& at_fault) const {
    bool any = false;
    for (const auto& output : values) {
      for (const float value : output) any |= at_fault(value);
    }
    if (!any) return {};
    for (std::size_t output = 0; output < lanes; ++output) {
      for (std::size_t i = 0; i < inputs; ++i) {
        if (at_fault(values[output][i])) return {kind, output * in + begin + i};
      }
    }
    return {};
  }
};

/// The first NaN among the scales of MXFP4, which are finite numbers to who dequantises them.
Fault nan_scale(std::string_view dtype, std::span<const std::byte> blocks,
                const StoredBlock& stored, std::size_t first) {
  if (dtype != "MXFP4") return {};
  for (std::size_t b = 0; b * stored.bytes < blocks.size(); ++b)
    if (blocks[b * stored.bytes] == std::byte{0xFF})
      return {Fault::Kind::not_finite, first + b * stored.elements};
  return {};
}

/// Calls pack(part) for one part of a block after another.
template <class Pack>
Fault for_each_part(const Block& block, std::size_t in, const Pack& pack) {
  const auto stored = *stored_block(block.matrix->dtype);
  Fault fault;
  BlockPart part{};
  for (part.begin = 0; part.begin < in; part.begin += inputs_at_once) {
    part.inputs = std::min(inputs_at_once, in - part.begin);
    for (std::size_t output = 0; output < block.outputs; ++output) {
      const std::span values(part.values[output]);
      const auto bytes = block.stored(output).subspan(part.begin / stored.elements * stored.bytes,
                                                      part.inputs / stored.elements * stored.bytes);
      dequantise(block.matrix->dtype, bytes, values.first(part.inputs));
      fault =
          first_of(fault, nan_scale(block.matrix->dtype, bytes, stored, output * in + part.begin));
      std::fill(values.begin() + static_cast<std::ptrdiff_t>(part.inputs), values.end(), 0.0F);
    }
    fault = first_of(fault, part.first(Fault::Kind::not_finite, in,
                                       [](float value) { return !is_finite(value); }));
    pack(part);
  }
  return fault;
}

/// The same for a pack that rounds to bfloat16; what is one stays what it is.
template <class Pack>
Fault for_each_part_to_round(const Block& block, std::size_t in, const Pack& pack) {
  if (packing_of(*block.matrix) == Packing::bfloat16) return for_each_part(block, in, pack);
  Fault too_large;
  const Fault fault = for_each_part(block, in, [&](const BlockPart& part) {
    too_large = first_of(too_large, part.first(Fault::Kind::too_large, in, [](float value) {
      return !is_finite(from_bfloat16(to_bfloat16(value)));
    }));
    pack(part);
  });
  return first_of(fault, too_large);
}

/// [in, lanes] in one dtype.
Fault pack_lanes(const Block& block, std::size_t in, std::span<float> packed) {
  return for_each_part(block, in, [&](const BlockPart& part) {
    for (std::size_t i = 0; i < part.inputs; ++i) {
      float* const outputs = &packed[(part.begin + i) * lanes];
      for (std::size_t output = 0; output < lanes; ++output)
        outputs[output] = part.values[output][i];
    }
  });
}
Fault pack_lanes(const Block& block, std::size_t in, std::span<std::uint16_t> packed) {
  return for_each_part(block, in, [&](const BlockPart& part) {
    for (std::size_t i = 0; i < part.inputs; ++i) {
      std::uint16_t* const outputs = &packed[(part.begin + i) * lanes];
      for (std::size_t output = 0; output < lanes; ++output) {
        outputs[output] = to_bfloat16(part.values[output][i]);  // exact: it is one
      }
    }
  });
}
/// Words of two inputs; word_of(output, input) gives where.
template <class WordOf>
Fault pack_words(const Block& block, std::size_t in, std::span<std::uint32_t> packed,
                 const WordOf& word_of) {
  return for_each_part_to_round(block, in, [&](const BlockPart& part) {
    for (std::size_t i = 0; i < part.inputs; i += 2) {
      for (std::size_t output = 0; output < lanes; ++output) {
        const std::uint32_t earlier = to_bfloat16(part.values[output][i]);
        const std::uint32_t later = to_bfloat16(part.values[output][i + 1]);
        packed[word_of(output, part.begin + i)] = earlier | later << 16;
      }
    }
  });
}
/// Whole numbers, and the steps of their segments.
Fault pack_whole(const Block& block, std::size_t in, std::span<std::uint32_t> packed) {
  Fault unfit;
  const Fault fault = for_each_part(block, in, [&](const BlockPart& part) {
    static_assert(whole_segment == inputs_at_once);
    for (std::size_t output = 0; output < lanes; ++output) {
      const WholeRow row = whole_row(part.values[output], part.inputs, weight_squares);
      if (!row.fits) {
        const auto* const largest =
            std::max_element(part.values[output], part.values[output] + part.inputs,
                             [](float a, float b) { return std::abs(a) < std::abs(b); });
        unfit = first_of(unfit, {Fault::Kind::unfit,
                                 output * in + part.begin +
                                     static_cast<std::size_t>(largest - part.values[output])});
        continue;
      }
      const float step = row.step();
      std::memcpy(&packed[part.begin / whole_segment * lanes + output], &step, sizeof step);
      std::array<std::int16_t, whole_segment> whole{};
      store_whole_row(row, part.values[output], part.inputs, whole.data());
      for (std::size_t i = 0; i < part.inputs; i += 2) {
        std::memcpy(&packed[whole_segments(in) * lanes + pair_word(in, output, part.begin + i)],
                    &whole[i], sizeof(std::uint32_t));
      }
    }
  });
  return fault.kind == Fault::Kind::none ? unfit : fault;
}
/// Fragments of a tile, or pairs of a block, as many words as there may be.
Fault pack_lanes(const Block& block, std::size_t in, std::span<std::uint32_t> packed) {
  static_assert(fragment_outputs == lanes);
  if (block.packing_of_words == Arithmetic::integer) return pack_whole(block, in, packed);
  if (block.packing_of_words == Arithmetic::bfloat16_pairs) {
    return pack_words(block, in, packed, [in](std::size_t output, std::size_t input) {
      return pair_word(in, output, input);
    });
  }
  return pack_words(block, in, packed, [](std::size_t output, std::size_t input) {
    return input / step_products * fragment_words + fragment_word(output, input % step_products);
  });
}
/// Quantised weights as they are: none is too large for bfloat16, since none reaches 2^30 (see
/// pack_block). Others as they are, or rounded.
Fault pack_lanes(const Block& block, std::size_t in, std::span<std::byte> packed) {
  if (block.packing == packing_of(*block.matrix) && is_packed_by_blocks(block.matrix->dtype)) {
    const auto fault = pack_block(block.matrix->dtype, block.stored(), in, packed);
    return fault ? Fault{Fault::Kind::not_finite, *fault} : Fault{};
  }
  return for_each_part_to_round(block, in, [&](const BlockPart& part) {
    for (std::size_t i = 0; i < part.inputs; ++i) {
      for (std::size_t output = 0; output < lanes; ++output) {
        const std::uint16_t rounded = to_bfloat16(part.values[output][i]);
        std::memcpy(&packed[((part.begin + i) * lanes + output) * sizeof rounded], &rounded,
                    sizeof rounded);
      }
    }
  });
}

/// Packs the blocks, which follow one another, on all cores, so many at a time as `upload_bytes`.
template <class Stored>
DeviceMemory<Stored> pack(const std::vector<Block>& blocks, std::size_t in) {
  DeviceMemory<Stored> result((blocks.back().begin + blocks.back().bytes) / sizeof(Stored));
  std::vector<Stored> part;
  for (std::size_t first = 0; first < blocks.size();) {
    const std::size_t begin = blocks[first].begin;
    std::size_t end = first;
    while (end < blocks.size() && (end == first || blocks[end].begin - begin < upload_bytes)) ++end;
    part.assign((blocks[end - 1].begin + blocks[end - 1].bytes - begin) / sizeof(Stored), Stored());
    std::vector<Fault> faults(end - first);
    on_host_threads(end - first, [&](std::size_t index) {
      const Block& block = blocks[first + index];
      faults[index] = pack_lanes(block, in,
                                 std::span(part).subspan((block.begin - begin) / sizeof(Stored),
                                                         block.bytes / sizeof(Stored)));
    });
    for (std::size_t index = 0; index < faults.size(); ++index) {
      if (faults[index].kind != Fault::Kind::none) refuse(blocks[first + index], faults[index], in);
    }
    result.upload(part, begin / sizeof(Stored));
    first = end;
  }
  return result;
}

/// The blocks of stacked matrices; bytes_of(packing) gives the bytes of one that is stored so.
template <class BytesOf>
std::vector<Block> blocks_of(std::span<const StoredTensor* const> matrices, Arithmetic arithmetic,
                             const BytesOf& bytes_of) {
  std::vector<Block> blocks;
  std::size_t begin = 0;
  for (const auto* matrix : matrices) {
    const auto out = static_cast<std::size_t>(matrix->shape[0]);
    const Packing packing = packing_beside(*matrix, arithmetic);
    const std::size_t bytes = bytes_of(packing);
    for (std::size_t first = 0; first < out; first += lanes) {
      blocks.push_back(
          {matrix, packing, first, std::min(lanes, out - first), begin, bytes, arithmetic});
      begin += bytes;
    }
  }
  return blocks;
}

}  // namespace

StoredAs PackedMatrix::stored_as() const {
  const auto* mapped = std::get_if<MappedMatrix>(&weights);
  return mapped != nullptr ? mapped->stored_as : static_cast<StoredAs>(weights.index());
}

MatrixView PackedMatrix::view() const {
  const auto* mapped = std::get_if<MappedMatrix>(&weights);
  const void* const begin = std::visit(
      []<class Held>(const Held& held) -> const void* {
        if constexpr (std::is_same_v<Held, MappedMatrix>) {
          return held.weights.data();
        } else {
          return held.data();
        }
      },
      weights);
  switch (stored_as()) {
    case StoredAs::bfloat16:
      return {in, out, nullptr, static_cast<const std::uint16_t*>(begin), nullptr};
    case StoredAs::words: {
      const auto* const words = static_cast<const std::uint32_t*>(begin);
      if (!takes_tensor_core_steps(arithmetic)) {
        return {in, out, nullptr, nullptr, nullptr, nullptr, nullptr, words};
      }
      return {in, out, nullptr, nullptr, words};
    }
    case StoredAs::quantised:
      return {in,
              out,
              nullptr,
              nullptr,
              nullptr,
              static_cast<const std::byte*>(begin),
              mapped != nullptr ? mapped->blocks.data() : blocks.data()};
    default:
      return {in, out, static_cast<const float*>(begin), nullptr, nullptr};
  }
}

MatrixWork& MatrixWork::operator+=(const MatrixWork& other) {
  bytes += other.bytes;
  multiply_adds += other.multiply_adds;
  return *this;
}

MatrixWork& MatrixWork::operator-=(const MatrixWork& other) {
  bytes -= other.bytes;
  multiply_adds -= other.multiply_adds;
  return *this;
}

MatrixWork work_of(const PackedMatrix& matrix) {
  const std::uint64_t bytes = std::visit(
      []<class Held>(const Held& held) -> std::uint64_t {
        if constexpr (std::is_same_v<Held, MappedMatrix>) {
          return held.weights.size() + held.blocks.size_bytes();
        } else {
          return held.size() * sizeof(*held.data());
        }
      },
      matrix.weights);
  return {bytes + matrix.blocks.size() * sizeof(std::uint64_t),
          std::uint64_t{matrix.in} * matrix.out};
}

PackedMatrix pack_matrices(std::span<const StoredTensor* const> matrices, Arithmetic arithmetic) {
  PackedMatrix result;
  result.arithmetic = packs_as(arithmetic);
  result.in = static_cast<std::size_t>(matrices[0]->shape.at(1));
  const std::size_t in = result.in;
  bool all_bfloat16 = true;
  bool all_plain = true;
  bool any_quantised = false;
  for (const auto* matrix : matrices) {
    const Packing packing = packing_of(*matrix);
    all_bfloat16 = all_bfloat16 && packing == Packing::bfloat16;
    all_plain = all_plain && (packing == Packing::bfloat16 || packing == Packing::float32);
    any_quantised = any_quantised || has_quants(packing);
    result.out += padded(static_cast<std::size_t>(matrix->shape[0]));
  }
  const auto of_one_size = [&](std::size_t bytes) {
    return blocks_of(matrices, arithmetic, [bytes](Packing) { return bytes; });
  };
  if (takes_tensor_core_steps(arithmetic) && !any_quantised) {
    result.weights =
        pack<std::uint32_t>(of_one_size(steps_of(in) * fragment_words * sizeof(std::uint32_t)), in);
  } else if (arithmetic == Arithmetic::bfloat16_pairs && !any_quantised) {
    result.weights =
        pack<std::uint32_t>(of_one_size(pairs_of(in) * lanes * sizeof(std::uint32_t)), in);
  } else if (arithmetic == Arithmetic::integer) {
    result.weights =
        pack<std::uint32_t>(of_one_size(whole_block_words(in) * sizeof(std::uint32_t)), in);
  } else if (all_bfloat16) {
    result.weights = pack<std::uint16_t>(of_one_size(in * lanes * sizeof(std::uint16_t)), in);
  } else if (all_plain) {
    result.weights = pack<float>(of_one_size(in * lanes * sizeof(float)), in);
  } else {
    const auto blocks = blocks_of(matrices, arithmetic, [in](Packing packing) {
      const auto layout = packed_layout(packing);
      return in / layout.inputs * layout.bytes;
    });
    std::vector<std::uint64_t> entries;
    for (const auto& block : blocks) {
      entries.push_back(block_entry(block.begin, block.packing));
    }
    result.blocks = DeviceMemory<std::uint64_t>(std::span<const std::uint64_t>(entries));
    result.weights = pack<std::byte>(blocks, in);
  }
  return result;
}

std::vector<float> read_vector(const StoredTensor& tensor) {
  packing_of(tensor);
  std::vector<float> values(static_cast<std::size_t>(tensor.shape.at(0)));
  dequantise(tensor.dtype, tensor.bytes, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_finite(values[i])) {
      refuse({&tensor, Packing::float32, 0, 1, 0, 0}, {Fault::Kind::not_finite, i}, values.size());
    }
  }
  return values;
}

}  // namespace tempera::gpu
