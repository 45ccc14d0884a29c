// Attention of `bfloat16-pairs` and of `integer` over a batch of several texts, in every form. The
// plain forms are compared with docs/reference/arithmetic.md in
// architectures/qwen3_bfloat16_pairs.cpp and qwen3_integer.cpp, one text at a time.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/architectures/rotary_angles.hpp"
#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/variant_kernels.hpp"
#include "gpu/llm/transformer/weights/packed_matrix.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"

namespace tempera::gpu::pair_attention_test {

namespace {

constexpr std::size_t heads = 8;
constexpr std::size_t groups = 2;
constexpr std::size_t head_dim = 40;  // no whole segments, no whole blocks
constexpr std::size_t query_floats = padded(heads * head_dim);
constexpr std::size_t key_floats = padded(groups * head_dim);
constexpr AttentionShape shape{heads,
                               groups,
                               head_dim,
                               query_floats,
                               query_floats + key_floats,
                               query_floats + 2 * key_floats};
constexpr std::size_t lengths[] = {301, 277, 37, 2};  // odd ones, and more than one split
constexpr std::size_t shared_tokens = 160;            // of the second text with the first

struct Place {
  std::size_t text;
  std::size_t position;
};

/// Rows of random queries, keys and values at some places.
class Batch {
 public:
  Batch(const std::vector<Place>& places, const std::vector<std::uint32_t>& table,
        const std::vector<std::uint32_t>& begins, std::uint32_t seed)
      : rows_(places.size()), table_(std::span<const std::uint32_t>(table)) {
    std::mt19937 random(seed);
    std::vector<float> values(rows_ * shape.row_floats);
    for (float& value : values) {
      value = static_cast<float>(static_cast<int>(random() % 4096) - 2048) * 0x1p-9F;
    }
    std::vector<std::uint32_t> positions;
    std::vector<std::uint32_t> first_page;
    for (const Place& place : places) {
      positions.push_back(static_cast<std::uint32_t>(place.position));
      first_page.push_back(begins[place.text]);
    }
    query_key_value_ = DeviceMemory<float>{std::span<const float>(values)};
    positions_ = DeviceMemory<std::uint32_t>{std::span<const std::uint32_t>(positions)};
    first_page_ = DeviceMemory<std::uint32_t>{std::span<const std::uint32_t>(first_page)};
  }
  TokenRows rows() const {
    return {rows_, lengths[0], nullptr, positions_.data(), first_page_.data(), table_.data()};
  }
  std::size_t size() const { return rows_; }
  float* query_key_value() { return query_key_value_.data(); }

 private:
  std::size_t rows_;
  DeviceMemory<float> query_key_value_;
  DeviceMemory<std::uint32_t> positions_;
  DeviceMemory<std::uint32_t> first_page_;
  DeviceMemory<std::uint32_t> table_;
};

/// Stored: how the arithmetic stores what is attended.
template <class Stored>
void check_forms(Arithmetic arithmetic) {
  std::vector<std::uint32_t> table;
  std::vector<std::uint32_t> begins;
  std::vector<Place> written;
  std::uint32_t next_page = 1;
  for (std::size_t text = 0; text < std::size(lengths); ++text) {
    begins.push_back(static_cast<std::uint32_t>(table.size()));
    const std::size_t shared = text == 1 ? shared_tokens : 0;
    for (std::size_t token = 0; token < lengths[text]; token += page_tokens) {
      table.push_back(token < shared ? table[token / page_tokens] : next_page++);
    }
    for (std::size_t p = shared; p < lengths[text]; ++p) written.push_back({text, p});
  }
  const PageShape page{1, groups, head_dim, 2, arithmetic};
  // No number is anywhere that no token was written to.
  const std::vector<std::byte> no_numbers((next_page + 1) * page.layout().bytes(), std::byte{0xFF});
  DeviceMemory<std::byte> bytes{std::span<const std::byte>(no_numbers)};
  const PageMemory memory = pages_at(bytes.data(), next_page + 1, page.layout());
  const Kernels& plain = host_kernels(InstructionSet::plain, arithmetic);
  Batch texts(written, table, begins, 3);
  RotaryAngles angles(1e4, head_dim, lengths[0]);
  plain.rotate_into_pages(shape, nullptr, nullptr, 0.0F, angles.up_to(lengths[0]), texts.rows(),
                          page.keys(memory, 0), page.values(memory, 0), texts.query_key_value());

  const auto attended_by = [&](const Kernels& kernels, Batch& batch, const AttentionReach& reach) {
    DeviceMemory<Stored> attended(batch.size() * heads * head_dim);
    ProductInputs target{};
    if constexpr (std::is_same_v<Stored, float>) {
      target.float32 = attended.data();
    } else {
      target.bfloat16 = attended.data();
    }
    kernels.variants()->attend_within(shape, reach, batch.query_key_value(), batch.rows(),
                                      page.keys(memory, 0), page.values(memory, 0), target);
    return attended.download(0, batch.size() * heads * head_dim);
  };
  // Few rows, whose items have a row each; and many, of which some neighbours are of one text and
  // some are forks.
  std::mt19937 random(4);
  const float sinks[heads] = {-1.0F, 2.0F, 0.5F, 40.0F, 0.0F, -60.0F, 3.0F, 1.0F};
  for (const auto& [count, reach] :
       std::initializer_list<std::pair<std::size_t, AttentionReach>>{{3, {}},
                                                                     {40, {}},
                                                                     {150, {}},
                                                                     {700, {}},
                                                                     {3, {21, 0.0F, sinks}},
                                                                     {150, {17}},
                                                                     {150, {270, 0.0F, sinks}}}) {
    std::vector<Place> places;
    while (places.size() < count) {
      const std::size_t text = random() % std::size(lengths);
      for (std::size_t run = 1 + random() % 9; run > 0 && places.size() < count; --run) {
        // The last position now and then, after which there is nothing.
        const bool last = random() % 3 == 0;
        places.push_back({text, last ? lengths[text] - 1 : random() % lengths[text]});
      }
    }
    Batch batch(places, table, begins, 5);
    const auto expected = attended_by(plain, batch, reach);
    CHECK(std::none_of(expected.begin(), expected.end(), [](Stored x) {
      if constexpr (std::is_same_v<Stored, float>) return std::isnan(x);
      return std::isnan(from_bfloat16(static_cast<std::uint16_t>(x)));
    }));
    for (const Kernels* form : forms_of_the_kernels(arithmetic)) {
      CAPTURE(count, reach.window, form->name());
      CHECK((attended_by(*form, batch, reach) == expected));
    }
  }
}

}  // namespace

TEST_CASE("every form attends alike, whatever rows share and whatever their pages hold after them",
          "[kernels][bfloat16-pairs][integer]") {
  check_forms<std::uint16_t>(Arithmetic::bfloat16_pairs);
  check_forms<float>(Arithmetic::integer);
}

}  // namespace tempera::gpu::pair_attention_test
