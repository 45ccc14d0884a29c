#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/llm/transformer/cache/page_part.hpp"
#include "gpu/llm/transformer/cache/state_shape.hpp"
#include "gpu/llm/transformer/weights/matrix_view.hpp"

namespace tempera::gpu {

/// The records of a launch whose architecture has a recurrent state, and where the states are. The
/// rows of a record follow one another in the order of its tokens, with none left out.
struct RecurrentRows {
  std::size_t records = 0;                     // those that have rows
  const std::uint32_t* first_row = nullptr;    // [records + 1]
  const std::uint32_t* first_state = nullptr;  // [records], into state_table
  const std::uint32_t* state_table = nullptr;  // states of each record in order: state_tokens
  PageMemory memory{};                         // of all states
};

/// Which rows of a launch have the same pages of keys and values, so that a form may read these
/// once for several rows. It changes no bit. Rows that share are neighbours in `order`:
/// the first splits[i] splits of attention of its i-th row are the same pages as those of the row
/// before it, as far as both reach, and both reach into each of them.
struct SharedRows {
  const std::uint32_t* order = nullptr;   // [rows]; null if nothing is known to be shared
  const std::uint32_t* splits = nullptr;  // [rows], of split_pages pages
};

/// The tokens that a forward pass computes, one row each, and where the pages of their records are.
struct TokenRows {
  std::size_t rows;
  std::size_t context;              // above every position
  const std::uint32_t* tokens;      // [rows]
  const std::uint32_t* positions;   // [rows]
  const std::uint32_t* first_page;  // [rows], into page_table
  const std::uint32_t* page_table;  // pages of each record in order
  RecurrentRows recurrent{};
  bool own_records = false;  // every row is of a record of its own: none attends to another
  /// If own_records, no split is shared that has the row's own token.
  SharedRows shared{};
};

/// Tokens that are in the pages: slot slots[row] of page pages[row].
struct CachedRows {
  std::size_t rows;
  const std::uint32_t* pages;  // [rows]
  const std::uint32_t* slots;  // [rows]
};

/// Where a head leaves its rows of logits, and, for the draw after it, the largest of every tile
/// of 16 outputs: -infinity if all are, NaN if one is NaN or +infinity.
struct LogitRows {
  float* logits;                  // [rows, out]
  float* tile_largest = nullptr;  // [rows, out / 16 rounded up]; null if nobody asks for them
};

/// How the queries, keys and values of one row are laid out in a buffer: queries [heads, head_dim]
/// from 0 on, keys and values [key_value_heads, head_dim] from key_begin and value_begin on, and,
/// if what is attended has gates, these [heads, head_dim] from gate_begin on.
struct AttentionShape {
  std::size_t heads;
  std::size_t key_value_heads;
  std::size_t head_dim;
  std::size_t key_begin;
  std::size_t value_begin;
  std::size_t row_floats;
  std::size_t rotary_dim = 0;  // elements of a head that rotate, the first ones; 0: all
  std::size_t gate_begin = 0;  // 0: there are no gates
};

/// cos and sin of position · frequency_d, both times one magnitude: see RotaryAngles.
struct RotaryTables {
  const float* cosines;  // [positions, rotary_dim / 2]
  const float* sines;    // [positions, rotary_dim / 2]
};

/// Rows that enter a matrix product, [rows, size], as the arithmetic stores them: float32, or the
/// bits of bfloat16s under every arithmetic but `float32`. The other pointer is null.
struct ProductInputs {
  float* float32;
  std::uint16_t* bfloat16;
};

/// Rows that enter a product normalised.
struct RowNorm {
  const float* states;  // [rows, the matrix's inputs]
  const float* weight;  // [the matrix's inputs]
  float epsilon;
  ProductInputs normed;  // room for them; what it holds afterwards depends on the form
};

/// The vectors of a recurrent layer, besides its two matrices.
struct RecurrentWeights {
  const float* convolution;  // [taps, channels], the row's own token last
  const float* rates;        // [value_heads]
  const float* biases;       // [value_heads]
  const float* norm;         // [value_dim]
  float epsilon;
};

/// Where the states of one recurrent layer are, as StateShape lays them out.
struct RecurrentStates {
  PagePart inputs;    // the latest of the convolution
  PagePart memories;  // of the delta rule
};

/// The weights of one layer of a dense decoder, and where its keys and values are.
struct DenseLayer {
  const float* input_norm;            // [hidden size]
  MatrixView query_key_value;         // hidden size -> shape.row_floats
  const float* query_key_value_bias;  // [shape.row_floats]; may be null
  const float* query_norm;            // [head_dim]; may be null, and key_norm with it
  const float* key_norm;              // [head_dim]
  MatrixView attention_output;        // heads · head_dim -> hidden size
  const float* post_attention_norm;   // [hidden size]
  MatrixView gate_up;                 // hidden size -> intermediate size, twice
  MatrixView down;                    // intermediate size -> hidden size
  PagePart keys;
  PagePart values;
};

/// What the layers of a dense decoder have in common, and the memory that they work on.
struct DenseDecoderWork {
  AttentionShape shape;
  std::size_t intermediate_size;
  float epsilon;
  RotaryTables rotary;
  float* states;           // [rows, hidden size]
  ProductInputs normed;    // [rows, hidden size]
  float* query_key_value;  // [rows, shape.row_floats]
  ProductInputs attended;  // [rows, heads · head_dim]
  ProductInputs gated;     // [rows, intermediate size]
};

class TokenStep;
class VariantKernels;

/// The steps of a forward pass under one arithmetic, in one of several forms that give the same
/// bits: for `float32` the readable one on Thrust (kernels/thrust/), which is also the device's;
/// for both one per instruction set of the host (kernels/host/). Every pointer is to memory that
/// the form can reach; [a, b] is row-major. Matrices, product inputs and pages are stored as the
/// arithmetic says (MatrixView, ProductInputs, PageShape); what is rounded and summed how,
/// docs/reference/arithmetic.md says.
///
/// Each element of a result is computed by one fixed sequence of operations that depends on its own
/// token's inputs alone: on no other row, not on the number of rows, not on how the work is cut
/// into items or given to threads.
///
/// A form for a device can run a pass as a graph for each number of rows and context: whatever else
/// changes from step to step (TokenRows' arrays, CachedRows' arrays) it reads from device memory.
class Kernels {
 public:
  virtual ~Kernels();
  /// "thrust", or "host, avx2" and the like: what its source was really compiled for.
  virtual const char* name() const = 0;
  virtual Arithmetic arithmetic() const = 0;

