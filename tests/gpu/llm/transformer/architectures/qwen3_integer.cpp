#include <cmath>
#include <cstring>

#include "gpu/llm/transformer/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_integer.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::integer_test {

namespace {

/// The shape of a model and the length of a text.
struct IntegerCase {
  std::size_t hidden;
  std::size_t inner;
  std::size_t heads;
  std::size_t groups;
  std::size_t head_dim;
  std::size_t layers;
  std::size_t tokens;

  DecoderConfig config() const {
    DecoderConfig result;
    result.vocab_size = 23;
    result.hidden_size = hidden;
    result.intermediate_size = inner;
    result.num_hidden_layers = layers;
    result.num_attention_heads = heads;
    result.num_key_value_heads = groups;
    result.head_dim = head_dim;
    result.max_position_embeddings = 600;
    result.tie_word_embeddings = layers > 1;
    return result;
  }
  std::vector<TokenId> text() const {
    std::vector<TokenId> result;
    for (std::size_t i = 0; i < tokens; ++i) {
      result.push_back(static_cast<TokenId>((i * i + 3 * i) % 23));
    }
    return result;
  }
};

/// Three segments of inputs, the last one short.
constexpr IntegerCase long_inputs{530, 1100, 2, 1, 10, 1, 5};
/// A head of three segments. In what comes before it, rounding to whole numbers hides a last bit.
constexpr IntegerCase long_head{1100, 40, 2, 1, 10, 1, 3};
/// More than two splits, the last one short.
constexpr IntegerCase several_splits{24, 20, 4, 2, 50, 1, 530};

using RowBits = std::vector<std::vector<std::uint32_t>>;  // of the logits

RowBits row_bits(const std::vector<std::vector<float>>& rows) {
  RowBits result;
  for (const auto& row : rows) {
    result.emplace_back(row.size());
    std::memcpy(result.back().data(), row.data(), row.size() * sizeof(float));
  }
  return result;
}

RowBits computed_by(const IntegerCase& shape, const Kernels& kernels) {
  KeptTensors tensors(5);
  Transformer transformer(std::make_unique<Qwen3>(shape.config(), tensors, kernels));
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(shape.text(), memory);
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < shape.tokens; ++i) rows.push_back(memory.download(i * 23, 23));
  return row_bits(rows);
}

RowBits plainly(const IntegerCase& shape, IntegerDefect defect = IntegerDefect::none) {
  KeptTensors tensors(5);
  const Qwen3 names_and_shapes(shape.config(), tensors, default_kernels(Arithmetic::integer));
  return row_bits(PlainInteger(shape.config(), tensors, defect).logits(shape.text()));
}

}  // namespace

TEST_CASE("integer logits are those of a naive recomputation, bit for bit", "[integer][long]") {
  for (const IntegerCase& shape : {
           long_inputs, long_head, several_splits,
           IntegerCase{21, 35, 6, 3, 18, 2, 40},    // nothing a multiple of anything
           IntegerCase{512, 32, 1, 1, 2, 1, 3},     // exactly one segment
           IntegerCase{513, 64, 1, 1, 16, 1, 3},    // a segment of one input
           IntegerCase{32, 16, 4, 1, 64, 1, 270},   // grouped
           IntegerCase{32, 16, 2, 2, 80, 2, 20},    // ungrouped
           IntegerCase{16, 16, 2, 1, 128, 1, 257},  // one position in a split of its own
           IntegerCase{16, 16, 1, 1, 256, 1, 256},  // exactly one split
           IntegerCase{16, 16, 70, 2, 6, 1, 20},    // more queries than go together
       }) {
    CAPTURE(shape.hidden, shape.inner, shape.heads, shape.groups, shape.head_dim, shape.tokens);
    const RowBits expected = plainly(shape);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::integer)) {
      CAPTURE(form->name());
      CHECK((computed_by(shape, *form) == expected));
    }
  }
}

TEST_CASE("the comparison of integer logits sees every planted defect", "[integer][long]") {
  const auto sees = [](const IntegerCase& shape, std::initializer_list<IntegerDefect> defects) {
    const RowBits rows = plainly(shape);
    for (const auto defect : defects) {
      INFO("defect " << static_cast<int>(defect));
      // Sums of what counts as inputs on both sides leave 32 bits.
      if (defect == IntegerDefect::weights_as_inputs) {
        CHECK_THROWS_AS(plainly(shape, defect), std::overflow_error);
      } else {
        CHECK((plainly(shape, defect) != rows));
      }
    }
  };
  sees(long_inputs, {IntegerDefect::ties_away_from_zero, IntegerDefect::one_exponent_less,
                     IntegerDefect::weights_as_inputs, IntegerDefect::one_exponent_a_row,
                     IntegerDefect::norm_of_floats});
  sees(long_head, {IntegerDefect::segments_added_backwards});
  sees(several_splits,
       {IntegerDefect::values_with_a_norm, IntegerDefect::shares_of_14_bits,
        IntegerDefect::shares_divided_by_their_float_sum, IntegerDefect::values_exponents_ignored,
        IntegerDefect::splits_of_128, IntegerDefect::embedding_of_whole_numbers});
}

}  // namespace tempera::gpu::integer_test
