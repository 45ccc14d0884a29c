#include <cmath>
#include <list>

#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_bfloat16_pairs.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_bits.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu {

namespace {

/// More than one run, the last segment filled up.
constexpr Qwen3Case long_inputs{300, 530, 2, 1, 10, 1, 5};
/// More than two splits, the last one short, and more than one segment of a head.
constexpr Qwen3Case several_splits{24, 20, 4, 2, 50, 1, 530};

RowBits plainly(const Qwen3Case& shape, PairDefect defect = PairDefect::none) {
  return written_out<PlainPairs>(shape, Arithmetic::bfloat16_pairs, defect);
}

}  // namespace

TEST_CASE("bfloat16-pairs logits are the sequences of docs/reference/arithmetic.md, bit for bit",
          "[bfloat16-pairs][long]") {
  for (const Qwen3Case& shape : {
           long_inputs, several_splits,
           Qwen3Case{21, 35, 6, 3, 18, 2, 40},    // nothing a multiple of anything
           Qwen3Case{256, 32, 1, 1, 2, 1, 3},     // exactly one run
           Qwen3Case{288, 64, 1, 1, 16, 1, 3},    // a run and one segment
           Qwen3Case{32, 16, 4, 1, 64, 1, 270},   // grouped
           Qwen3Case{32, 16, 2, 2, 80, 2, 20},    // ungrouped
           Qwen3Case{16, 16, 2, 1, 128, 1, 257},  // one position in a split of its own
           Qwen3Case{16, 16, 1, 1, 256, 1, 256},  // exactly one split
           Qwen3Case{16, 16, 70, 2, 6, 1, 20},    // more queries than go together
       }) {
    CAPTURE(shape.hidden, shape.inner, shape.heads, shape.groups, shape.head_dim, shape.tokens);
    const RowBits expected = plainly(shape);
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::bfloat16_pairs)) {
      CAPTURE(form->name());
      CHECK((computed_by(shape, *form) == expected));
    }
  }
}

TEST_CASE("the comparison of bfloat16-pairs logits sees every planted defect",
          "[bfloat16-pairs][long]") {
  const auto sees = [](const Qwen3Case& shape, std::initializer_list<PairDefect> defects) {
    const RowBits rows = plainly(shape);
    for (const auto defect : defects) {
      INFO("defect " << static_cast<int>(defect));
      CHECK((plainly(shape, defect) != rows));
    }
  };
  sees(long_inputs,
       {PairDefect::one_chain, PairDefect::pair_exchanged, PairDefect::chains_exchanged_by_segment,
        PairDefect::segments_of_64, PairDefect::segments_joined, PairDefect::queries_not_rounded,
        PairDefect::shares_not_rounded});
  sees(several_splits, {PairDefect::mass_of_unrounded_shares, PairDefect::splits_of_128,
                        PairDefect::split_scaled_by_the_largest, PairDefect::score_scaled_first});
}

namespace {

/// Token 22 has values that are no numbers, and no other token has.
class OverflowingTensors final : public TensorSource {
 public:
  /// `integer` refuses weights this large, and inputs when they are normed.
  explicit OverflowingTensors(Arithmetic arithmetic)
      : embedding_(arithmetic == Arithmetic::integer ? 0x1p90F : 64.0F),
        value_(arithmetic == Arithmetic::integer ? 1.0F : 3e38F) {}

 private:
  const StoredTensor& tensor(const std::string& name, const Shape& shape) override {
    std::size_t size = 1;
    for (const auto extent : shape) size *= static_cast<std::size_t>(extent);
    auto& values = values_.emplace_back();
    for (std::size_t i = 0; i < size; ++i)
      values.push_back(shape.size() == 1 ? 1.0f : static_cast<float>(i * i % 7) / 8.0f - 0.375f);
    const auto set_first = [&](const auto& value_of) {
      const auto in = static_cast<std::size_t>(shape[1]);
      for (std::size_t row = 0; row < size / in; ++row) values[row * in] = value_of(row);
    };
    if (name == "model.embed_tokens.weight")
      set_first([&](std::size_t token) { return token == 22 ? embedding_ : 0.0f; });
    if (name.ends_with("v_proj.weight")) set_first([&](std::size_t) { return value_; });
    return tensors_.emplace_back(StoredTensor{
        name, "F32", shape, std::as_bytes(std::span<const float>(values)), "overflowing"});
  }

  float embedding_;
  float value_;
  std::list<std::vector<float>> values_;
  std::list<StoredTensor> tensors_;
};

}  // namespace

TEST_CASE("what is left in a page after the last token has no part in any logit") {
  const Qwen3Case shape{16, 16, 2, 1, 8, 1, 0};
  const std::vector<TokenId> overflowing(64, 22), text{1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const auto arithmetic : {Arithmetic::float32, Arithmetic::tensor_core,
                                Arithmetic::bfloat16_pairs, Arithmetic::integer})
    for (const Kernels* form : forms_of_the_kernels(arithmetic)) {
      CAPTURE(form->name());
      const auto rows_after = [&](bool is_used) {
        OverflowingTensors tensors(arithmetic);
        Transformer transformer(std::make_unique<Qwen3>(shape.config(), tensors, *form));
        DeviceMemory<float> memory;
        if (is_used) {
          const auto cache = transformer.empty_cache();
          transformer.next_logits(std::vector<Pass>{{cache.get(), overflowing}}, memory);
          const std::vector<float> row = memory.download(0, 23);
          CHECK(std::isnan(row[0]));
        }
        // Token by token: an odd number of them fills half of a pair.
        const auto cache = transformer.empty_cache();
        std::vector<std::vector<float>> rows;
        for (std::size_t t = 0; t < text.size(); ++t) {
          transformer.next_logits(std::vector<Pass>{{cache.get(), std::span(text).subspan(t, 1)}},
                                  memory);
          rows.push_back(memory.download(0, 23));
        }
        return row_bits(rows);
      };
      CHECK((rows_after(true) == rows_after(false)));
    }
}

}  // namespace tempera::gpu
