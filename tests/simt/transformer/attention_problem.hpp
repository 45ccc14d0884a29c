#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/cuda/attention_launch.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/simt/transformer/contract.hpp"
#include "tests/simt/transformer/planted_barriers.hpp"

namespace tempera::tests {

namespace simt = gpu::simt;

struct HeadShape {
  unsigned heads;
  unsigned key_value_heads;
  unsigned head_dim;
  gpu::Arithmetic arithmetic = gpu::Arithmetic::tensor_core;
};

/// Records whose first pages are shared, as after a fork, in pages that are in any order; what no
/// record holds is NaN.
struct Pages {
  gpu::PageShape shape;
  std::vector<gpu::simt::Vector16> memory;
  std::vector<std::uint32_t> table;
  std::vector<std::uint32_t> first_page;  // of every record
  std::vector<std::uint32_t> lengths;

  Pages(const HeadShape& heads, const std::vector<std::uint32_t>& record_lengths,
        std::uint32_t shared_pages, std::mt19937& random)
      : shape{1, heads.key_value_heads, heads.head_dim, 8, heads.arithmetic},
        lengths(record_lengths) {
    std::uint32_t count = shared_pages;
    for (const auto length : lengths) count += (length + 15) / 16;
    std::vector<std::uint32_t> free(count);
    for (std::uint32_t p = 0; p < count; ++p) free[p] = p;
    std::shuffle(free.begin(), free.end(), random);
    memory.resize(count * shape.layout().bytes() / 16);
    std::memset(memory.data(), 0xFF, memory.size() * 16);
    const std::vector<std::uint32_t> shared(free.end() - shared_pages, free.end());
    free.resize(count - shared_pages);
    for (const auto length : lengths) {
      first_page.push_back(static_cast<std::uint32_t>(table.size()));
      for (std::uint32_t page = 0; page < (length + 15) / 16; ++page) {
        if (page < shared_pages && page * 16 + 16 <= length) {
          table.push_back(shared[page]);
        } else {
          table.push_back(free.back());
          free.pop_back();
        }
      }
    }
    for (std::size_t record = 0; record < lengths.size(); ++record) {
      for (std::uint32_t position = 0; position < lengths[record]; ++position) {
        for (std::uint32_t head = 0; head < heads.key_value_heads; ++head) {
          for (const bool key : {true, false}) {
            store(contract_head(random), record, position, head, key);
          }
        }
      }
    }
  }

  gpu::PageMemory view() {
    const gpu::ArraysLayout layout = shape.layout();
    return gpu::pages_at(memory.data(), memory.size() * 16 / layout.bytes(), layout);
  }
  gpu::PageElements elements() const { return gpu::page_elements(shape.arithmetic); }
  bool has_8_bits() const { return elements() == gpu::PageElements::eight_bits; }

  /// A head of a position, as its page has it.
  ContractHead head_at(std::size_t record, std::uint32_t position, std::uint32_t head, bool key) {
    ContractHead result{Floats(shape.head_dim)};
    const auto [bytes, exponent] = place(record, position, head, key);
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      std::uint16_t bfloat16 = 0;
      std::memcpy(&bfloat16, bytes + (has_8_bits() ? 0 : 2 * d), 2);
      result.elements[d] = has_8_bits() ? static_cast<float>(static_cast<int>(bytes[d]) - 128)
                                        : gpu::from_bfloat16(bfloat16);
    }
    if (has_8_bits()) result.power = std::ldexp(1.0F, static_cast<int>(*exponent) - 127);
    return result;
  }

  /// Puts a head there instead.
  void store(const ContractHead& from, std::size_t record, std::uint32_t position,
             std::uint32_t head, bool key) {
    const auto [bytes, exponent] = place(record, position, head, key);
    for (std::size_t d = 0; d < shape.head_dim; ++d) {
      const std::uint16_t bfloat16 = gpu::to_bfloat16(from.elements[d]);
      if (has_8_bits()) {
        bytes[d] = static_cast<unsigned char>(static_cast<int>(from.elements[d]) + 128);
      } else {
        std::memcpy(bytes + 2 * d, &bfloat16, 2);
      }
    }
    if (has_8_bits())
      *exponent =
          static_cast<unsigned char>(std::isinf(from.power) ? 255 : std::ilogb(from.power) + 127);
  }

