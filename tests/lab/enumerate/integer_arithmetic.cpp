// The arithmetic `integer` as it is compiled, beside its definition in rationals: rows and their
// exponents, products in every form, whole attention in every form. The exponentials are the
// compiled ones.
#include <cmath>
#include <cstring>
#include <limits>

#include "gpu/device/whole_numbers.hpp"
#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"
#include "gpu/llm/transformer/kernels/variant_kernels.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "reference/arithmetic/whole_attention.hpp"
#include "tests/between.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/law.hpp"

namespace tempera::lab::integer_arithmetic_test {

namespace {

using gpu::Arithmetic;
using reference::Rational;
using Floats = std::vector<float>;

Rational exact(float value) {
  int exponent = 0;
  const float significand = std::frexp(value, &exponent);
  return Rational(static_cast<int>(std::ldexp(significand, 24))) *
         reference::power_of_two(exponent - 24);
}

std::vector<Rational> exact(const Floats& values) {
  std::vector<Rational> numbers;
  for (const float value : values) numbers.push_back(exact(value));
  return numbers;
}

/// @pre the number is a float32
float float_of(const Rational& value) { return static_cast<float>(value.convert_to<double>()); }

constexpr std::uint64_t bounds[] = {gpu::input_squares, gpu::weight_squares, gpu::any_squares};

/// A row of numbers of one size, with outliers, ties, zeros, subnormal numbers, or all alike.
Floats row(std::size_t size, int least = -45, int most = 45) {
  const int exponent = between(least, most);
  const int bits = *rc::gen::element(1, 2, 5, 12, 16, 24);
  const int kind = between(0, 5);
  Floats row(size);
  for (float& x : row)
    x = std::ldexp(static_cast<float>(between(-(1 << bits), 1 << bits)), exponent - bits);
  float& other = row[static_cast<std::size_t>(between(0, static_cast<int>(size) - 1))];
  if (kind == 0) other = std::ldexp(1000.0F, exponent);
  if (kind == 1) std::fill(row.begin(), row.end(), other);
  if (kind == 2) other = std::numeric_limits<float>::denorm_min();
  if (kind == 3) std::fill(row.begin(), row.end(), between(0, 1) == 0 ? 0.0F : -0.0F);
  return row;
}

/// A row whose squares, once rounded, add up to the bound, or to `beyond` more, at the exponent 0.
Floats row_at(std::uint64_t bound, std::int64_t beyond) {
  Floats row;
  auto rest = static_cast<std::int64_t>(bound) + beyond;
  while (rest > 0) {
    const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(rest)));
    const auto whole = std::min<std::int64_t>(root, between(0, 3) == 0 ? root : 32000);
    rest -= whole * whole;
    // Not beyond half of the way to a neighbour, and a tie only where it goes to this one.
    const float off = whole % 2 == 0 ? 0.5F : 0.25F;
    row.push_back(static_cast<float>(whole) +
                  (whole > 2 ? off * static_cast<float>(between(-1, 1)) : 0.0F));
  }
  return row;
}

void check_row(const Floats& x, std::uint64_t bound) {
  const auto expected = reference::whole_row(
      exact(x),
      bound == gpu::any_squares ? std::nullopt : std::optional<reference::Integer>(bound));
  const gpu::WholeRow found = gpu::whole_row(x.data(), x.size(), bound);
  RC_ASSERT(found.fits == expected.has_value());
  if (!expected) return;
  RC_ASSERT(found.exponent == expected->exponent);
  std::vector<std::int16_t> numbers(x.size());
  gpu::store_whole_row(found, x.data(), x.size(), numbers.data());
  for (std::size_t i = 0; i < x.size(); ++i) RC_ASSERT(expected->values[i] == numbers[i]);
  RC_ASSERT(reference::whole_sum(*expected, *expected) == found.squares);
  if (bound != gpu::input_squares) return;
  const auto mean = reference::whole_mean_square(*expected);
  if (mean) RC_ASSERT(exact(gpu::whole_mean_of_squares(x.data(), x.size())) == *mean);
}

std::vector<reference::WholeRow> segments(const Floats& x, const reference::Integer& bound) {
  return reference::whole_segments(exact(x), bound).value();
}

}  // namespace

TEST_CASE("rows of whole numbers are those of the definition") {
  law("whatever the row",
      [] { check_row(row(static_cast<std::size_t>(between(1, 80))), bounds[between(0, 2)]); });
  law("at either end of the exponents", [] {
    const bool small = between(0, 1) == 0;
    const auto x = small ? row(20, -149, -40) : row(20, 60, 80);
    check_row(x, bounds[between(0, 2)]);
  });
  law("with squares that add up to the bound, and to one more", [] {
    const auto bound = bounds[between(0, 1)];
    check_row(row_at(bound, *rc::gen::element<std::int64_t>(-1, 0, 1)), bound);
  });
}

