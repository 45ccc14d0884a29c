#pragma once

#include <cmath>
#include <cstring>

#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/tree_sum.hpp"
#include "gpu/llm/transformer/weights/weight_reader.hpp"

// The steps that are one loop over a row, written once for every form: call operator()(item) for
// every item.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// An item is a row.
template <class Weights>
struct Embed {
  Weights embedding;            // of `vocabulary` outputs
  const std::uint32_t* tokens;  // [rows]
  std::size_t size;
  float* states;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    for (std::size_t i = 0; i < size; ++i) states[row * size + i] = embedding(tokens[row], i);
  }
};

/// Partial sums of the squares of a row or a head under `float32`.
constexpr std::size_t partial_sums = 16;

/// normed[i] = weight[i] · x[i]/√(Σ_j x[j]²/size + epsilon), x being a row of `states`.
TEMPERA_HOST_DEVICE inline void normalize_row(const float* states, const float* weight,
                                              std::size_t size, float epsilon, float* normed) {
  const float mean = sum_of_squares<partial_sums>(states, size) / static_cast<float>(size);
  const float factor = 1.0f / sqrtf(mean + epsilon);
  for (std::size_t i = 0; i < size; ++i) normed[i] = weight[i] * (states[i] * factor);
}

/// An item is a row.
struct Normalize {
  const float* states;  // [rows, size]
  const float* weight;  // [size]
  std::size_t size;
  float epsilon;
  float* normed;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    normalize_row(states + row * size, weight, size, epsilon, normed + row * size);
  }
};

/// The page that the token of a row belongs to.
TEMPERA_HOST_DEVICE inline std::size_t page_of_row(const TokenRows& batch, std::size_t row) {
  return batch.page_table[batch.first_page[row] + batch.positions[row] / page_tokens];
}

/// An item is a row.
struct NormalizeIntoPages {
  const float* states;  // [rows, size]
  const float* weight;  // [size]
  std::size_t size;
  float epsilon;
  TokenRows batch;
  PagePart target;  // [page_tokens, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    normalize_row(states + row * size, weight, size, epsilon,
                  part_of_page<float>(target, page_of_row(batch, row)) +
                      batch.positions[row] % page_tokens * size);
  }
};

/// An item is a row.
struct GatherFromPages {
  CachedRows batch;
  std::size_t size;
  PagePart source;  // [page_tokens, size]
  float* gathered;  // [rows, size]

  TEMPERA_HOST_DEVICE void operator()(std::size_t row) const {
    const float* token = part_of_page<float>(source, batch.pages[row]) + batch.slots[row] * size;
    for (std::size_t i = 0; i < size; ++i) gathered[row * size + i] = token[i];
  }
};

/// An item is a piece of what a page has in one array.
struct CopyPages {
  static constexpr std::size_t piece_bytes = 4096;
  static constexpr std::size_t word_bytes = 16;  // what elements are multiples of

  const std::uint32_t* sources;  // [copies]
  const std::uint32_t* targets;  // [copies]
  PageMemory memory;

  TEMPERA_HOST_DEVICE std::size_t pieces_per_page() const {
    return memory.layout.equal_arrays * pieces_of(memory.layout.element_bytes) +
           pieces_of(memory.layout.last_bytes);
  }
  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t copy = item / pieces_per_page();
    const std::size_t piece = item % pieces_per_page();
    const std::size_t of_array = pieces_of(memory.layout.element_bytes);
    const std::size_t quotient = piece / of_array;
    const std::size_t array =
        quotient < memory.layout.equal_arrays ? quotient : memory.layout.equal_arrays;
    const PagePart part = part_of_array(memory, array);
    const std::size_t begin = (piece - array * of_array) * piece_bytes;
    const std::size_t end = begin + piece_bytes < part.stride ? begin + piece_bytes : part.stride;
    const auto* source = part_of_page<std::byte>(part, sources[copy]);
    auto* target = part_of_page<std::byte>(part, targets[copy]);
    for (std::size_t i = begin; i < end; i += word_bytes) {
      memcpy(target + i, source + i, word_bytes);
    }
  }

 private:
  TEMPERA_HOST_DEVICE static std::size_t pieces_of(std::size_t bytes) {
    return (bytes + piece_bytes - 1) / piece_bytes;
  }
};

