#pragma once

#include "gpu/llm/transformer/kernels/host/attention_rows.hpp"
#include "gpu/llm/transformer/kernels/host/exponential_lanes.hpp"
#include "gpu/llm/transformer/kernels/host/whole_lanes.hpp"
#include "gpu/llm/transformer/kernels/host/whole_rows.hpp"
#include "gpu/llm/transformer/kernels/softmax_factor.hpp"

// Attention of `integer`: scores and sums of values are exact sums of whole numbers, and so is the
// sum of what the positions of a split weigh as whole numbers. docs/reference/arithmetic.md has the
// sequence.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Queries that share each load of keys or values, and registers of values: their sums stay in
/// registers.
constexpr std::size_t whole_queries = 4;
constexpr std::size_t whole_value_registers = register_lanes == 16 ? 4 : 2;

/// 2^-e in every lane.
inline FloatRegister power_register(IntegerRegister minus_exponents) {
  return reinterpret_cast<FloatRegister>((minus_exponents + 127) << 23);
}

/// The positions of a split that a row sees.
struct WholeSplit {
  static constexpr std::int32_t none = SixteenBitElements::of_zeros;

  alignas(64) std::int32_t exponents[split_positions];  // of values; of_zeros where none is seen
  std::size_t hidden;     // positions of the split before those that the row sees
  std::size_t positions;  // those up to the row's own, the hidden ones among them
  std::int32_t least;     // of the exponents; none: there is no value but 0
  bool fits;              // keys and values do

  /// page_keys, page_values: where the heads begin in the pages of the split.
  void read(const std::int16_t* const* page_keys, const std::int16_t* const* page_values,
            std::size_t head_dim) {
    fits = true;
    least = none;
    for (std::size_t i = 0; i < split_positions; ++i) exponents[i] = SixteenBitElements::of_zeros;
    for (std::size_t i = hidden; i < positions; ++i) {
      const std::size_t page = i / page_tokens;
      const std::int32_t key = WholeHeads::exponents(page_keys[page], head_dim)[i % page_tokens];
      const std::int32_t value =
          WholeHeads::exponents(page_values[page], head_dim)[i % page_tokens];
      fits = fits && key != SixteenBitElements::unfit && value != SixteenBitElements::unfit;
      exponents[i] = value;
      least = value < least ? value : least;
    }
  }
};

/// A split's result for one query, besides the sums of values.
struct WholeShare {
  float largest;  // of the scores
  float mass;     // Σ exp(score - largest)
  float scale;    // of the whole sums of values
};

/// Some queries of some rows that look at one head of keys and values.
struct WholeQueries {
  AttentionRows rows;
  std::size_t heads;
  std::size_t head_dim;
  std::size_t window;  // AttentionReach's
  const float* sinks;  // [heads], or null
  float scale;
  PagePart keys;
  PagePart values;
  std::size_t group;

  std::uint32_t* words;  // [heads, head_dim / 2], of one row after another
  float* steps;          // [rows, heads]
  float* sums;           // [rows, heads, splits, width]
  WholeShare* shares;    // [rows, heads, splits]
  alignas(64) float scores[whole_queries][split_positions];
  alignas(64) std::uint32_t weights[whole_queries][split_positions / 2];
  const std::int16_t* page_keys[split_positions / page_tokens];
  const std::int16_t* page_values[split_positions / page_tokens];

  /// The splits that a row sees anything of.
  std::size_t first_split(std::size_t row) const {
    return first_seen(rows.context(row), window) / split_positions;
  }
  std::size_t end_split(std::size_t row) const {
    return (rows.context(row) + split_positions - 1) / split_positions;
  }
  std::size_t width() const { return (head_dim + lanes - 1) / lanes * lanes; }

