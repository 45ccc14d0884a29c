// The CUDA kernels of `integer`, on fibers, against the host's plain form: rows as whole numbers,
// products, pages and attention, every step of a layer. Sums of whole numbers have no order, so
// that every bit must be the same.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "gpu/device/whole_numbers.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/whole_product.cuh"
#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/kernels/whole_cases.hpp"

namespace tempera::gpu::integer_kernels_test {

namespace {

const Kernels& host() { return host_kernels(InstructionSet::plain, Arithmetic::integer); }

/// Equal in every bit, or no numbers both: which of a NaN's bits are left is each form's own.
bool same(const Floats& a, const Floats& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::memcmp(&x, &y, sizeof x) == 0 || (std::isnan(x) && std::isnan(y));
  });
}

PackedMatrix packed(const Floats& weights, std::size_t in) {
  const StoredTensor tensor{
      "w", "F32", {weights.size() / in, in}, std::as_bytes(std::span<const float>(weights)), "f"};
  const StoredTensor* const pointer = &tensor;
  return pack_matrices({&pointer, 1}, Arithmetic::integer);
}

DeviceMemory<float> uploaded(const Floats& x) {
  return DeviceMemory<float>{std::span<const float>(x)};
}

}  // namespace

TEST_CASE("a warp makes of every kind of row the whole numbers that the host makes", "[integer]") {
  RowKinds kinds(1);
  for (const std::size_t in : {1U, 2U, 31U, 33U, 511U, 512U, 513U, 1300U}) {
    constexpr std::size_t count = RowKinds::kinds;
    const Floats x = kinds.rows(count, in, RowKinds::kinds);
    WholeInputRows rows{nullptr, nullptr, static_cast<unsigned>(in)};
    std::vector<std::uint32_t> words(count * rows.pairs(), 0xDEADBEEF);
    Floats steps(count * rows.segments(), 5.0F);
    rows.words = words.data();
    rows.steps = steps.data();
    simt::Stream stream{.seed = in};
    simt::launch({.blocks = {quotient_up(rows.segments(), whole_product_warps), count},
                  .threads = whole_product_threads},
                 stream, quantise_whole_rows, x.data(), rows);
    std::vector<std::int16_t> expected(count * 2 * rows.pairs());
    Floats expected_steps;
    for (std::size_t row = 0; row < count; ++row) {
      for (std::size_t begin = 0; begin < in; begin += whole_segment) {
        const float* const part = x.data() + row * in + begin;
        const std::size_t size = std::min(whole_segment, in - begin);
        const WholeRow whole = whole_row(part, size, input_squares);
        expected_steps.push_back(whole.step());
        store_whole_row(whole, part, size, expected.data() + row * 2 * rows.pairs() + begin);
      }
    }
    CAPTURE(in);
    CHECK(std::memcmp(words.data(), expected.data(), words.size() * sizeof words[0]) == 0);
    CHECK(same(steps, expected_steps));
  }
}

TEST_CASE("an embedding comes out as it is stored, in either type", "[integer]") {
  const CudaIntegerKernels fibers(3);
  const std::vector<std::uint32_t> tokens{49, 0, 7, 33, 7};
  for (const std::size_t size : {1U, 40U, 300U}) {
    // Numbers that bfloat16 has too.
    Floats weights(50 * size);
    std::vector<std::uint16_t> halves;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<float>(i % 251) - 125.0F;
      halves.push_back(to_bfloat16(weights[i]));
    }
    Floats expected;
    for (const std::uint32_t token : tokens)
      expected.insert(expected.end(), weights.begin() + static_cast<std::ptrdiff_t>(token * size),
                      weights.begin() + static_cast<std::ptrdiff_t>((token + 1) * size));
    for (const bool is_half : {false, true}) {
      const StoredTensor tensor{"w",
                                is_half ? "BF16" : "F32",
                                {50, size},
                                is_half ? std::as_bytes(std::span<const std::uint16_t>(halves))
                                        : std::as_bytes(std::span<const float>(weights)),
                                "f"};
      const StoredTensor* const pointer = &tensor;
      const PackedMatrix matrix = pack_matrices({&pointer, 1}, Arithmetic::float32);
      Floats states(tokens.size() * size);
      fibers.embed(matrix.view(), {tokens.size(), 0, tokens.data(), nullptr, nullptr, nullptr},
                   states.data());
      CAPTURE(size, is_half);
      CHECK(same(states, expected));
    }
  }
}