 private:
  /// Where the elements are, and their exponent, if they have one.
  std::pair<unsigned char*, unsigned char*> place(std::size_t record, std::uint32_t position,
                                                  std::uint32_t head, bool key) {
    const auto part = key ? shape.keys(view(), 0) : shape.values(view(), 0);
    auto* const page =
        gpu::part_of_page<unsigned char>(part, table[first_page[record] + position / 16]);
    const std::size_t size = shape.head_dim * (has_8_bits() ? 1 : 2);
    auto* const of_head = page + head * (16 * size + (has_8_bits() ? 16 : 0));
    return {of_head + position % 16 * size, of_head + 16 * size + position % 16};
  }
  ContractHead contract_head(std::mt19937& random) const {
    if (!has_8_bits()) {
      ContractHead result;
      for (const auto element : random_bfloat16s(shape.head_dim, 1.0F, random))
        result.elements.push_back(gpu::from_bfloat16(element));
      return result;
    }
    const float size = std::ldexp(1.0F, static_cast<int>(random() % 4) - 2);
    return contract_8_bits(random_floats(shape.head_dim, size, random));
  }
};

/// Rows at the ends of records, or before them, and their attention by the contract.
struct AttentionProblem {
  HeadShape heads;
  Pages pages;
  gpu::AttentionShape shape;
  std::vector<std::uint32_t> records;    // of each row
  std::vector<std::uint32_t> positions;  // of each row
  Floats buffer;                         // [rows, row_floats]
  // What rows share, if the kernel is to be told: see gpu::SharedRows.
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> splits;
  bool own_records = false;

  AttentionProblem(const HeadShape& head_shape, const std::vector<std::uint32_t>& lengths,
                   std::uint32_t shared_pages, unsigned seed)
      : AttentionProblem(head_shape, lengths, shared_pages, std::mt19937(seed)) {}
  AttentionProblem(const HeadShape& head_shape, const std::vector<std::uint32_t>& lengths,
                   std::uint32_t shared_pages, std::mt19937 random)
      : heads(head_shape), pages(head_shape, lengths, shared_pages, random) {
    const std::size_t query = std::size_t{heads.heads} * heads.head_dim;
    const std::size_t key_value = std::size_t{heads.key_value_heads} * heads.head_dim;
    shape = {heads.heads, heads.key_value_heads, heads.head_dim,
             query,       query + key_value,     query + 2 * key_value + 3};
    for (std::uint32_t record = 0; record < lengths.size(); ++record) {
      records.push_back(record);
      positions.push_back(lengths[record] - 1);
    }
    buffer = random_floats(lengths.size() * shape.row_floats, 1.0f, random);
  }

  Bfloat16s by_contract() {
    Bfloat16s result;
    for (std::size_t row = 0; row < records.size(); ++row) {
      for (std::uint32_t head = 0; head < heads.heads; ++head) {
        std::vector<ContractHead> keys;
        std::vector<ContractHead> values;
        const std::uint32_t key_head = head / (heads.heads / heads.key_value_heads);
        for (std::uint32_t s = 0; s <= positions[row]; ++s) {
          keys.push_back(pages.head_at(records[row], s, key_head, true));
          values.push_back(pages.head_at(records[row], s, key_head, false));
        }
        const auto attended = contract_attention(
            {&buffer[row * shape.row_floats + head * heads.head_dim], heads.head_dim}, keys,
            values);
        for (const float value : attended) result.push_back(gpu::to_bfloat16(value));
      }
    }
    return result;
  }