  /// query_key_value: of the first row, from the first head on; attended: the same.
  void attend(const float* query_key_value, std::size_t row_floats, float* attended,
              std::size_t attended_stride) {
    const std::size_t start = rows.earliest(window) / split_positions;
    const std::size_t end = (rows.longest() + split_positions - 1) / split_positions;
    const std::size_t all = end - start;
    const std::size_t count = rows.rows * heads;
    float* const memory = host_scratch(
        count * (all * (width() + sizeof(WholeShare) / sizeof(float)) + head_dim / 2 + 1));
    sums = memory;
    words = reinterpret_cast<std::uint32_t*>(sums + count * all * width());
    shares = reinterpret_cast<WholeShare*>(words + count * head_dim / 2);
    steps = reinterpret_cast<float*>(shares + count * all);
    for (std::size_t query = 0; query < count; ++query) {
      const float* const from =
          query_key_value + query / heads * row_floats + query % heads * head_dim;
      const WholeRow row = whole_row(from, head_dim, input_squares);
      steps[query] = row.step();
      store_whole_row(row, from, head_dim,
                      reinterpret_cast<std::int16_t*>(words + query * head_dim / 2));
    }
    WholeSplit split;
    for (std::size_t index = start; index < end; ++index) {
      for (std::size_t row = 0; row < rows.rows; ++row) {
        if (index < first_split(row) || index >= end_split(row)) continue;
        take_split(row, index, split);
        for (std::size_t head = 0; head < heads; head += whole_queries) {
          const std::size_t some = heads - head < whole_queries ? heads - head : whole_queries;
          add_split(some, row * heads + head, index - start, all, split);
        }
      }
    }
    for (std::size_t query = 0; query < count; ++query) {
      const std::size_t row = query / heads;
      combine(query * all + first_split(row) - start, end_split(row) - first_split(row),
              sinks == nullptr ? nullptr : sinks + query % heads,
              attended + row * attended_stride + query % heads * head_dim);
    }
  }

  void take_split(std::size_t row, std::size_t index, WholeSplit& split) {
    const std::size_t first = index * split_positions;
    const std::size_t seen = rows.context(row) - first;
    split.hidden = slots_before(first_seen(rows.context(row), window), first, split_positions);
    split.positions = seen < split_positions ? seen : split_positions;
    const std::uint32_t* const pages = rows.pages(row) + first / page_tokens;
    for (std::size_t page = split.hidden / page_tokens; page * page_tokens < split.positions;
         ++page) {
      page_keys[page] = WholeHeads::part_of_head(keys, pages[page], group, head_dim);
      page_values[page] = WholeHeads::part_of_head(values, pages[page], group, head_dim);
    }
    split.read(page_keys, page_values, head_dim);
  }

  template <std::size_t Count = whole_queries>
  void add_split(std::size_t count, std::size_t query, std::size_t index, std::size_t all,
                 const WholeSplit& split) {
    if constexpr (Count > 1) {
      if (count < Count) return add_split<Count - 1>(count, query, index, all, split);
    }
    score<Count>(query, split);
    WholeShare* of_query[Count];
    float* of_values[Count];
    for (std::size_t q = 0; q < Count; ++q) {
      of_query[q] = shares + (query + q) * all + index;
      of_values[q] = sums + ((query + q) * all + index) * width();
      *of_query[q] = weigh(scores[q], split, weights[q]);
    }
    constexpr std::size_t wide = whole_value_registers;
    std::size_t d = 0;
    for (; d + wide * register_lanes <= head_dim; d += wide * register_lanes)
      add_values<Count, wide>(d, split, of_query, of_values);
    for (; d + register_lanes <= head_dim; d += register_lanes)
      add_values<Count, 1>(d, split, of_query, of_values);
    for (; d < head_dim; ++d) {
      for (std::size_t q = 0; q < Count; ++q) {
        const auto* const p = reinterpret_cast<const std::int16_t*>(weights[q]);
        std::int32_t sum = 0;
        for (std::size_t i = split.hidden; i < split.positions; ++i) {
          sum += p[i] *
                 page_values[i / page_tokens][PairsInPages::value(0, i % page_tokens, d, head_dim)];
        }
        of_values[q][d] = static_cast<float>(sum) * of_query[q]->scale;
      }
    }
  }

  /// scores[q, i] = scale · query · key_i; none that the row does not see is read.
  template <std::size_t Count>
  void score(std::size_t query, const WholeSplit& split) {
    for (std::size_t page = split.hidden / page_tokens; page * page_tokens < split.positions;
         ++page) {
      const auto* const key = reinterpret_cast<const std::uint32_t*>(page_keys[page]);
      IntegerRegister dots[Count][block_registers];
      for_each_index<Count>([&](auto q) {
        for_each_index<block_registers>([&](auto part) { dots[q][part] = IntegerRegister{}; });
      });
      for (std::size_t pair = 0; pair < head_dim / 2; ++pair) {
        BitsRegister elements[block_registers];
        for_each_index<block_registers>([&](auto part) {
          elements[part] = *reinterpret_cast<const WordsInMemory*>(key + pair * page_tokens +
                                                                   part * register_lanes);
        });
        for_each_index<Count>([&](auto q) {
          const BitsRegister word =
              broadcast_word_register(words[(query + q) * head_dim / 2 + pair]);
          for_each_index<block_registers>([&](auto part) {
            dots[q][part] = add_whole_pairs(dots[q][part], elements[part], word);
          });
        });
      }
      const std::int32_t* const exponents = WholeHeads::exponents(page_keys[page], head_dim);
      for_each_index<block_registers>([&](auto part) {
        const auto stored =
            reinterpret_cast<IntegerRegister>(*reinterpret_cast<const WordsInMemory*>(
                reinterpret_cast<const std::uint32_t*>(exponents) + part * register_lanes));
        // A key of zeros has any exponent.
        const FloatRegister step =
            power_register(stored == SixteenBitElements::of_zeros ? IntegerRegister{} : -stored);
        for_each_index<Count>([&](auto q) {
          *reinterpret_cast<FloatsInMemory*>(scores[q] + page * page_tokens +
                                             part * register_lanes) =
              to_nearest_floats(dots[q][part]) * (broadcast_register(steps[query + q]) * step) *
              broadcast_register(scale);
        });
      });
    }
  }

