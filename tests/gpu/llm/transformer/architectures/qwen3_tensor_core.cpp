#include <cstring>

#include "gpu/llm/transformer/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_tensor_core.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::qwen3_tensor_core_test {

namespace {

/// The shape of a model and the length of a text.
struct Case {
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

/// More than one segment, the last step filled up.
constexpr Case long_rows{600, 1030, 2, 1, 10, 1, 5};
/// More than two splits, the last one short.
constexpr Case long_text{24, 20, 4, 2, 18, 1, 530};

using Rows = std::vector<std::vector<std::uint32_t>>;  // the bits of the logits

Rows bits_of(const std::vector<std::vector<float>>& rows) {
  Rows result;
  for (const auto& row : rows) {
    result.emplace_back(row.size());
    std::memcpy(result.back().data(), row.data(), row.size() * sizeof(float));
  }
  return result;
}

Rows computed(const Case& shape, const Kernels& kernels) {
  KeptTensors tensors(5);
  Transformer transformer(std::make_unique<Qwen3>(shape.config(), tensors, kernels));
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(shape.text(), memory);
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < shape.tokens; ++i) rows.push_back(memory.download(i * 23, 23));
  return bits_of(rows);
}

Rows written_out(const Case& shape, TensorCoreDefect defect = TensorCoreDefect::none) {
  KeptTensors tensors(5);
  const Qwen3 names_and_shapes(shape.config(), tensors, default_kernels(Arithmetic::tensor_core));
  return bits_of(PlainTensorCore(shape.config(), tensors, defect).logits(shape.text()));
}

}  // namespace

TEST_CASE("tensor-core logits are the sequences of docs/reference/arithmetic.md, bit for bit",
          "[tensor-core][long]") {
  for (const Case& shape : {
           long_rows, long_text, Case{21, 35, 6, 3, 18, 2, 40},  // nothing a multiple of anything
           Case{512, 16, 1, 1, 2, 1, 3},                         // exactly one segment
           Case{528, 1024, 1, 1, 16, 1, 3},                      // a segment and one step
           Case{32, 16, 4, 1, 64, 1, 270},                       // grouped
           Case{32, 16, 2, 2, 80, 2, 20},                        // ungrouped
           Case{16, 16, 2, 1, 128, 1, 257},  // one position in a split of its own
           Case{16, 16, 1, 1, 256, 1, 256},  // exactly one split
           Case{16, 16, 2, 2, 300, 1, 20},   // a head of more than one piece
           Case{16, 16, 20, 2, 6, 1, 20},    // more queries than share a reading
       }) {
    CAPTURE(shape.hidden, shape.inner, shape.heads, shape.groups, shape.head_dim, shape.tokens);
    const Rows expected = written_out(shape);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::tensor_core)) {
      CAPTURE(form->name());
      CHECK((computed(shape, *form) == expected));
    }
  }
}

TEST_CASE("tensor-core-ampere logits are the same sequences in Ampere's steps, bit for bit",
          "[tensor-core][long]") {
  for (const Case& shape : {long_rows, Case{21, 35, 6, 3, 18, 2, 40}}) {
    CAPTURE(shape.hidden, shape.tokens);
    const Rows expected = written_out(shape, TensorCoreDefect::ampere_step);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::tensor_core_ampere)) {
      CAPTURE(form->name());
      CHECK((computed(shape, *form) == expected));
    }
  }
}

TEST_CASE("the comparison of tensor-core logits sees every planted defect of a product",
          "[tensor-core][long]") {
  const Rows rows = written_out(long_rows);
  for (const auto defect :
       {TensorCoreDefect::ampere_step, TensorCoreDefect::segments_joined,
        TensorCoreDefect::segment_boundary_moved, TensorCoreDefect::stream_rounded}) {
    INFO("defect " << static_cast<int>(defect));
    CHECK((written_out(long_rows, defect) != rows));
  }
}

}  // namespace tempera::gpu::qwen3_tensor_core_test
