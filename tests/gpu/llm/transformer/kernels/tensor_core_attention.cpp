#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu/llm/transformer/architectures/rotary_angles.hpp"
#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_tensor_core.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"

namespace tempera::gpu::tensor_core_attention_test {

namespace {

using Rows = std::vector<std::vector<float>>;

constexpr std::size_t tokens = 300;  // more than one split
constexpr std::size_t heads = 4;
constexpr std::size_t groups = 2;
constexpr std::size_t head_dim = 40;

/// Bits, so that == is bitwise.
std::vector<std::uint32_t> bits_of(const Rows& rows) {
  std::vector<std::uint32_t> bits;
  for (const auto& row : rows) {
    for (const float value : row) {
      bits.emplace_back();
      std::memcpy(&bits.back(), &value, sizeof value);
    }
  }
  return bits;
}

struct Result {
  std::vector<std::uint32_t> queries;
  std::vector<std::uint32_t> attended;
};

/// The three products of every position. The values of neighbours nearly cancel, so that the last
/// bits of their sums reach those that rounding to bfloat16 keeps.
class Inputs {
 public:
  Inputs() : tensors_(7), names_and_shapes_(config(), tensors_, kernels_) {
    std::uint64_t seed = 1;
    const auto more = [&](std::size_t size, float middle) {
      std::vector<float> row;
      for (std::size_t i = 0; i < size; ++i) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        const auto whole = static_cast<std::int64_t>(seed >> 40) - (1 << 23);
        row.push_back(middle + static_cast<float>(whole) * 0x1p-23f);
      }
      return row;
    };
    for (std::size_t position = 0; position < tokens; ++position) {
      queries_.push_back(more(heads * head_dim, 0.0f));
      keys_.push_back(more(groups * head_dim, 0.0f));
      values_.push_back(more(groups * head_dim, position % 2 == 0 ? 8.0f : -8.0f));
      // The first head looks at all positions alike, and sees a tie between two bfloat16s wherever
      // their number is even: what divides decides it.
      std::fill_n(queries_.back().begin(), head_dim, 0.0f);
      values_.back()[0] = position % 2 == 0 ? 15.9375f : 16.0f;
    }
  }

  Result written_out(TensorCoreDefect defect) const {
    const auto result =
        PlainTensorCore(config(), tensors_, defect).attention(layer, queries_, keys_, values_);
    return {bits_of(result.queries), bits_of(result.attended)};
  }

  Result computed(const Kernels& kernels) const {
    constexpr std::size_t key_begin = padded(heads * head_dim);
    constexpr std::size_t value_begin = key_begin + padded(groups * head_dim);
    constexpr std::size_t row_floats = value_begin + padded(groups * head_dim);
    const AttentionShape shape{heads, groups, head_dim, key_begin, value_begin, row_floats};
    std::vector<float> rows(tokens * row_floats);
    std::vector<std::uint32_t> positions;
    for (std::size_t row = 0; row < tokens; ++row) {
      float* const begin = &rows[row * row_floats];
      std::copy(queries_[row].begin(), queries_[row].end(), begin);
      std::copy(keys_[row].begin(), keys_[row].end(), begin + key_begin);
      std::copy(values_[row].begin(), values_[row].end(), begin + value_begin);
      positions.push_back(static_cast<std::uint32_t>(row));
    }
    // Pages in no order, and none of them the first.
    std::vector<std::uint32_t> pages;
    constexpr std::uint32_t all_pages = (tokens + page_tokens - 1) / page_tokens;
    for (std::uint32_t page = 0; page < all_pages; ++page)
      pages.push_back(1 + page * 7 % all_pages);
    const PageShape page{1, groups, head_dim, 2, Arithmetic::tensor_core};
    DeviceMemory<std::byte> bytes((all_pages + 1) * page.layout().bytes());
    const PageMemory memory = pages_at(bytes.data(), all_pages + 1, page.layout());
    DeviceMemory<float> query_key_value{std::span<const float>(rows)};
    const DeviceMemory<std::uint32_t> device_positions{std::span<const std::uint32_t>(positions)};
    const DeviceMemory<std::uint32_t> table{std::span<const std::uint32_t>(pages)};
    const DeviceMemory<std::uint32_t> first_page(tokens);
    const TokenRows batch{tokens,      tokens, nullptr, device_positions.data(), first_page.data(),
                          table.data()};
    RotaryAngles angles(config().rope_theta, head_dim, tokens);
    const DeviceMemory<float> query_norm{
        std::span<const float>(tensors_.values(layer + "self_attn.q_norm.weight"))};
    const DeviceMemory<float> key_norm{
        std::span<const float>(tensors_.values(layer + "self_attn.k_norm.weight"))};
    kernels.rotate_into_pages(shape, query_norm.data(), key_norm.data(),
                              static_cast<float>(config().rms_norm_eps), angles.up_to(tokens),
                              batch, page.keys(memory, 0), page.values(memory, 0),
                              query_key_value.data());
    DeviceMemory<std::uint16_t> attended(tokens * heads * head_dim);
    kernels.attend(shape, query_key_value.data(), batch, page.keys(memory, 0),
                   page.values(memory, 0), {nullptr, attended.data()});
    Rows queries;
    Rows seen;
    for (std::size_t row = 0; row < tokens; ++row) {
      queries.push_back(query_key_value.download(row * row_floats, heads * head_dim));
      seen.emplace_back();
      for (const auto bits : attended.download(row * heads * head_dim, heads * head_dim)) {
        seen.back().push_back(from_bfloat16(bits));
      }
    }
    return {bits_of(queries), bits_of(seen)};
  }

 private:
  static DecoderConfig config() {
    DecoderConfig result;
    result.vocab_size = 2;
    result.hidden_size = 2;
    result.intermediate_size = 2;
    result.num_hidden_layers = 1;
    result.num_attention_heads = heads;
    result.num_key_value_heads = groups;
    result.head_dim = head_dim;
    result.max_position_embeddings = tokens;
    return result;
  }

  inline static const std::string layer = "model.layers.0.";
  const Kernels& kernels_ = default_kernels(Arithmetic::tensor_core);
  KeptTensors tensors_;
  Qwen3 names_and_shapes_;
  Rows queries_;
  Rows keys_;
  Rows values_;
};

}  // namespace

TEST_CASE("tensor-core attention is the sequences of docs/reference/arithmetic.md, bit for bit",
          "[tensor-core][long]") {
  const Inputs inputs;
  const Result expected = inputs.written_out(TensorCoreDefect::none);
  for (const Kernels* form : forms_of_the_kernels(Arithmetic::tensor_core)) {
    CAPTURE(form->name());
    const Result result = inputs.computed(*form);
    CHECK((result.queries == expected.queries));
    CHECK((result.attended == expected.attended));
  }
  for (const auto defect :
       {TensorCoreDefect::head_norm_in_16_sums, TensorCoreDefect::keys_not_rounded,
        TensorCoreDefect::score_scaled_first, TensorCoreDefect::splits_of_128,
        TensorCoreDefect::split_scaled_by_its_last, TensorCoreDefect::value_runs_joined,
        TensorCoreDefect::mass_summed_in_order, TensorCoreDefect::divided_by_the_mass}) {
    INFO("defect " << static_cast<int>(defect));
    const Result other = inputs.written_out(defect);
    CHECK((other.queries != expected.queries) ==
          (defect == TensorCoreDefect::head_norm_in_16_sums));
    CHECK((other.attended != expected.attended));
  }
}

}  // namespace tempera::gpu::tensor_core_attention_test