TEST_CASE("rows are normalised as the host does it, into memory and into pages", "[integer]") {
  RowKinds kinds(2);
  const CudaIntegerKernels fibers(3);
  for (const std::size_t size : {1U, 40U, 256U, 1100U, 3000U}) {
    constexpr std::size_t count = 2 * RowKinds::kinds;
    const auto states = uploaded(kinds.rows(count, size, RowKinds::kinds));
    const auto weight = uploaded(kinds.row(0, size));
    const auto normed = [&](const Kernels& kernels) {
      DeviceMemory<float> result(count * size);
      kernels.normalize(states.data(), weight.data(), count, size, 1e-6F, {result.data(), nullptr});
      return result.download(0, count * size);
    };
    CAPTURE(size);
    CHECK(same(normed(fibers), normed(host())));

    // Two pages, a token of each row; and gathered from there.
    const std::vector<std::uint32_t> table{3, 1};
    std::vector<std::uint32_t> positions(count);
    std::vector<std::uint32_t> pages(count);
    std::vector<std::uint32_t> slots(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      positions[i] = i;
      pages[i] = table[i / page_tokens];
      slots[i] = i % page_tokens;
    }
    const std::vector<std::uint32_t> first(count, 0);
    const TokenRows batch{count, count, nullptr, positions.data(), first.data(), table.data()};
    const auto by_pages = [&](const Kernels& kernels) {
      Floats memory(4 * page_tokens * size);
      const PagePart part{reinterpret_cast<std::byte*>(memory.data()),
                          page_tokens * size * sizeof(float)};
      Floats gathered(count * size);
      kernels.normalize_and_gather(states.data(), weight.data(), batch,
                                   {count, pages.data(), slots.data()}, size, 1e-6F, part,
                                   {gathered.data(), nullptr});
      memory.insert(memory.end(), gathered.begin(), gathered.end());
      return memory;
    };
    CHECK(same(by_pages(fibers), by_pages(host())));
  }
}

namespace {

Floats products_by(const Kernels& kernels, const Floats& weights, const Floats& inputs,
                   std::size_t in) {
  return products_by(kernels, packed(weights, in).view(), weights.size() / in, inputs);
}

}  // namespace

TEST_CASE("products of whole rows have the host's bits, and rows without whole numbers have none",
          "[integer]") {
  RowKinds kinds(4);
  struct Size {
    std::size_t in, out, rows;
  };
  std::uint64_t seed = 1;
  for (const auto [in, out, rows] : {Size{1, 1, 1}, Size{2, 32, 3}, Size{31, 5, 2}, Size{33, 64, 7},
                                     Size{96, 70, 15}, Size{511, 3, 5}, Size{512, 32, 9},
                                     Size{513, 16, 28}, Size{1111, 64, 30}, Size{64, 48, 40}}) {
    const Floats weights = kinds.rows(out, in);
    const Floats inputs = kinds.rows(rows, in, RowKinds::kinds);
    const CudaIntegerKernels fibers(++seed);
    CAPTURE(in, out, rows);
    CHECK(same(products_by(fibers, weights, inputs, in), products_by(host(), weights, inputs, in)));
  }
}

TEST_CASE("the largest sums that there can be wrap on no device", "[integer]") {
  // Inputs that are the weights have the largest sum that Cauchy and Schwarz allow.
  const CudaIntegerKernels fibers;
  for (const std::size_t in : {4U, 5U, 64U, 511U, 512U}) {
    Floats weights(in);
    for (std::size_t i = 0; i < in; ++i) weights[i] = i % 3 == 0 ? 1.0F : 0.96875F;
    Floats inputs = weights;
    for (const float x : weights) inputs.push_back(-x);
    CAPTURE(in);
    CHECK(same(products_by(fibers, weights, inputs, in), products_by(host(), weights, inputs, in)));
  }
}

