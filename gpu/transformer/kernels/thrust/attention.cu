#include <cmath>

#include "gpu/device/launch.hpp"
#include "gpu/transformer/kernels/float32_exponential.hpp"
#include "gpu/transformer/kernels/float_lanes.hpp"
#include "gpu/transformer/kernels/kernels.hpp"
#include "gpu/transformer/kernels/lane_sum.hpp"

namespace tempera::gpu {

namespace {

struct RotateIntoPages {
  AttentionShape shape;
  const float* query_norm;  // [head_dim]
  const float* key_norm;    // [head_dim]
  float epsilon;
  RotaryTables tables;
  TokenRows batch;
  std::size_t layer;
  PageMemory memory;
  float* query_key_value;  // [rows, shape.row_floats()]

  std::size_t items() const { return batch.rows * heads_per_row(); }
  TEMPERA_HOST_DEVICE std::size_t heads_per_row() const {
    return shape.heads + 2 * shape.key_value_heads;
  }

  /// An item is one head of one row: its queries first, then its keys, then its values.
  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t row = item / heads_per_row();
    std::size_t head = item % heads_per_row();
    const std::size_t position = batch.positions[row];
    const std::size_t page_number =
        batch.page_table[batch.first_page[row] + position / page_tokens];
    const std::size_t slot = position % page_tokens;
    float* page = memory.floats + page_number * memory.shape.floats();
    float* buffer = query_key_value + row * shape.row_floats();
    if (head < shape.heads) {
      float* query = buffer + head * shape.head_dim;
      rotate(query, query_norm, position, query, 1);
      return;
    }
    head -= shape.heads;
    if (head < shape.key_value_heads) {
      rotate(buffer + shape.key_begin() + head * shape.head_dim, key_norm, position,
             page + memory.shape.key_offset(layer, head) + slot, page_tokens);
      return;
    }
    head -= shape.key_value_heads;
    const float* value = buffer + shape.value_begin() + head * shape.head_dim;
    float* target = page + memory.shape.value_offset(layer, head) + slot * shape.head_dim;
    for (std::size_t d = 0; d < shape.head_dim; ++d) target[d] = value[d];
  }

  /// Element d of the result goes to result[d * stride]; it may overwrite the input.
  TEMPERA_HOST_DEVICE void rotate(const float* vector, const float* norm, std::size_t position,
                                  float* result, std::size_t stride) const {
    const std::size_t half = shape.head_dim / 2;
    const float mean = sum_of_squares(vector, shape.head_dim) / static_cast<float>(shape.head_dim);
    const float factor = 1.0f / sqrtf(mean + epsilon);
    for (std::size_t d = 0; d < half; ++d) {
      const float low = norm[d] * (vector[d] * factor);
      const float high = norm[d + half] * (vector[d + half] * factor);
      const float cosine = tables.cosines[position * half + d];
      const float sine = tables.sines[position * half + d];
      result[d * stride] = fused_multiply_add(low, cosine, -(high * sine));
      result[(d + half) * stride] = fused_multiply_add(high, cosine, low * sine);
    }
  }
};

struct Attend {
  AttentionShape shape;
  float scale;
  const float* query_key_value;  // [rows, shape.row_floats()]
  TokenRows batch;
  std::size_t layer;
  PageMemory memory;
  float* attended;  // [rows, shape.query_size()]

  /// An item is one head of one row. The softmax is taken page by page: with each page the largest
  /// score so far may grow, and what is summed is rescaled to it.
  TEMPERA_HOST_DEVICE void operator()(std::size_t item) const {
    const std::size_t row = item / shape.heads;
    const std::size_t head = item % shape.heads;
    const std::size_t key_value_head = head / (shape.heads / shape.key_value_heads);
    const std::size_t context = std::size_t{batch.positions[row]} + 1;
    const std::uint32_t* pages = batch.page_table + batch.first_page[row];
    const float* query = query_key_value + row * shape.row_floats() + head * shape.head_dim;
    float* sum = attended + row * shape.query_size() + head * shape.head_dim;
    for (std::size_t d = 0; d < shape.head_dim; ++d) sum[d] = 0.0f;
    float largest = -3.402823466e+38f;
    float masses[lanes] = {};
    for (std::size_t begin = 0; begin < context; begin += page_tokens) {
      const float* page = memory.floats + pages[begin / page_tokens] * memory.shape.floats();
      const std::size_t tokens = context - begin < page_tokens ? context - begin : page_tokens;
      float scores[lanes];
      score(query, page + memory.shape.key_offset(layer, key_value_head), scores);
      float new_largest = largest;
      for (std::size_t lane = 0; lane < tokens; ++lane) {
        new_largest = scores[lane] > new_largest ? scores[lane] : new_largest;
      }
      // 1 exactly where the largest stays: the products below then change nothing.
      const float shrink = float32_exponential(largest - new_largest);
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const float mass = float32_exponential(scores[lane] - new_largest);
        scores[lane] = lane < tokens ? mass : 0.0f;
        masses[lane] = fused_multiply_add(masses[lane], shrink, scores[lane]);
      }
      add_values(page + memory.shape.value_offset(layer, key_value_head), scores, tokens, shrink,
                 sum);
      largest = new_largest;
    }
    const float factor = 1.0f / lane_sum(masses);
    for (std::size_t d = 0; d < shape.head_dim; ++d) sum[d] *= factor;
  }

  /// scores[t] = scale · Σ_d query[d] keys[d, t]; slots past the context give what nobody reads.
  /// keys: [head_dim, page_tokens].
  TEMPERA_HOST_DEVICE void score(const float* query, const float* keys,
                                 float (&scores)[lanes]) const {
    FloatLanes dots = broadcast(0.0f);
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      dots = fused_multiply_add(broadcast(query[d]), load(keys + d * page_tokens), dots);
    }
    store(dots * broadcast(scale), scores);
  }

  /// sum = sum · shrink + Σ_t masses[t] values[t]. values: [page_tokens, head_dim].
  TEMPERA_HOST_DEVICE void add_values(const float* values, const float (&masses)[lanes],
                                      std::size_t tokens, float shrink, float* sum) const {
    std::size_t begin = 0;
    for (; begin + lanes <= shape.head_dim; begin += lanes) {
      FloatLanes part = load(sum + begin) * broadcast(shrink);
      for (std::size_t token = 0; token < tokens; ++token) {
        part = fused_multiply_add(broadcast(masses[token]),
                                  load(values + token * shape.head_dim + begin), part);
      }
      store(part, sum + begin);
    }
    for (std::size_t d = begin; d < shape.head_dim; ++d) {
      float part = sum[d] * shrink;
      for (std::size_t token = 0; token < tokens; ++token) {
        part = fused_multiply_add(masses[token], values[token * shape.head_dim + d], part);
      }
      sum[d] = part;
    }
  }
};

}  // namespace

void rotate_into_pages(const AttentionShape& shape, const float* query_norm, const float* key_norm,
                       float epsilon, const RotaryTables& tables, const TokenRows& batch,
                       std::size_t layer, const PageMemory& memory, float* query_key_value) {
  const RotateIntoPages kernel{shape, query_norm, key_norm, epsilon,        tables,
                               batch, layer,      memory,   query_key_value};
  launch(kernel.items(), kernel);
}

void attend(const AttentionShape& shape, const float* query_key_value, const TokenRows& batch,
            std::size_t layer, const PageMemory& memory, float* attended) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  launch(batch.rows * shape.heads,
         Attend{shape, scale, query_key_value, batch, layer, memory, attended});
}

}  // namespace tempera::gpu
