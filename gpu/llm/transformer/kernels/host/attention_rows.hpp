#pragma once

#include "gpu/device/pair_tiles.hpp"
#include "gpu/llm/transformer/kernels/kernels.hpp"
#include "gpu/llm/transformer/kernels/row_kernels.hpp"

// Rows whose attention one item computes, so that they read keys and values together. Nothing here
// changes a bit: every query keeps its own sequence of operations.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Positions whose scores share a largest one, on the absolute grid.
constexpr std::size_t split_positions = 256;

/// How attention is cut into items: one head of keys and values of some rows, with all queries that
/// look at it, or, of few rows, with one of them.
struct AttentionTiling {
  /// Queries of an item.
  static constexpr std::size_t most_queries = sums_in_tiles ? 96 : 32;

  std::size_t rows;
  std::size_t heads;
  std::size_t key_value_heads;

  /// Queries of a row that look at the same head of keys and values.
  std::size_t group_heads() const { return heads / key_value_heads; }
  /// The rows of an item: as many as there is room for, but few enough to give every core an item.
  std::size_t item_rows() const {
    constexpr std::size_t enough_items = 64;
    const std::size_t fitting = group_heads() < most_queries ? most_queries / group_heads() : 1;
    const std::size_t shared = rows * key_value_heads / enough_items;
    return shared < 1 ? 1 : shared < fitting ? shared : fitting;
  }
  /// Heads of a row that go together.
  std::size_t item_heads() const {
    constexpr std::size_t too_few_items = 16;
    return rows * key_value_heads < too_few_items ? 1 : group_heads();
  }
  std::size_t row_items() const { return heads / item_heads(); }
  std::size_t items() const { return (rows + item_rows() - 1) / item_rows() * row_items(); }
  std::size_t first_head(std::size_t item) const { return item % row_items() * item_heads(); }
  std::size_t group(std::size_t item) const { return first_head(item) / group_heads(); }
  std::size_t first_row(std::size_t item) const { return item / row_items() * item_rows(); }
  std::size_t rows_of(std::size_t item) const {
    const std::size_t left = rows - first_row(item);
    return left < item_rows() ? left : item_rows();
  }
};

/// Some neighbouring rows of a batch.
struct AttentionRows {
  TokenRows batch;
  std::size_t first;
  std::size_t rows;

  /// Positions that a row sees.
  std::size_t context(std::size_t row) const {
    return std::size_t{batch.positions[first + row]} + 1;
  }
  const std::uint32_t* pages(std::size_t row) const {
    return batch.page_table + batch.first_page[first + row];
  }
  /// The first position that any row sees.
  std::size_t earliest(std::size_t window) const {
    std::size_t result = first_seen(context(0), window);
    for (std::size_t row = 1; row < rows; ++row) {
      const std::size_t seen = first_seen(context(row), window);
      if (seen < result) result = seen;
    }
    return result;
  }
  std::size_t longest() const {
    std::size_t result = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      if (context(row) > result) result = context(row);
    }
    return result;
  }

  /// Neighbouring rows that see some positions in the same pages: tokens of one text, or forks of
  /// it.
  struct Run {
    std::size_t first;
    std::size_t end;
    std::size_t context;         // the longest
    const std::uint32_t* pages;  // of that row
  };
  /// Calls work(run) for one run after another of the rows that see position `begin`, the first of
  /// a page; a run shares as many pages from there on.
  template <class Work>
  void for_each_run(std::size_t begin, std::size_t shared_pages, const Work& work) const {
    for (std::size_t row = 0; row < rows;) {
      if (context(row) <= begin) {
        ++row;
        continue;
      }
      Run run{row, row + 1, context(row), pages(row)};
      while (run.end < rows && context(run.end) > begin &&
             see_the_same(run, run.end, begin, shared_pages)) {
        if (context(run.end) > run.context) {
          run.context = context(run.end);
          run.pages = pages(run.end);
        }
        ++run.end;
      }
      row = run.end;
      work(run);
    }
  }

 private:
  bool see_the_same(const Run& run, std::size_t row, std::size_t begin,
                    std::size_t shared_pages) const {
    const std::uint32_t* const others = pages(row);
    if (others == run.pages) return true;
    const std::size_t both = context(row) < run.context ? context(row) : run.context;
    const std::size_t page = begin / page_tokens;
    for (std::size_t i = 0; i < shared_pages && begin + i * page_tokens < both; ++i) {
      if (others[page + i] != run.pages[page + i]) return false;
    }
    return true;
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