TEST_CASE("a head says the largest of every tile of its logits", "[integer]") {
  constexpr std::size_t in = 40;
  constexpr std::size_t out = 37;
  constexpr std::size_t rows = 10;
  RowKinds kinds(6);
  constexpr std::size_t of_finite_sums = 7;
  const Floats inputs = kinds.rows(rows, in, of_finite_sums);
  const PackedMatrix matrix = packed(kinds.rows(out, in, of_finite_sums), in);
  Floats logits(rows * out);
  Floats largest(rows * 3);
  const CudaIntegerKernels fibers;
  fibers.multiply_head(matrix.view(), {const_cast<float*>(inputs.data()), nullptr}, rows, out,
                       {logits.data(), largest.data()});
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t tile = 0; tile < 3; ++tile) {
      const auto first = logits.begin() + static_cast<std::ptrdiff_t>(row * out + tile * lanes);
      const std::size_t count = std::min(lanes, out - tile * lanes);
      CHECK(largest[row * 3 + tile] ==
            *std::max_element(first, first + static_cast<std::ptrdiff_t>(count)));
    }
  }
}

TEST_CASE("pages of whole numbers and what is attended have the host's bits", "[integer]") {
  std::uint32_t seed = 1;
  for (const AttentionCase& shape : attention_cases()) {
    const Texts texts(shape, {shape.head_dim < 40 ? 280U : 37U, 1, 18}, ++seed);
    CAPTURE(shape.heads, shape.head_dim);
    const CudaIntegerKernels fibers(seed);
    const auto found = texts.by(fibers);
    const auto expected = texts.by(host());
    CHECK(same(found.attended, expected.attended));
    CHECK((found.pages == expected.pages));
    // Queries stay where they were; the host rotates keys beside them too.
    CHECK(std::none_of(found.attended.begin(), found.attended.end(),
                       [](float x) { return std::isnan(x); }));
  }
}

TEST_CASE("a head without whole numbers gives NaN to all that see it, and to nobody else",
          "[integer]") {
  const AttentionCase shape{2, 1, 16, false};
  const CudaIntegerKernels fibers(2);
  const std::size_t query = 0;
  const std::size_t key = 2 * 16 + 3;
  const std::size_t value = 3 * 16 + 5;
  for (const std::size_t place : {query, key, value}) {
    for (const float wrong : {std::nanf(""), HUGE_VALF, 0x1p90F}) {
      Texts texts(shape, {20, 9}, 3);
      texts.value(12, place) = wrong;
      const auto found = texts.by(fibers);
      const auto expected = texts.by(host());
      CHECK(same(found.attended, expected.attended));
      CHECK((found.pages == expected.pages));
      for (std::size_t i = 0; i < found.attended.size(); ++i) {
        const std::size_t row = i / 32;
        const bool sees = place == query ? row == 12 && i % 32 < 16 : row >= 12 && row < 20;
        CHECK(std::isnan(found.attended[i]) == sees);
      }
    }
  }
}

namespace {

/// True if fibers that leave out a barrier give other bits, or find that not all reach one, for
/// some order of the threads.
bool shows(unsigned barrier_line, const std::function<bool(const Kernels&)>& has_host_bits) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const CudaIntegerKernels fibers(seed);
    fibers.device().stream.planted.barrier_line = barrier_line;
    try {
      if (!has_host_bits(fibers)) return true;
    } catch (const simt::LaunchFailure&) {
      return true;
    }
  }
  return false;
}

/// Every barrier that such work reaches.
void require_every_barrier(const std::function<bool(const Kernels&)>& has_host_bits,
                           std::size_t barriers) {
  const CudaIntegerKernels fibers;
  REQUIRE(has_host_bits(fibers));
  const std::set<unsigned> lines = fibers.device().stream.barrier_lines;
  CHECK(lines.size() == barriers);
  for (const unsigned line : lines) {
    CAPTURE(line);
    CHECK(shows(line, has_host_bits));
  }
}

}  // namespace

TEST_CASE("planted: each barrier of the kernels of integer removed shows", "[integer]") {
  // The code of nvcc has a copy of a function's barrier for each call, and the last call can do
  // without its second one.
  if (simt::find_compiled_kernel != nullptr) return;
  RowKinds kinds(8);
  const Floats weights = kinds.rows(32, 513);
  const Floats inputs = kinds.rows(9, 513);
  const Floats products = products_by(host(), weights, inputs, 513);
  require_every_barrier(
      [&](const Kernels& kernels) {
        return same(products_by(kernels, weights, inputs, 513), products);
      },
      2);
  const Texts texts({2, 1, 16, true}, {260}, 5);
  const auto attended = texts.by(host());
  require_every_barrier(
      [&](const Kernels& kernels) {
        const auto found = texts.by(kernels);
        return same(found.attended, attended.attended) && found.pages == attended.pages;
      },
      4);
}

}  // namespace tempera::gpu::integer_kernels_test
