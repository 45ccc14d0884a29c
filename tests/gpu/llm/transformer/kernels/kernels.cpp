#include "gpu/llm/transformer/kernels/kernels.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::kernels_test {

namespace {

/// Whole numbers small enough that every sum of products is exact in float32 in any order: then
/// kernels are compared with ==.
std::vector<float> whole_numbers(std::size_t size) {
  return *rc::gen::container<std::vector<float>>(
      size, rc::gen::map(rc::gen::inRange(-8, 9), [](int n) { return static_cast<float>(n); }));
}

/// Numbers in [-1, 1) of all 24 bits, so that every change of the order of a sum shows.
std::vector<float> fractions(std::size_t size, std::uint64_t seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < size; ++i) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    values.push_back(static_cast<float>(static_cast<std::int64_t>(seed >> 40) - (1 << 23)) *
                     0x1p-23f);
  }
  return values;
}

/// [out, in] in a dtype of a file; a bfloat16 keeps the upper half of its float32.
PackedMatrix packed(const std::vector<std::vector<float>>& parts, std::size_t in, bool bfloat16) {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<StoredTensor> tensors;
  for (const auto& part : parts) {
    auto& stored = bytes.emplace_back();
    for (const float value : part) {
      std::byte raw[4];
      std::memcpy(raw, &value, 4);
      stored.insert(stored.end(), raw + (bfloat16 ? 2 : 0), raw + 4);
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    tensors.push_back({"m", bfloat16 ? "BF16" : "F32", {parts[i].size() / in, in}, bytes[i], "f"});
  }
  std::vector<const StoredTensor*> pointers;
  for (const auto& tensor : tensors) pointers.push_back(&tensor);
  return pack_matrices(pointers, Arithmetic::float32);
}

template <class T>
DeviceMemory<T> on_device(const std::vector<T>& host) {
  return DeviceMemory<T>(std::span<const T>(host));
}

/// What one form of the kernels makes of the inputs that the seed gives, one result after another.
class Results {
 public:
  Results(const Kernels& kernels, std::uint64_t seed) : kernels_(kernels), seed_(seed) {}

  /// Every kernel in turn, on rows of several texts, sizes with and without odd edges.
  std::vector<std::uint32_t> of_all(std::size_t head_dim, std::size_t in, bool bfloat16) {
    multiply_with(in, bfloat16);
    normalize_with(in);
    attend_with(head_dim);
    return std::move(bits_);
  }

 private:
  std::vector<float> more(std::size_t size) { return fractions(size, ++seed_); }
  void keep(const DeviceMemory<float>& memory) {
    for (const float value : memory.download(0, memory.size())) {
      bits_.emplace_back();
      std::memcpy(&bits_.back(), &value, sizeof value);
    }
  }

  void multiply_with(std::size_t in, bool bfloat16) {
    constexpr std::size_t rows = 19;
    constexpr std::size_t out = 37;
    const auto matrix = packed({more(out * in)}, in, bfloat16);
    const auto gate_up = packed({more(out * in), more(out * in)}, in, bfloat16);
    auto inputs = on_device(more(rows * in));
    auto outputs = on_device(more(rows * out));
    kernels_.multiply_and_add(matrix.view(), {inputs.data(), nullptr}, rows, out, outputs.data());
    keep(outputs);
    kernels_.multiply(matrix.view(), {inputs.data(), nullptr}, rows, out, outputs.data());
    keep(outputs);
    const auto bias = on_device(more(out));
    kernels_.multiply_with_bias(matrix.view(), {inputs.data(), nullptr}, bias.data(), rows, out,
                                outputs.data());
    keep(outputs);
    kernels_.multiply_gated(gate_up.view(), {inputs.data(), nullptr}, rows, out,
                            {outputs.data(), nullptr});
    keep(outputs);
    const auto tokens = on_device(std::vector<std::uint32_t>{0, 36, 7, 16, 15});
    DeviceMemory<float> states(5 * in);
    kernels_.embed(matrix.view(), {5, 0, tokens.data(), nullptr, nullptr, nullptr}, states.data());
    keep(states);
  }

  void normalize_with(std::size_t size) {
    const auto states = on_device(more(7 * size));
    const auto weight = on_device(more(size));
    DeviceMemory<float> normed(7 * size);
    kernels_.normalize(states.data(), weight.data(), 7, size, 1e-6f, {normed.data(), nullptr});
    keep(normed);
  }

  void attend_with(std::size_t head_dim) {
    // Two texts: positions 0..40 on pages 4, 1, 2 and 15..18 on pages 0, 3, whose earlier tokens
    // other calls have computed.
    constexpr std::size_t heads = 6;
    constexpr std::size_t groups = 3;
    constexpr std::size_t hidden = 21;
    std::vector<std::uint32_t> positions;
    std::vector<std::uint32_t> first_page;
    for (std::uint32_t i = 0; i <= 40; ++i) positions.push_back(i), first_page.push_back(0);
    for (std::uint32_t i = 15; i <= 18; ++i) positions.push_back(i), first_page.push_back(3);
    const std::size_t rows = positions.size();
    const auto device_positions = on_device(positions);
    const auto device_first_page = on_device(first_page);
    const auto page_table = on_device(std::vector<std::uint32_t>{4, 1, 2, 0, 3});
    const TokenRows batch{
        rows, 41, nullptr, device_positions.data(), device_first_page.data(), page_table.data()};
    const PageShape page{2, groups, head_dim, hidden, Arithmetic::float32};
    auto floats = on_device(more(6 * page.layout().bytes() / sizeof(float)));
    const PageMemory memory = pages_at(floats.data(), 6, page.layout());
    const std::size_t key_begin = padded(heads * head_dim);
    const std::size_t value_begin = key_begin + padded(groups * head_dim);
    const AttentionShape shape{heads,     groups,      head_dim,
                               key_begin, value_begin, value_begin + padded(groups * head_dim)};
    auto query_key_value = on_device(more(rows * shape.row_floats));
    const auto query_norm = on_device(more(head_dim));
    const auto key_norm = on_device(more(head_dim));
    const auto cosines = on_device(more(41 * head_dim / 2));
    const auto sines = on_device(more(41 * head_dim / 2));
    kernels_.rotate_into_pages(shape, query_norm.data(), key_norm.data(), 1e-6f,
                               {cosines.data(), sines.data()}, batch, page.keys(memory, 1),
                               page.values(memory, 1), query_key_value.data());
    keep(query_key_value);
    kernels_.rotate_into_pages(shape, nullptr, nullptr, 1e-6f, {cosines.data(), sines.data()},
                               batch, page.keys(memory, 0), page.values(memory, 0),
                               query_key_value.data());
    keep(query_key_value);
    DeviceMemory<float> attended(rows * heads * head_dim);
    kernels_.attend(shape, query_key_value.data(), batch, page.keys(memory, 1),
                    page.values(memory, 1), {attended.data(), nullptr});
    keep(attended);

    const auto states = on_device(more(rows * hidden));
    const auto norm = on_device(more(hidden));
    kernels_.normalize_into_pages(states.data(), norm.data(), batch, hidden, 1e-6f,
                                  page.hidden_states(memory));
    const auto sources = on_device(std::vector<std::uint32_t>{4, 3});
    const auto targets = on_device(std::vector<std::uint32_t>{5, 0});
    kernels_.copy_pages(sources.data(), targets.data(), 2, memory);
    const auto pages = on_device(std::vector<std::uint32_t>{5, 2, 0});
    const auto slots = on_device(std::vector<std::uint32_t>{15, 8, 2});
    DeviceMemory<float> gathered(3 * hidden);
    kernels_.gather_from_pages({3, pages.data(), slots.data()}, hidden, page.hidden_states(memory),
                               {gathered.data(), nullptr});
    keep(gathered);
    keep(floats);
  }

  const Kernels& kernels_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> bits_;
};

}  // namespace