  /// Makes shares[i], whole numbers of 16 bits, of the scores of a split.
  static WholeShare weigh(float* scores, const WholeSplit& split, std::uint32_t* shares) {
    constexpr std::size_t together = 4;
    // Registers that have positions that are seen, in whole groups; around them there are zeros.
    constexpr std::size_t group = together * register_lanes;
    const std::size_t begin = split.hidden / group * together;
    const std::size_t registers = (split.positions + group - 1) / group * together;
    constexpr float lowest = -3.402823466e+38f;
    IntegerRegister lane;
    for (std::size_t i = 0; i < register_lanes; ++i) lane[i] = static_cast<std::int32_t>(i);
    const auto seen = [&](std::size_t i) {
      const auto at = static_cast<std::int32_t>(i * register_lanes);
      return (lane >= static_cast<std::int32_t>(split.hidden) - at) &
             (lane < static_cast<std::int32_t>(split.positions) - at);
    };
    FloatRegister largest = broadcast_register(lowest);
    IntegerRegister strange{};
    for (std::size_t i = begin; i < registers; ++i) {
      const FloatRegister score = load_register(scores + i * register_lanes);
      const IntegerRegister is_seen = seen(i);
      strange |= is_seen & (score - score != score - score);
      const FloatRegister kept = is_seen ? score : broadcast_register(lowest);
      *reinterpret_cast<FloatsInMemory*>(scores + i * register_lanes) = kept;
      largest = largest_register(kept, largest);
    }
    const float most = largest_lane(largest);
    alignas(64) float masses[split_positions];
    alignas(64) float scaled[split_positions];
    const auto leave_out = [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first * register_lanes; i < end * register_lanes; ++i) {
        masses[i] = 0.0f;
        scaled[i] = 0.0f;
      }
    };
    leave_out(0, begin);
    leave_out(registers, split_positions / register_lanes);
    const bool any_value = split.least != WholeSplit::none;
    for (std::size_t i = begin; i < registers; i += together) {
      FloatRegister x[together];
      for_each_index<together>([&](auto k) {
        x[k] = load_register(scores + (i + k) * register_lanes) - broadcast_register(most);
      });
      exponentials(x);
      for_each_index<together>([&](auto k) {
        const std::size_t at = (i + k) * register_lanes;
        const FloatRegister mass = seen(i + k) ? x[k] : FloatRegister{};
        *reinterpret_cast<FloatsInMemory*>(masses + at) = mass;
        const auto exponents =
            reinterpret_cast<IntegerRegister>(*reinterpret_cast<const WordsInMemory*>(
                reinterpret_cast<const std::uint32_t*>(split.exponents) + at));
        const IntegerRegister down = exponents - split.least;
        const FloatRegister value =
            mass * power_register(-(down < 31 ? down : 31 + IntegerRegister{}));
        *reinterpret_cast<FloatsInMemory*>(scaled + at) =
            exponents == SixteenBitElements::of_zeros ? FloatRegister{} : value;
      });
    }
    std::int32_t unusual = split.fits ? 0 : 1;
    for (std::size_t i = 0; i < register_lanes; ++i) unusual |= strange[i];
    WholeShare share{most, tree_sum(masses), 0.0f};
    if (unusual != 0) share.mass = __builtin_nanf("");
    if (!any_value) {
      memset(shares, 0, split_positions / 2 * sizeof *shares);
      return share;
    }
    const float all = tree_sum(scaled);
    const FloatRegister factor = broadcast_register(1.0f / all);
    IntegerRegister total{};
    auto* const numbers = reinterpret_cast<std::int16_t*>(shares);
    for (std::size_t i = begin; i < registers; ++i) {
      IntegerRegister number = whole_numbers(load_register(scaled + i * register_lanes) * factor,
                                             broadcast_register(0x1p15f));
      number = number < largest_whole ? number : largest_whole + IntegerRegister{};
      total += number;
      store_shorts(number, numbers + i * register_lanes);
    }
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < register_lanes; ++i) sum += total[i];
    share.scale = all / static_cast<float>(sum) * power_of_two(-split.least);
    return share;
  }

  /// of_values[q, d …] = scale · Σ_i weights[q, i] value_i[d …], some registers of them.
  template <std::size_t Count, std::size_t Registers>
  void add_values(std::size_t d, const WholeSplit& split, WholeShare* const (&of_query)[Count],
                  float* const (&of_values)[Count]) const {
    IntegerRegister totals[Count][Registers];
    for_each_index<Count>([&](auto q) {
      for_each_index<Registers>([&](auto part) { totals[q][part] = IntegerRegister{}; });
    });
    for (std::size_t pair = split.hidden / 2; 2 * pair < split.positions; ++pair) {
      const std::uint32_t* const elements =
          reinterpret_cast<const std::uint32_t*>(page_values[2 * pair / page_tokens]) +
          pair % (page_tokens / 2) * head_dim + d;
      BitsRegister value[Registers];
      for_each_index<Registers>([&](auto part) {
        value[part] = *reinterpret_cast<const WordsInMemory*>(elements + part * register_lanes);
      });
      for_each_index<Count>([&](auto q) {
        const BitsRegister word = broadcast_word_register(weights[q][pair]);
        for_each_index<Registers>([&](auto part) {
          totals[q][part] = add_whole_pairs(totals[q][part], value[part], word);
        });
      });
    }
    for_each_index<Count>([&](auto q) {
      for_each_index<Registers>([&](auto part) {
        *reinterpret_cast<FloatsInMemory*>(of_values[q] + d + part * register_lanes) =
            to_nearest_floats(totals[q][part]) * broadcast_register(of_query[q]->scale);
      });
    });
  }

  /// Adds the splits of a query in ascending order. sink: of its head, or null.
  void combine(std::size_t first, std::size_t count, const float* sink, float* attended) const {
    float largest = shares[first].largest;
    for (std::size_t i = 1; i < count; ++i) {
      const float other = shares[first + i].largest;
      largest = other > largest ? other : largest;
    }
    float mass = 0.0f;
    for (std::size_t d = 0; d < head_dim; ++d) attended[d] = 0.0f;
    for (std::size_t i = 0; i < count; ++i) {
      const WholeShare& share = shares[first + i];
      const float weight = float32_exponential(share.largest - largest);
      mass = fused_multiply_add(share.mass, weight, mass);
      const float* const sum = sums + (first + i) * width();
      std::size_t d = 0;
      for (; d + register_lanes <= head_dim; d += register_lanes) {
        *reinterpret_cast<FloatsInMemory*>(attended + d) = fused_multiply_add_register(
            load_register(sum + d), broadcast_register(weight), load_register(attended + d));
      }
      for (; d < head_dim; ++d) attended[d] = fused_multiply_add(sum[d], weight, attended[d]);
    }
    const float factor = softmax_factor(mass, largest, sink);
    for (std::size_t d = 0; d < head_dim; ++d) attended[d] = attended[d] * factor;
  }
};