TEST_CASE("products of whole numbers are those of the definition, in every form") {
  const auto forms = gpu::forms_of_the_kernels(Arithmetic::integer);
  law("whatever the rows", [&forms] {
    const auto in = *rc::gen::element<std::size_t>(1, 2, 17, 96, 511, 512, 513, 1030);
    const auto out = static_cast<std::size_t>(between(1, 3));
    const auto rows = static_cast<std::size_t>(between(1, 2));
    Floats weights, inputs;
    std::vector<std::vector<reference::WholeRow>> whole_weights;
    for (std::size_t j = 0; j < out; ++j) {
      const auto w = row(in);
      weights.insert(weights.end(), w.begin(), w.end());
      whole_weights.push_back(segments(w, reference::bound_of_weights()));
    }
    Floats expected;
    for (std::size_t i = 0; i < rows; ++i) {
      // Now and then the inputs are a row of weights: their sum is as large as there is.
      const auto x = between(0, 3) == 0 ? Floats(weights.begin(),
                                                 weights.begin() + static_cast<std::ptrdiff_t>(in))
                                        : row(in);
      inputs.insert(inputs.end(), x.begin(), x.end());
      const auto whole = segments(x, reference::bound_of_inputs());
      for (const auto& w : whole_weights)
        expected.push_back(float_of(reference::whole_product(whole, w).value()));
    }
    const gpu::StoredTensor tensor{
        "w", "F32", {out, in}, std::as_bytes(std::span<const float>(weights)), "f"};
    const gpu::StoredTensor* const pointer = &tensor;
    const auto matrix = gpu::pack_matrices({&pointer, 1}, Arithmetic::integer);
    gpu::DeviceMemory<float> given{std::span<const float>(inputs)};
    for (const gpu::Kernels* form : forms) {
      gpu::DeviceMemory<float> outputs(rows * out);
      form->multiply(matrix.view(), {given.data(), nullptr}, rows, out, outputs.data());
      RC_ASSERT(outputs.download(0, rows * out) == expected);
    }
  });
}

namespace {

/// Texts of one head of keys and values, whose rotation turns nothing.
struct Attention {
  std::size_t heads, head_dim, length;
  std::size_t window;                // 0: the last position sees all
  Floats sinks;                      // of each head, or none
  std::vector<Floats> keys, values;  // of each position
  Floats queries;                    // of the last position: [heads, head_dim]