TEST_CASE("every form of the kernels gives the readable form's bits", "[kernels]") {
  const auto forms = forms_of_the_kernels();
  REQUIRE(forms.size() >= 2);
  for (const auto* form : forms) {
    CAPTURE(form->name());
    for (const std::size_t head_dim : {2, 16, 18, 64}) {
      for (const std::size_t in : {1, 16, 255, 256, 600}) {
        for (const bool bfloat16 : {false, true}) {
          CAPTURE(head_dim, in, bfloat16);
          const auto bits = Results(*form, 3).of_all(head_dim, in, bfloat16);
          CHECK((bits == Results(thrust_kernels(), 3).of_all(head_dim, in, bfloat16)));
        }
      }
    }
  }
}

TEST_CASE("the comparison of forms sees one sum in another order", "[kernels]") {
  // What a form that adds its products from the other end would give.
  const auto left = fractions(256, 1);
  const auto right = fractions(256, 2);
  float forwards = 0.0f;
  float backwards = 0.0f;
  for (std::size_t i = 0; i < 256; ++i) {
    forwards = std::fma(left[i], right[i], forwards);
    backwards = std::fma(left[255 - i], right[255 - i], backwards);
  }
  CHECK(forwards != backwards);
  CHECK(Results(thrust_kernels(), 3).of_all(16, 256, false) !=
        Results(thrust_kernels(), 4).of_all(16, 256, false));
}