  /// planted: in place of attend_split, of rows together.
  Bfloat16s by_kernel(simt::Stream& stream, gpu::AttentionKernel planted = nullptr) {
    std::vector<std::uint32_t> first;
    for (const auto record : records) first.push_back(pages.first_page[record]);
    const std::size_t context = *std::max_element(positions.begin(), positions.end()) + 1;
    gpu::TokenRows batch{records.size(),   context,      nullptr,
                         positions.data(), first.data(), pages.table.data()};
    batch.own_records = own_records;
    if (!order.empty()) batch.shared = {order.data(), splits.data()};
    const unsigned most_splits = gpu::attention_splits(context);
    const std::size_t partials = records.size() * heads.heads * most_splits;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    Floats maxima(partials, nan);
    Floats sums(partials, nan);
    Floats outputs(partials * heads.head_dim, nan);
    std::vector<std::uint32_t> counters(gpu::attention_counters(shape, records.size()));
    Bfloat16s attended(records.size() * heads.heads * heads.head_dim, 0x7FC0);
    const gpu::AttentionScratch scratch{maxima.data(), sums.data(), outputs.data(), counters.data(),
                                        most_splits};
    const auto keys = pages.shape.keys(pages.view(), 0);
    const auto values = pages.shape.values(pages.view(), 0);
    if (planted == nullptr) {
      gpu::launch_attention(stream, shape, {}, buffer.data(), batch, pages.elements(), keys, values,
                            scratch, attended.data());
    } else {
      const float scale = 1.0F / std::sqrt(static_cast<float>(heads.head_dim));
      gpu::launch_attention_rows(
          stream, planted,
          {shape, {}, scale, buffer.data(), batch, keys, values, scratch, attended.data()},
          pages.elements(), gpu::attention_rows(shape, pages.elements()));
    }
    for (const auto counter : counters) REQUIRE((counter == 0 || planted != nullptr));
    return attended;
  }

  /// Makes the first record's row several: those of its tokens from `first` on, as of a prompt.
  void add_prompt(std::uint32_t first, std::uint32_t rows) {
    records.insert(records.begin(), rows - 1, 0);
    positions.insert(positions.begin(), rows - 1, 0);
    std::iota(positions.begin(), positions.begin() + rows, first);
    std::mt19937 random(rows);
    buffer = random_floats(records.size() * shape.row_floats, 1.0F, random);
  }

  /// Puts the rows in a random order and says what each shares with the one before it: whole splits
  /// below the last page of both, or, within one record, all that both reach.
  void share(unsigned seed) {
    order.resize(records.size());
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    splits.assign(order.size(), 0);
    for (std::size_t i = 1; i < order.size(); ++i) splits[i] = shared_by(order[i - 1], order[i]);
  }
  std::uint32_t shared_by(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t shorter = std::min(positions[a], positions[b]);
    if (records[a] == records[b]) return shorter / 256 + 1;
    const auto page_of = [&](std::uint32_t row, std::uint32_t page) {
      return pages.table[pages.first_page[records[row]] + page];
    };
    std::uint32_t same = 0;
    while (same < shorter / 16 && page_of(a, same) == page_of(b, same)) ++same;
    return same / 16;
  }

  void permute(unsigned seed) {
    std::vector<std::size_t> chosen(records.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
    std::mt19937 random(seed);
    std::shuffle(chosen.begin(), chosen.end(), random);
    const AttentionProblem before = *this;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      records[i] = before.records[chosen[i]];
      positions[i] = before.positions[chosen[i]];
      std::copy_n(&before.buffer[chosen[i] * shape.row_floats], shape.row_floats,
                  &buffer[i * shape.row_floats]);
    }
  }
};

/// Each barrier removed, and a wait for copies one short, shows; nothing else does.
inline void require_every_barrier_of(AttentionProblem& problem, const Bfloat16s& expected) {
  gpu::simt::Stream sound;
  REQUIRE(different(problem.by_kernel(sound), expected) == 0);
  require_every_barrier(sound, 7, "attention.cuh", [&](const gpu::simt::PlantedDefect& defect) {
    return shows_under_a_seed(defect, 60, [&](gpu::simt::Stream& stream) {
      return different(problem.by_kernel(stream), expected) != 0;
    });
  });
}

}  // namespace tempera::tests