  std::size_t query_floats() const { return gpu::padded(heads * head_dim); }
  std::size_t key_floats() const { return gpu::padded(head_dim); }
  gpu::AttentionShape shape() const {
    return {heads,
            1,
            head_dim,
            query_floats(),
            query_floats() + key_floats(),
            query_floats() + 2 * key_floats()};
  }
  Floats query(std::size_t head) const {
    const auto begin = queries.begin() + static_cast<std::ptrdiff_t>(head * head_dim);
    return {begin, begin + static_cast<std::ptrdiff_t>(head_dim)};
  }
};

Attention drawn_attention() {
  const auto head_dim = *rc::gen::element<std::size_t>(8, 16, 20);
  const auto length = *rc::gen::element<std::size_t>(1, 2, 40, 256, 257, 300);
  const auto window = *rc::gen::element<std::size_t>(0, 0, 1, 15, 16, 17, 255, 257, 1000);
  Attention drawn{2, head_dim, length, window, {}, {}, {}, {}};
  const int values = between(-30, 30);
  const int spread = *rc::gen::element(0, 3, 33);
  for (std::size_t i = 0; i < length; ++i) {
    drawn.keys.push_back(row(head_dim, -4, 1));
    drawn.values.push_back(row(head_dim, values - spread, values + spread));
  }
  for (std::size_t head = 0; head < drawn.heads; ++head) {
    const auto q = row(head_dim, -3, 2);
    drawn.queries.insert(drawn.queries.end(), q.begin(), q.end());
  }
  if (between(0, 1) == 0) drawn.sinks = row(drawn.heads, -3, 4);
  return drawn;
}

Floats attended_by(const gpu::Kernels& kernels, const Attention& text) {
  const auto shape = text.shape();
  const gpu::PageShape page{1, 1, text.head_dim, 2, Arithmetic::integer};
  const std::size_t pages = (text.length + gpu::page_tokens - 1) / gpu::page_tokens;
  const std::vector<std::byte> bytes((pages + 1) * page.layout().bytes(), std::byte{0xFF});
  gpu::DeviceMemory<std::byte> memory_bytes{std::span<const std::byte>(bytes)};
  const auto memory = gpu::pages_at(memory_bytes.data(), pages + 1, page.layout());
  Floats all(text.length * shape.row_floats);
  std::vector<std::uint32_t> positions, first(text.length, 0), table;
  for (std::size_t i = 0; i < pages; ++i) table.push_back(static_cast<std::uint32_t>(pages - i));
  for (std::size_t i = 0; i < text.length; ++i) {
    positions.push_back(static_cast<std::uint32_t>(i));
    float* const to = all.data() + i * shape.row_floats;
    std::copy(text.queries.begin(), text.queries.end(), to);
    std::copy(text.keys[i].begin(), text.keys[i].end(), to + shape.key_begin);
    std::copy(text.values[i].begin(), text.values[i].end(), to + shape.value_begin);
  }
  gpu::DeviceMemory<float> rows{std::span<const float>(all)};
  gpu::DeviceMemory<std::uint32_t> at{std::span<const std::uint32_t>(positions)};
  gpu::DeviceMemory<std::uint32_t> begins{std::span<const std::uint32_t>(first)};
  gpu::DeviceMemory<std::uint32_t> in_order{std::span<const std::uint32_t>(table)};
  const Floats ones(text.length * text.head_dim / 2, 1.0F),
      zeros(text.length * text.head_dim / 2, 0.0F);
  gpu::DeviceMemory<float> cosines{std::span<const float>(ones)},
      sines{std::span<const float>(zeros)};
  const gpu::TokenRows batch{text.length, text.length,   nullptr,
                             at.data(),   begins.data(), in_order.data()};
  kernels.rotate_into_pages(shape, nullptr, nullptr, 0.0F, {cosines.data(), sines.data()}, batch,
                            page.keys(memory, 0), page.values(memory, 0), rows.data());
  const std::size_t last = text.length - 1;
  const gpu::TokenRows of_last{
      1, text.length, nullptr, at.data() + last, begins.data(), in_order.data()};
  gpu::DeviceMemory<float> attended(text.heads * text.head_dim);
  gpu::ProductInputs target{};
  target.float32 = attended.data();
  kernels.variants()->attend_within(
      shape, {text.window, 0.0F, text.sinks.empty() ? nullptr : text.sinks.data()},
      rows.data() + last * shape.row_floats, of_last, page.keys(memory, 0), page.values(memory, 0),
      target);
  return attended.download(0, text.heads * text.head_dim);
}

Floats attended_by_definition(const Attention& text) {
  std::vector<reference::WholeRow> keys, values;
  for (const auto& key : text.keys)
    keys.push_back(*reference::whole_row(exact(key), reference::bound_of_weights()));
  for (const auto& value : text.values)
    values.push_back(*reference::whole_row(exact(value), std::nullopt));
  const Rational scale = exact(1.0F / std::sqrt(static_cast<float>(text.head_dim)));
  Floats attended;
  for (std::size_t head = 0; head < text.heads; ++head) {
    const auto query = *reference::whole_row(exact(text.query(head)), reference::bound_of_inputs());
    Floats scores;
    for (const auto& key : keys)
      scores.push_back(float_of(reference::whole_score(query, key, scale)));
    std::vector<reference::WholeSplit> splits;
    Floats largest;
    for (std::size_t begin = 0; begin < text.length; begin += 256) {
      const std::size_t end = std::min(text.length, begin + 256);
      std::vector<bool> seen;
      float most = -HUGE_VALF;
      for (std::size_t i = begin; i < end; ++i) {
        seen.push_back(text.window == 0 || i + text.window >= text.length);
        if (seen.back()) most = std::max(most, scores[i]);
      }
      if (most == -HUGE_VALF) continue;
      largest.push_back(most);
      std::vector<Rational> exponentials;
      for (std::size_t i = begin; i < end; ++i) {
        exponentials.push_back(seen[i - begin] ? exact(gpu::float32_exponential(scores[i] - most))
                                               : Rational(0));
      }
      splits.push_back(reference::whole_split(exponentials, seen,
                                              {values.begin() + static_cast<std::ptrdiff_t>(begin),
                                               values.begin() + static_cast<std::ptrdiff_t>(end)}));
    }
    const float most = *std::max_element(largest.begin(), largest.end());
    std::vector<Rational> exponentials;
    for (const float m : largest) exponentials.push_back(exact(gpu::float32_exponential(m - most)));
    std::optional<reference::WholeSink> sink;
    if (!text.sinks.empty()) {
      const float most_of_all = std::max(most, text.sinks[head]);
      sink = {exact(gpu::float32_exponential(most - most_of_all)),
              exact(gpu::float32_exponential(text.sinks[head] - most_of_all))};
    }
    for (const Rational& x : reference::whole_attention(splits, exponentials, sink))
      attended.push_back(float_of(x));
  }
  return attended;
}

}  // namespace

TEST_CASE("attention over whole numbers is that of the definition, in every form") {
  const auto forms = gpu::forms_of_the_kernels(Arithmetic::integer);
  law("whatever queries, keys, values, window and sinks", [&forms] {
    const auto text = drawn_attention();
    const auto expected = attended_by_definition(text);
    for (const gpu::Kernels* form : forms) RC_ASSERT(attended_by(*form, text) == expected);
  });
}

}  // namespace tempera::lab::integer_arithmetic_test