/// The first position that a row sees of those before `context`.
TEMPERA_HOST_DEVICE inline std::size_t first_seen(std::size_t context, std::size_t window) {
  return window == 0 || context <= window ? 0 : context - window;
}

/// Of the `slots` positions from `begin` on those before `first`.
TEMPERA_HOST_DEVICE inline std::size_t slots_before(std::size_t first, std::size_t begin,
                                                    std::size_t slots) {
  return first <= begin ? 0 : first - begin < slots ? first - begin : slots;
}

/// Elements of a head that rotate.
TEMPERA_HOST_DEVICE inline std::size_t rotary_dim_of(const AttentionShape& shape) {
  return shape.rotary_dim == 0 ? shape.head_dim : shape.rotary_dim;
}

/// An item is one head of one row: its queries first, then its keys, then its values.
struct RotateIntoPages {
  AttentionShape shape;
  const float* query_norm;  // [head_dim]; may be null
  const float* key_norm;    // [head_dim]; may be null
  float epsilon;
  RotaryTables tables;
  TokenRows batch;
  PagePart keys;           // [key_value_heads, head_dim, page_tokens]
  PagePart values;         // [key_value_heads, page_tokens, head_dim]
  float* query_key_value;  // [rows, shape.row_floats]

  TEMPERA_HOST_DEVICE std::size_t items() const { return batch.rows * heads_per_row(); }
  TEMPERA_HOST_DEVICE std::size_t heads_per_row() const {
    return shape.heads + 2 * shape.key_value_heads;
  }

  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t row = item / heads_per_row();
    std::size_t head = item % heads_per_row();
    const std::size_t position = batch.positions[row];
    const std::size_t slot = position % page_tokens;
    float* buffer = query_key_value + row * shape.row_floats;
    if (head < shape.heads) {
      float* query = buffer + head * shape.head_dim;
      rotate(query, query_norm, position, query, 1);
      return;
    }
    const std::size_t page = page_of_row(batch, row);
    const std::size_t head_floats = shape.head_dim * page_tokens;
    head -= shape.heads;
    if (head < shape.key_value_heads) {
      rotate(buffer + shape.key_begin + head * shape.head_dim, key_norm, position,
             part_of_page<float>(keys, page) + head * head_floats + slot, page_tokens);
      return;
    }
    head -= shape.key_value_heads;
    const float* value = buffer + shape.value_begin + head * shape.head_dim;
    float* target = part_of_page<float>(values, page) + head * head_floats + slot * shape.head_dim;
    for (std::size_t d = 0; d < shape.head_dim; ++d) target[d] = value[d];
  }

  /// Element d of the result goes to result[d * stride]; it may overwrite the input.
  TEMPERA_HOST_DEVICE void rotate(const float* vector, const float* norm, std::size_t position,
                                  float* result, std::size_t stride) const {
    const std::size_t half = rotary_dim_of(shape) / 2;
    const float mean =
        sum_of_squares<partial_sums>(vector, shape.head_dim) / static_cast<float>(shape.head_dim);
    const float factor = 1.0f / sqrtf(mean + epsilon);
    for (std::size_t d = 0; d < half; ++d) {
      float low = vector[d];
      float high = vector[d + half];
      if (norm != nullptr) {
        low = norm[d] * (low * factor);
        high = norm[d + half] * (high * factor);
      }
      const float cosine = tables.cosines[position * half + d];
      const float sine = tables.sines[position * half + d];
      result[d * stride] = fused_multiply_add(low, cosine, -(high * sine));
      result[(d + half) * stride] = fused_multiply_add(high, cosine, low * sine);
    }
    for (std::size_t d = 2 * half; d < shape.head_dim; ++d) {
      result[d * stride] = norm == nullptr ? vector[d] : norm[d] * (vector[d] * factor);
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