/// An item is as AttentionTiling cuts it.
struct WholeAttend {
  AttentionShape shape;
  float scale;
  const float* query_key_value;  // [rows, shape.row_floats]
  TokenRows batch;
  PagePart keys;
  PagePart values;
  float* attended;         // [rows, heads, head_dim]
  std::size_t window = 0;  // AttentionReach's
  const float* sinks = nullptr;

  AttentionTiling tiling() const { return {batch.rows, shape.heads, shape.key_value_heads}; }
  std::size_t items() const { return tiling().items(); }

  void operator()(std::size_t item) const {
    const AttentionTiling cut = tiling();
    const std::size_t row = cut.first_row(item);
    const std::size_t head = cut.first_head(item);
    WholeQueries queries;
    queries.rows = {batch, row, cut.rows_of(item)};
    queries.heads = cut.item_heads();
    queries.head_dim = shape.head_dim;
    queries.window = window;
    queries.sinks = sinks == nullptr ? nullptr : sinks + head;
    queries.scale = scale;
    queries.keys = keys;
    queries.values = values;
    queries.group = cut.group(item);
    queries.attend(query_key_value + row * shape.row_floats + head * shape.head_dim,
                   shape.row_floats, attended + (row * shape.heads + head) * shape.head_dim,
                   shape.heads * shape.head_dim);
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
