#pragma once

#include <cmath>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/cache/page_elements.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/row_kernels.hpp"
#include "gpu/llm/transformer/kernels/tree_sum.hpp"

// The steps of the arithmetics with bfloat16 product inputs that are one loop over a row: call
// operator()(item) for every item.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Partial sums of the squares of a row, and of a head: one for each thread of a block, of a warp.
constexpr std::size_t row_sums = 256;
constexpr std::size_t head_sums = 32;

/// normed_i = bf16(weight_i · (x_i · factor)).
inline void normalize_row(const float* states, const float* weight, std::size_t size, float epsilon,
                          std::uint16_t* normed) {
  const float mean = sum_of_squares<row_sums>(states, size) / static_cast<float>(size);
  const float factor = 1.0f / sqrtf(mean + epsilon);
  for (std::size_t i = 0; i < size; ++i) {
    normed[i] = to_bfloat16(weight[i] * (states[i] * factor));
  }
}

/// An item is a row. `normalize` does one: (states, weight, size, epsilon, normed).
template <class Element,
          void (*normalize)(const float*, const float*, std::size_t, float, Element*)>
struct NormalizeRows {
  const float* states;  // [rows, size]
  const float* weight;  // [size]
  std::size_t size;
  float epsilon;
  Element* normed;  // [rows, size]

  void operator()(std::size_t row) const {
    normalize(states + row * size, weight, size, epsilon, normed + row * size);
  }
};

/// The same, with the rows in pages.
template <class Element,
          void (*normalize)(const float*, const float*, std::size_t, float, Element*)>
struct NormalizeRowsIntoPages {
  const float* states;  // [rows, size]
  const float* weight;  // [size]
  std::size_t size;
  float epsilon;
  TokenRows batch;
  PagePart target;  // [page_tokens, size]

  void operator()(std::size_t row) const {
    normalize(states + row * size, weight, size, epsilon,
              part_of_page<Element>(target, page_of_row(batch, row)) +
                  batch.positions[row] % page_tokens * size);
  }
};

using TensorCoreNormalize = NormalizeRows<std::uint16_t, normalize_row>;
using TensorCoreNormalizeIntoPages = NormalizeRowsIntoPages<std::uint16_t, normalize_row>;

/// An item is a row.
struct TensorCoreGatherFromPages {
  CachedRows batch;
  std::size_t size;
  PagePart source;          // [page_tokens, size]
  std::uint16_t* gathered;  // [rows, size]

  void operator()(std::size_t row) const {
    const auto* token =
        part_of_page<std::uint16_t>(source, batch.pages[row]) + batch.slots[row] * size;
    for (std::size_t i = 0; i < size; ++i) gathered[row * size + i] = token[i];
  }
};

/// Where the elements of keys and values are in a page of `tensor-core`.
struct HeadsInPages {
  static std::size_t key(std::size_t head, std::size_t slot, std::size_t d, std::size_t head_dim) {
    return (head * page_tokens + slot) * head_dim + d;
  }
  static std::size_t value(std::size_t head, std::size_t slot, std::size_t d,
                           std::size_t head_dim) {
    return key(head, slot, d, head_dim);
  }
};

/// And in one of `bfloat16-pairs`: keys [key_value_heads, head_dim / 2, page_tokens, 2], values
/// [key_value_heads, page_tokens / 2, head_dim, 2]: what is summed in pairs is stored in pairs.
struct PairsInPages {
  static std::size_t key(std::size_t head, std::size_t slot, std::size_t d, std::size_t head_dim) {
    return ((head * head_dim / 2 + d / 2) * page_tokens + slot) * 2 + d % 2;
  }
  static std::size_t value(std::size_t head, std::size_t slot, std::size_t d,
                           std::size_t head_dim) {
    return ((head * page_tokens / 2 + slot / 2) * head_dim + d) * 2 + slot % 2;
  }
};

/// The mean of a head's squares.
struct HeadSums {
  static float mean_of_squares(const float* head, std::size_t size) {
    return sum_of_squares<head_sums>(head, size) / static_cast<float>(size);
  }
};

/// Stores a head of a key or of a value as bfloat16s. make(keep) calls keep(d, element d) for all;
/// room, [head_dim]: where the head was.
template <class Layout>
struct Bfloat16Heads : HeadSums {
  template <class Make>
  static void store_key(const PagePart& part, std::size_t page, std::size_t head, std::size_t slot,
                        std::size_t head_dim, float* /*room*/, const Make& make) {
    auto* const elements = part_of_page<std::uint16_t>(part, page);
    make([&](std::size_t d, float x) {
      elements[Layout::key(head, slot, d, head_dim)] = to_bfloat16(x);
    });
  }
  template <class Make>
  static void store_value(const PagePart& part, std::size_t page, std::size_t head,
                          std::size_t slot, std::size_t head_dim, float* /*room*/,
                          const Make& make) {
    auto* const elements = part_of_page<std::uint16_t>(part, page);
    make([&](std::size_t d, float x) {
      elements[Layout::value(head, slot, d, head_dim)] = to_bfloat16(x);
    });
  }
};