  /// states[row] = the embedding of the row's token. states: [rows, embedding.in].
  virtual void embed(const MatrixView& embedding, const TokenRows& batch, float* states) const = 0;

  /// normed[row] = weight · states[row] / sqrt(mean(states[row]^2) + epsilon), all [rows, size].
  virtual void normalize(const float* states, const float* weight, std::size_t rows,
                         std::size_t size, float epsilon, const ProductInputs& normed) const = 0;

  /// normalize, into the pages. target: [page_tokens, size].
  virtual void normalize_into_pages(const float* states, const float* weight,
                                    const TokenRows& batch, std::size_t size, float epsilon,
                                    const PagePart& target) const = 0;

  /// outputs[row, o] = Σ_i matrix[o, i] · inputs[row, i] for o < out.
  /// inputs: [rows, matrix.in]; outputs: [rows, out], out <= matrix.out.
  virtual void multiply(const MatrixView& matrix, const ProductInputs& inputs, std::size_t rows,
                        std::size_t out, float* outputs) const = 0;

  /// multiply, and bias[o] added to each sum. bias: [out].
  virtual void multiply_with_bias(const MatrixView& matrix, const ProductInputs& inputs,
                                  const float* bias, std::size_t rows, std::size_t out,
                                  float* outputs) const = 0;

  /// multiply, added to what `outputs` holds.
  virtual void multiply_and_add(const MatrixView& matrix, const ProductInputs& inputs,
                                std::size_t rows, std::size_t out, float* outputs) const = 0;

  /// gated[row, o] = silu(gate[o] · inputs[row]) * (up[o] · inputs[row]), the SwiGLU of a layer.
  /// inputs: [rows, gate_up.in]; gated: [rows, out]; gate_up stacks gate and up, [out, in] each.
  virtual void multiply_gated(const MatrixView& gate_up, const ProductInputs& inputs,
                              std::size_t rows, std::size_t out,
                              const ProductInputs& gated) const = 0;

  /// Calls normalize with `norm`, and then multiply, or multiply_with_bias if bias is not null.
  virtual void normalize_and_multiply(const RowNorm& norm, const MatrixView& matrix,
                                      const float* bias, std::size_t rows, std::size_t out,
                                      float* outputs) const;

  /// Calls normalize with `norm`, and then multiply_gated.
  virtual void normalize_and_multiply_gated(const RowNorm& norm, const MatrixView& gate_up,
                                            std::size_t rows, std::size_t out,
                                            const ProductInputs& gated) const;

  /// Normalises every head's query and key, unless query_norm and key_norm are null, and rotates
  /// their first rotary_dim elements by their position, the queries in place and the keys, with the
  /// values, into the pages. query_key_value: [rows, shape.row_floats]; keys and values as
  /// PageShape lays them out.
  virtual void rotate_into_pages(const AttentionShape& shape, const float* query_norm,
                                 const float* key_norm, float epsilon, const RotaryTables& tables,
                                 const TokenRows& batch, const PagePart& keys,
                                 const PagePart& values, float* query_key_value) const = 0;

