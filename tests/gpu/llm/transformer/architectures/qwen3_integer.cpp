#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_integer.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_bits.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::integer_test {

namespace {

/// Three segments of inputs, the last one short.
constexpr Qwen3Case long_inputs{530, 1100, 2, 1, 10, 1, 5};
/// A head of three segments. In what comes before it, rounding to whole numbers hides a last bit.
constexpr Qwen3Case long_head{1100, 40, 2, 1, 10, 1, 3};
/// More than two splits, the last one short.
constexpr Qwen3Case several_splits{24, 20, 4, 2, 50, 1, 530};

RowBits plainly(const Qwen3Case& shape, IntegerDefect defect = IntegerDefect::none) {
  return written_out<PlainInteger>(shape, Arithmetic::integer, defect);
}

}  // namespace

TEST_CASE("integer logits are those of a naive recomputation, bit for bit", "[integer][long]") {
  for (const Qwen3Case& shape : {
           long_inputs, long_head, several_splits,
           Qwen3Case{21, 35, 6, 3, 18, 2, 40},    // nothing a multiple of anything
           Qwen3Case{512, 32, 1, 1, 2, 1, 3},     // exactly one segment
           Qwen3Case{513, 64, 1, 1, 16, 1, 3},    // a segment of one input
           Qwen3Case{32, 16, 4, 1, 64, 1, 270},   // grouped
           Qwen3Case{32, 16, 2, 2, 80, 2, 20},    // ungrouped
           Qwen3Case{16, 16, 2, 1, 128, 1, 257},  // one position in a split of its own
           Qwen3Case{16, 16, 1, 1, 256, 1, 256},  // exactly one split
           Qwen3Case{16, 16, 70, 2, 6, 1, 20},    // more queries than go together
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
  const auto sees = [](const Qwen3Case& shape, std::initializer_list<IntegerDefect> defects) {
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