/// The same by EightBitElements. What makes the elements is called twice: their exponent has to be
/// known before the first is stored.
struct EightBitHeads : HeadSums {
  template <class Make>
  static void store_key(const PagePart& part, std::size_t page, std::size_t head, std::size_t slot,
                        std::size_t head_dim, float* /*room*/, const Make& make) {
    auto* const bytes =
        part_of_page<std::uint8_t>(part, page) + head * EightBitElements::head_bytes(head_dim);
    std::uint32_t largest = 0;
    make([&](std::size_t, float x) {
      const std::uint32_t magnitude = EightBitElements::magnitude_of(x);
      largest = magnitude > largest ? magnitude : largest;
    });
    const std::uint8_t exponent = EightBitElements::exponent_of(largest);
    bytes[page_tokens * head_dim + slot] = exponent;
    make([&](std::size_t d, float x) {
      bytes[slot * head_dim + d] = EightBitElements::element_of(x, exponent);
    });
  }
  template <class Make>
  static void store_value(const PagePart& part, std::size_t page, std::size_t head,
                          std::size_t slot, std::size_t head_dim, float* room, const Make& make) {
    store_key(part, page, head, slot, head_dim, room, make);
  }
};

/// An item is one head of one row: its queries first, then its keys, then its values. Heads say how
/// pages hold those.
template <class Heads>
struct RotateIntoPagesOf {
  AttentionShape shape;
  const float* query_norm;  // [head_dim]; may be null
  const float* key_norm;    // [head_dim]; may be null
  float epsilon;
  RotaryTables tables;
  TokenRows batch;
  PagePart keys;
  PagePart values;
  float* query_key_value;  // [rows, shape.row_floats]

  std::size_t items() const { return batch.rows * heads_per_row(); }
  std::size_t heads_per_row() const { return shape.heads + 2 * shape.key_value_heads; }

  void operator()(std::size_t item) const {
    const std::size_t row = item / heads_per_row();
    const std::size_t position = batch.positions[row];
    float* buffer = query_key_value + row * shape.row_floats;
    std::size_t head = item % heads_per_row();
    if (head < shape.heads) {
      float* query = buffer + head * shape.head_dim;
      rotate(query, query_norm, position, [&](std::size_t d, float x) { query[d] = x; });
      return;
    }
    head -= shape.heads;
    const bool is_key = head < shape.key_value_heads;
    if (!is_key) head -= shape.key_value_heads;
    const std::size_t page = page_of_row(batch, row);
    const std::size_t slot = position % page_tokens;
    if (is_key) {
      float* key = buffer + shape.key_begin + head * shape.head_dim;
      Heads::store_key(keys, page, head, slot, shape.head_dim, key,
                       [&](const auto& keep) { rotate(key, key_norm, position, keep); });
    } else {
      float* value = buffer + shape.value_begin + head * shape.head_dim;
      Heads::store_value(values, page, head, slot, shape.head_dim, value, [&](const auto& keep) {
        for (std::size_t d = 0; d < shape.head_dim; ++d) keep(d, value[d]);
      });
    }
  }

  /// Calls keep(d, element d of the result), which may overwrite the input.
  template <class Keep>
  void rotate(const float* vector, const float* norm, std::size_t position,
              const Keep& keep) const {
    const std::size_t half = rotary_dim_of(shape) / 2;
    const float factor =
        norm == nullptr ? 1.0f
                        : 1.0f / sqrtf(Heads::mean_of_squares(vector, shape.head_dim) + epsilon);
    for (std::size_t d = 0; d < half; ++d) {
      float low = vector[d];
      float high = vector[d + half];
      if (norm != nullptr) {
        low = norm[d] * (low * factor);
        high = norm[d + half] * (high * factor);
      }
      const float cosine = tables.cosines[position * half + d];
      const float sine = tables.sines[position * half + d];
      keep(d, fused_multiply_add(low, cosine, -(high * sine)));
      keep(d + half, fused_multiply_add(high, cosine, low * sine));
    }
    for (std::size_t d = 2 * half; d < shape.head_dim; ++d) {
      keep(d, norm == nullptr ? vector[d] : norm[d] * (vector[d] * factor));
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