  /// attended[row, h] = Σ_s softmax_s(q_h · k_s / sqrt(head_dim)) v_s over the positions s up to
  /// the row's own, in order, and, if the shape has gates, that times sigmoid(gate), element by
  /// element. attended: [rows, heads · head_dim]; the rest as above.
  virtual void attend(const AttentionShape& shape, const float* query_key_value,
                      const TokenRows& batch, const PagePart& keys, const PagePart& values,
                      const ProductInputs& attended) const = 0;

  /// Calls rotate_into_pages and then attend. What query_key_value holds afterwards depends on the
  /// form.
  virtual void rotate_and_attend(const AttentionShape& shape, const float* query_norm,
                                 const float* key_norm, float epsilon, const RotaryTables& tables,
                                 const TokenRows& batch, const PagePart& keys,
                                 const PagePart& values, float* query_key_value,
                                 const ProductInputs& attended) const;

  /// Takes the states of the rows through the layers of a dense decoder, one after another:
  /// normalize_and_multiply, rotate_and_attend, multiply_and_add of what is attended,
  /// normalize_and_multiply_gated, multiply_and_add of what is gated. What `work` holds besides
  /// the states afterwards depends on the form.
  virtual void run_dense_layers(const DenseDecoderWork& work, std::span<const DenseLayer> layers,
                                const TokenRows& batch) const;

  /// gathered[row] = what `source`, [page_tokens, size], holds of the row's token.
  virtual void gather_from_pages(const CachedRows& batch, std::size_t size, const PagePart& source,
                                 const ProductInputs& gathered) const = 0;

  /// normalize_into_pages of `computed`, and then gather_from_pages of `asked`: the end of a step,
  /// whose rows are as many. What it asks for is in the same row's slot, or was there before.
  virtual void normalize_and_gather(const float* states, const float* weight,
                                    const TokenRows& computed, const CachedRows& asked,
                                    std::size_t size, float epsilon, const PagePart& target,
                                    const ProductInputs& gathered) const;

  /// multiply, of a head. A form without a fused draw (TokenStep) leaves logits.tile_largest as it
  /// is.
  virtual void multiply_head(const MatrixView& head, const ProductInputs& inputs, std::size_t rows,
                             std::size_t out, const LogitRows& logits) const;

  /// A recurrent layer (gated DeltaNet, Yang et al. 2024) between its two matrices, token after
  /// token of each record, from the state before its first row on. For every channel of queries,
  /// keys and values a causal convolution with its own weights, and silu of it; then
  ///   queries q / |q| / sqrt(key_dim), keys k / |k|, |x|^2 = Σ x^2 + 1e-6
  ///   write strength sigmoid(b), decay exp(-rate · log(1 + exp(a + bias)))
  ///   of each value head's memory S: S = decay · S, S += key ⊗ strength · (value - S^T key),
  ///   o = S^T query
  ///   answers[row, h] = norm · o_h / sqrt(mean(o_h^2) + epsilon) · silu(gate_h)
  /// The state after every token that ends a stretch of state_tokens, and after each record's
  /// last row, is kept. projected: [rows, shape.row_floats], as RecurrentShape says; what is
  /// there afterwards is each form's own. answers: [rows, value_heads · value_dim].
  virtual void recur(const RecurrentShape& shape, const RecurrentWeights& weights,
                     const TokenRows& batch, const RecurrentStates& states, float* projected,
                     const ProductInputs& answers) const = 0;

  /// Copies page sources[c] to page targets[c] for each c < copies.
  virtual void copy_pages(const std::uint32_t* sources, const std::uint32_t* targets,
                          std::size_t copies, const PageMemory& memory) const = 0;

  /// Refuses a model whose attention this form cannot compute on this device; `where` names its
  /// configuration. Called before any weight is read.
  /// @throw BadInput
  virtual void require_attention(const AttentionShape& shape, const std::string& where) const;

  /// Refuses a model whose recurrent layers this form cannot compute on this device; `where` names
  /// its configuration. Called before any weight is read.
  /// @throw BadInput
  virtual void require_recurrence(const RecurrentShape& shape, const std::string& where) const;

  /// The steps of layers that are not those of run_dense_layers; null for a form that has none.
  virtual const VariantKernels* variants() const { return nullptr; }

  /// What runs whole steps of a model of this form, with the draw, as graphs of its device; null
  /// for a form that has no such thing.
  virtual std::unique_ptr<TokenStep> make_token_step() const;
};

}  // namespace tempera::gpu
