// Windows, sinks and norms of other places under the arithmetic `integer`: the logits of every form
// beside the sequences of docs/reference/arithmetic.md, written out naively.
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_integer.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_bits.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::variant_integer_test {

namespace {

using Norms = DenseTraits::Norms;
constexpr DenseTraits with_sinks{
    .model_type = "with sinks", .has_head_norms = true, .has_sinks = true, .norms = Norms::before};
constexpr DenseTraits norms_around{
    .model_type = "norms around", .has_head_norms = true, .norms = Norms::around};
constexpr DenseTraits norms_after{
    .model_type = "norms after", .has_projection_norms = true, .norms = Norms::after};

class Variant final : public DenseDecoder {
 public:
  Variant(const DenseTraits& traits, const DecoderConfig& config, TensorSource& tensors,
          const Kernels& kernels)
      : DenseDecoder(traits, config, tensors, kernels) {}
};

/// A layer for each window; 0: it sees all.
struct VariantCase {
  const DenseTraits& traits;
  Qwen3Case shape;
  std::vector<std::size_t> windows;

  DecoderConfig config() const {
    auto config = shape.config();
    config.num_hidden_layers = windows.size();
    config.attention_scale = 0.3;
    for (const auto window : windows)
      config.layer_attention.push_back({window, LayerAttention::Rotation::usual});
    return config;
  }
  RowBits by(const Kernels& kernels) const {
    KeptTensors tensors(5);
    Transformer transformer(std::make_unique<Variant>(traits, config(), tensors, kernels));
    DeviceMemory<float> memory;
    transformer.logits_at_every_position(shape.text(), memory);
    std::vector<std::vector<float>> rows;
    for (std::size_t i = 0; i < shape.tokens; ++i) rows.push_back(memory.download(i * 23, 23));
    return row_bits(rows);
  }
  RowBits plainly(IntegerDefect defect = IntegerDefect::none) const {
    KeptTensors tensors(5);
    const Variant names_and_shapes(traits, config(), tensors, default_kernels(Arithmetic::integer));
    return row_bits(PlainInteger(config(), tensors, defect).logits(shape.text()));
  }
};

/// A window that begins after the first split, and one that is longer than a split.
const VariantCase several_splits{with_sinks, {16, 8, 4, 2, 10, 2, 340}, {60, 257}};
const VariantCase windows_of_one{norms_around, {20, 24, 6, 1, 18, 2, 40}, {1, 0}};

}  // namespace

TEST_CASE("windows and sinks of integer are those of a naive recomputation, bit for bit",
          "[integer]") {
  for (const VariantCase& each : {
           several_splits, windows_of_one,
           VariantCase{with_sinks, {16, 12, 4, 2, 16, 2, 50}, {15, 17}},   // a page, less and more
           VariantCase{norms_after, {21, 15, 6, 3, 6, 2, 50}, {16, 100}},  // longer than the text
           VariantCase{with_sinks, {16, 8, 2, 2, 8, 1, 270}, {0}},         // sinks alone
           VariantCase{with_sinks, {12, 8, 70, 2, 6, 1, 20}, {5}},         // many heads of a group
           VariantCase{norms_around, {16, 8, 1, 1, 34, 2, 258}, {255, 256}},  // a split, less one
       }) {
    CAPTURE(each.traits.model_type, each.shape.heads, each.shape.tokens, each.windows);
    const RowBits expected = each.plainly();
    for (const Kernels* form : forms_of_the_kernels(Arithmetic::integer)) {
      CAPTURE(form->name());
      CHECK((each.by(*form) == expected));
    }
  }
}

TEST_CASE("that comparison sees every defect planted in windows, sinks and norms", "[integer]") {
  const auto sees = [](const VariantCase& each, std::initializer_list<IntegerDefect> defects) {
    const RowBits rows = each.plainly();
    for (const auto defect : defects) {
      INFO("defect " << static_cast<int>(defect));
      CHECK((each.plainly(defect) != rows));
    }
  };
  // Rounding to whole numbers hides a change of attention's last bits, as by a sink that is not in
  // the largest score: tests/lab/enumerate/integer_arithmetic.cpp compares attention itself.
  sees({with_sinks, {16, 8, 4, 2, 10, 2, 50}, {15, 17}},
       {IntegerDefect::window_of_one_less, IntegerDefect::sinks_left_out,
        IntegerDefect::sinks_of_the_next_heads});
  sees(windows_of_one,
       {IntegerDefect::windows_in_every_layer, IntegerDefect::branch_norm_of_floats});
}

}  // namespace tempera::gpu::variant_integer_test
