#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/transformer/cache/page_shape.hpp"
#include "gpu/transformer/weights/packed_matrix.hpp"

// The steps of a forward pass. Every pointer is to device memory; [a, b] is row-major.
//
// Each element of a result is computed by one fixed sequence of float32 operations that depends on
// its own token's inputs alone: on no other row, not on the number of rows, not on how the work is
// cut into items or given to threads.

namespace tempera::gpu {

/// The tokens that a forward pass computes, one row each, and where the pages of their records are.
struct TokenRows {
  std::size_t rows;
  const std::uint32_t* tokens;      // [rows]
  const std::uint32_t* positions;   // [rows]
  const std::uint32_t* first_page;  // [rows], into page_table
  const std::uint32_t* page_table;  // pages of each record in order
};

/// The pages of all caches.
struct PageMemory {
  float* floats;  // [pages, shape.floats()]
  PageShape shape;
};

/// cos and sin of position · theta^(-2d / head_dim).
struct RotaryTables {
  const float* cosines;  // [positions, head_dim / 2]
  const float* sines;    // [positions, head_dim / 2]
};

/// states[row] = the embedding of the row's token. states: [rows, embedding.in].
void embed(const PackedMatrix& embedding, const TokenRows& batch, float* states);

/// normed[row] = weight · states[row] / sqrt(mean(states[row]^2) + epsilon), all [rows, size].
void normalize(const float* states, const float* weight, std::size_t rows, std::size_t size,
               float epsilon, float* normed);

/// As normalize, into the final hidden states of the pages.
void normalize_into_pages(const float* states, const float* weight, const TokenRows& batch,
                          float epsilon, const PageMemory& memory);

/// outputs[row, o] = Σ_i matrix[o, i] · inputs[row, i] for o < out.
/// inputs: [rows, matrix.in]; outputs: [rows, out], out <= matrix.out.
void multiply(const PackedMatrix& matrix, const float* inputs, std::size_t rows, std::size_t out,
              float* outputs);

/// As multiply, added to what `outputs` holds.
void multiply_and_add(const PackedMatrix& matrix, const float* inputs, std::size_t rows,
                      std::size_t out, float* outputs);

/// gated[row, o] = silu(gate[o] · inputs[row]) * (up[o] · inputs[row]), the SwiGLU of a layer.
/// inputs: [rows, gate_up.in]; gated: [rows, out]; gate_up stacks gate and up, [out, in] each.
void multiply_gated(const PackedMatrix& gate_up, const float* inputs, std::size_t rows,
                    std::size_t out, float* gated);

/// How the queries, keys and values of one row lie in a buffer of query_key_value.out floats.
struct AttentionShape {
  std::size_t heads;
  std::size_t key_value_heads;
  std::size_t head_dim;

  TEMPERA_HOST_DEVICE std::size_t query_size() const { return heads * head_dim; }
  TEMPERA_HOST_DEVICE std::size_t key_begin() const { return padded(query_size()); }
  TEMPERA_HOST_DEVICE std::size_t value_begin() const {
    return key_begin() + padded(key_value_heads * head_dim);
  }
  TEMPERA_HOST_DEVICE std::size_t row_floats() const {
    return value_begin() + padded(key_value_heads * head_dim);
  }
};

/// Normalises every head's query and key and rotates them by their position, the queries in place
/// and the keys, with the values, into layer `layer` of the pages.
/// query_key_value: [rows, shape.row_floats()].
void rotate_into_pages(const AttentionShape& shape, const float* query_norm, const float* key_norm,
                       float epsilon, const RotaryTables& tables, const TokenRows& batch,
                       std::size_t layer, const PageMemory& memory, float* query_key_value);

/// attended[row, h] = Σ_s softmax_s(q_h · k_s / sqrt(head_dim)) v_s over the positions s up to the
/// row's own, in order, page by page. attended: [rows, shape.query_size()].
void attend(const AttentionShape& shape, const float* query_key_value, const TokenRows& batch,
            std::size_t layer, const PageMemory& memory, float* attended);

/// hidden[row] = the final hidden state of slot slots[row] of page pages[row].
/// pages, slots: [rows]; hidden: [rows, hidden_size].
void gather_hidden(const std::uint32_t* pages, const std::uint32_t* slots, std::size_t rows,
                   const PageMemory& memory, float* hidden);

/// Copies page sources[c] to page targets[c] for each c < copies.
void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets, std::size_t copies,
                const PageMemory& memory);

}  // namespace tempera::gpu