TEST_CASE("matrix products of whole numbers are exact for every shape and dtype", "[kernels]") {
  for (const auto* form : forms_of_the_kernels()) {
    law(std::string(form->name()) +
            ": products, with bias and added, are the sums, and touch nothing else",
        [&] {
          const auto rows = *rc::gen::oneOf(rc::gen::inRange<std::size_t>(1, 20),
                                            rc::gen::element<std::size_t>(33, 63, 64, 65, 131));
          const auto in = *rc::gen::element<std::size_t>(1, 2, 15, 16, 17, 40, 255, 256, 257, 600);
          const auto out = *rc::gen::inRange<std::size_t>(1, 100);
          const auto matrix = whole_numbers(out * in);
          const auto inputs = whole_numbers(rows * in);
          const auto weights = packed({matrix}, in, *rc::gen::arbitrary<bool>());
          auto device_inputs = on_device(inputs);
          auto outputs = on_device(std::vector<float>(rows * out + 1, 5.0f));
          const bool adds = *rc::gen::arbitrary<bool>();
          const auto bias =
              *rc::gen::arbitrary<bool>() && !adds ? whole_numbers(out) : std::vector<float>();
          if (!bias.empty()) {
            form->multiply_with_bias(weights.view(), {device_inputs.data(), nullptr},
                                     on_device(bias).data(), rows, out, outputs.data());
          } else if (adds) {
            form->multiply_and_add(weights.view(), {device_inputs.data(), nullptr}, rows, out,
                                   outputs.data());
          } else {
            form->multiply(weights.view(), {device_inputs.data(), nullptr}, rows, out,
                           outputs.data());
          }
          const auto result = outputs.download(0, outputs.size());
          for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t o = 0; o < out; ++o) {
              float sum = adds ? 5.0f : bias.empty() ? 0.0f : bias[o];
              for (std::size_t i = 0; i < in; ++i) sum += matrix[o * in + i] * inputs[row * in + i];
              RC_ASSERT(result[row * out + o] == sum);
            }
          }
          RC_ASSERT(result.back() == 5.0f);
        });
  }
}

TEST_CASE("the gated product is SwiGLU", "[kernels]") {
  for (const auto* form : forms_of_the_kernels()) {
    law(std::string(form->name()) + ": silu(gate) * up to float32 rounding", [&] {
      const auto rows = *rc::gen::inRange<std::size_t>(1, 10);
      const auto in = *rc::gen::inRange<std::size_t>(1, 20);
      const auto out = *rc::gen::inRange<std::size_t>(1, 40);
      const auto gate = whole_numbers(out * in);
      const auto up = whole_numbers(out * in);
      const auto inputs = whole_numbers(rows * in);
      const auto weights = packed({gate, up}, in, *rc::gen::arbitrary<bool>());
      auto device_inputs = on_device(inputs);
      DeviceMemory<float> gated(rows * out);
      form->multiply_gated(weights.view(), {device_inputs.data(), nullptr}, rows, out,
                           {gated.data(), nullptr});
      const auto result = gated.download(0, rows * out);
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t o = 0; o < out; ++o) {
          double g = 0;
          double u = 0;
          for (std::size_t i = 0; i < in; ++i) {
            g += gate[o * in + i] * inputs[row * in + i];
            u += up[o * in + i] * inputs[row * in + i];
          }
          // The products are exact. e^-g errs by 2 half units, the sum, the quotient and the
          // product by one each: 5·2^-24 relative; and if e^-g is clamped, below e^-87·|g·u|.
          const double exact = g * u / (1 + std::exp(-g));
          const double bound = 5 * 0x1p-24 * std::abs(exact) + 2e-38 * std::abs(g * u);
          RC_ASSERT(std::abs(static_cast<double>(result[row * out + o]) - exact) <= bound);
        }
      }
    });
  }
}

}  // namespace tempera::gpu::kernels_test
