#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_bits.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::qwen3_tensor_core_test {

namespace {

/// More than one segment, the last step filled up.
constexpr Qwen3Case long_rows{600, 1030, 2, 1, 10, 1, 5};
/// More than two splits, the last one short.
constexpr Qwen3Case long_text{24, 20, 4, 2, 18, 1, 530};

RowBits plainly(const Qwen3Case& shape, TensorCoreDefect defect = TensorCoreDefect::none) {
  return written_out<PlainTensorCore>(shape, Arithmetic::tensor_core, defect);
}

}  // namespace

TEST_CASE("tensor-core logits are the sequences of docs/reference/arithmetic.md, bit for bit",
          "[tensor-core][long]") {
  for (const Qwen3Case& shape : {
           long_rows, long_text,
           Qwen3Case{21, 35, 6, 3, 18, 2, 40},    // nothing a multiple of anything
           Qwen3Case{512, 16, 1, 1, 2, 1, 3},     // exactly one segment
           Qwen3Case{528, 1024, 1, 1, 16, 1, 3},  // a segment and one step
           Qwen3Case{32, 16, 4, 1, 64, 1, 270},   // grouped
           Qwen3Case{32, 16, 2, 2, 80, 2, 20},    // ungrouped
           Qwen3Case{16, 16, 2, 1, 128, 1, 257},  // one position in a split of its own
           Qwen3Case{16, 16, 1, 1, 256, 1, 256},  // exactly one split
           Qwen3Case{16, 16, 2, 2, 300, 1, 20},   // a head of more than one piece
           Qwen3Case{16, 16, 20, 2, 6, 1, 20},    // more queries than share a reading
       }) {
    CAPTURE(shape.hidden, shape.inner, shape.heads, shape.groups, shape.head_dim, shape.tokens);
    const RowBits expected = plainly(shape);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::tensor_core)) {
      CAPTURE(form->name());
      CHECK((computed_by(shape, *form) == expected));
    }
  }
}

TEST_CASE("tensor-core-ampere logits are the same sequences in Ampere's steps, bit for bit",
          "[tensor-core][long]") {
  for (const Qwen3Case& shape : {long_rows, Qwen3Case{21, 35, 6, 3, 18, 2, 40}}) {
    CAPTURE(shape.hidden, shape.tokens);
    const RowBits expected = plainly(shape, TensorCoreDefect::ampere_step);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::tensor_core_ampere)) {
      CAPTURE(form->name());
      CHECK((computed_by(shape, *form) == expected));
    }
  }
}

TEST_CASE("the comparison of tensor-core logits sees every planted defect of a product",
          "[tensor-core][long]") {
  const RowBits rows = plainly(long_rows);
  for (const auto defect :
       {TensorCoreDefect::ampere_step, TensorCoreDefect::segments_joined,
        TensorCoreDefect::segment_boundary_moved, TensorCoreDefect::stream_rounded}) {
    INFO("defect " << static_cast<int>(defect));
    CHECK((plainly(long_rows, defect) != rows));
  }
}

}  // namespace tempera::gpu::qwen3_tensor_core_test
