#pragma once

#include <cfloat>
#include <cstdint>
#include <type_traits>

#include "gpu/llm/transformer/kernels/cuda/attention_positions.cuh"
#include "gpu/llm/transformer/kernels/cuda/combined_splits.cuh"
#include "gpu/llm/transformer/kernels/cuda/head_exponent.cuh"
#include "gpu/llm/transformer/kernels/cuda/tree.cuh"
#include "gpu/llm/transformer/kernels/cuda/turned_head.cuh"
#include "gpu/llm/transformer/kernels/float32_exponential.hpp"

// Attention over pages, by splits of 256 positions on the absolute grid
// (docs/reference/arithmetic.md). A block has one split of a row and the queries that share a key
// head, up to `Queries` of them, so that each key and value is read once for all of them. Rows
// whose pages of the split are the same, up to `Rows` of them, go together, and read them once. The
// block that ends last for a row combines its splits in order. Neither the batch, the other rows'
// lengths nor what rows share can change a bit: each row has its own sums, over its own positions.
//
// If no row attends to another row's key, as in every step of decoding, a block also rotates the
// queries that it takes, and the block of the row's last split rotates the row's key: no kernel of
// its own is needed for that (HeadRotation). Otherwise queries and keys were rotated before.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// The rows of a block, which have its split and the same pages of it, as far as they reach.
struct RowGroup {
  const std::uint32_t* order;  // of all rows; null if a row is alone
  unsigned first;              // in that order
  unsigned rows;
  TEMPERA_ON_DEVICE unsigned row(unsigned i) const {
    return order == nullptr ? first : order[first + i];
  }
};

/// attended[row, h] = Σ_s softmax_s(q_h · k_s / sqrt(head_dim)) v_s for the rows of a group, the
/// block's split of it; by the whole block. projected_is_there() is called when the keys in pages
/// have been asked for, and before the first of query_key_value is read. before: how this is seen.
/// @pre a group of several rows has none whose last token this kernel rotates in this split
template <unsigned Pairs, unsigned Queries, unsigned Rows, class Elements, class Inputs, class Wait>
TEMPERA_ON_DEVICE inline void attend_group(const AttentionWork& work, const RowGroup& group,
                                           const AttentionTask& task, const Inputs& before,
                                           const Wait& projected_is_there) {
  constexpr unsigned all_queries = Rows * Queries;
  constexpr bool scaled = Elements::have_exponents;
  static_assert(!scaled || Rows == 1, "a thread has the exponents of one position");
  using Stored = typename Elements::Stored;
  using Chunk = PageChunk<Elements>;
  const AttentionShape& shape = work.shape;
  const AttentionScratch& scratch = work.scratch;
  const TokenRows& batch = work.batch;
  const auto size = static_cast<unsigned>(shape.head_dim);
  const unsigned sharing =
      static_cast<unsigned>(shape.heads) / static_cast<unsigned>(shape.key_value_heads);
  const unsigned tiles = (sharing + Queries - 1) / Queries;
  const unsigned split = task.split;
  const unsigned key_head = task.queries / tiles;
  const unsigned in_sharing = task.queries % tiles * Queries;
  const unsigned first_head = key_head * sharing + in_sharing;
  const unsigned heads = sharing - in_sharing < Queries ? sharing - in_sharing : Queries;
  const unsigned first = split * split_positions;
  const unsigned leader = group.row(0);
  const unsigned position = batch.positions[leader];
  if (first > position) return;
  // Read again for each of several rows; a row that is alone keeps its own in a register.
  const auto position_of = [&](unsigned r) {
    return Rows == 1 ? position : batch.positions[group.row(r)];
  };
  // Positions of the split that a row sees; a group's longest row is that of the most.
  const auto count_of = [&](unsigned r) {
    const unsigned left = position_of(r) + 1 - first;
    return left < split_positions ? left : split_positions;
  };
  unsigned counts[Rows];
  unsigned count = 0;
  unsigned fewest = split_positions;
  TEMPERA_UNROLL
  for (unsigned r = 0; r < Rows; ++r) {
    counts[r] = r < group.rows ? count_of(r) : 0;
    count = counts[r] > count ? counts[r] : count;
    fewest = counts[r] < fewest ? counts[r] : fewest;
  }

  const auto layout = AttentionLayout<Elements>::of(size);
  auto* const rows = simt::shared_memory<simt::Vector16>(layout.positions_begin(all_queries));
  auto* const queries = simt::shared_memory<float>(layout.queries_begin(all_queries));
  auto* const p = simt::shared_memory<float>();
  auto* const weights_of_values = simt::shared_memory<float>(layout.weights_begin(all_queries));
  auto* const maxima = simt::shared_memory<float>(layout.maxima_begin(all_queries));
  const unsigned thread = simt::thread();
  const unsigned warp = simt::warp();
  const unsigned lane = simt::lane();

  // The row's own key and value, last of the last split, if this kernel makes them.
  const HeadRotation& rotation = work.rotation;
  const bool rotates = rotation.tables.cosines != nullptr;
  const bool has_own = rotates && first + count == position + 1;
  const unsigned paged = has_own ? count - 1 : count;
  const auto projected = [&](unsigned row) {
    return work.query_key_value + row * shape.row_floats;
  };
  auto* const own_row = reinterpret_cast<Stored*>(rows + (count - 1) * layout.pitch);
  const auto own_slot = [&](const PagePart& part) {
    const std::size_t page = page_of_position(batch, leader, position);
    return OwnSlot<Stored>{
        own_row, slot_of_position<Elements>(part, page, key_head, position, size), in_sharing == 0};
  };
  // Exponents: of the row's own key and value, and those of a thread's position.
  auto* const own_exponents =
      simt::shared_memory<std::uint8_t>(layout.exponents_begin(all_queries));
  const auto keep_own_exponent = [&](const PagePart& part, unsigned i, std::uint8_t exponent) {
    if (lane != 0) return;
    own_exponents[i] = exponent;
    if (in_sharing > 0) return;
    const std::size_t page = page_of_position(batch, leader, position);
    *exponent_of_position<Elements>(part, page, key_head, position, size) = exponent;
  };

  const std::uint32_t* const pages = batch.page_table + batch.first_page[leader];
  bring_positions(work.keys, pages, key_head, size, first, paged, layout, rows);
  projected_is_there();
  std::uint8_t key_exponent = 0;
  std::uint8_t value_exponent = 0;
  if (scaled && thread < paged) {
    const unsigned s = first + thread;
    const std::size_t page = pages[s / page_tokens];
    key_exponent = *exponent_of_position<Elements>(work.keys, page, key_head, s, size);
    value_exponent = *exponent_of_position<Elements>(work.values, page, key_head, s, size);
  }
  constexpr unsigned chunk_elements = Chunk::elements;
  const unsigned padded_size = layout.chunks * chunk_elements;
  const auto query_element = [&](unsigned vector, unsigned d) -> float& {
    return queries[(d / chunk_elements * all_queries + vector) * chunk_elements +
                   d % chunk_elements];
  };
  for (unsigned e = thread; e < group.rows * Queries * padded_size; e += attention_threads) {
    const unsigned vector = e / padded_size;
    const unsigned q = vector % Queries;
    const unsigned d = e % padded_size;
    const bool there = q < heads && d < size;
    if (there && rotates) continue;
    query_element(vector, d) =
        there ? Inputs::load(projected(group.row(vector / Queries)) + (first_head + q) * size + d)
              : 0.0f;
  }
  if (rotates) {
    const unsigned half = rotary_half(shape);
    const unsigned turned = group.rows * heads + (has_own ? 1 : 0);
    for (unsigned vector = warp; vector < turned; vector += attention_warps) {
      const bool is_query = vector < group.rows * heads;
      const unsigned r = is_query ? vector / heads : 0;
      const unsigned q = vector % heads;
      const unsigned row = group.row(r);
      const unsigned begin = is_query ? (first_head + q) * size
                                      : static_cast<unsigned>(shape.key_begin) + key_head * size;
      const auto slot = is_query ? OwnSlot<Stored>{nullptr, nullptr, false} : own_slot(work.keys);
      // An exponent has to be known before the first element is stored.
      HeadExponent largest;
      std::uint8_t exponent = 0;
      TEMPERA_NO_UNROLL
      for (unsigned pass = scaled && !is_query ? 0 : 1; pass < 2; ++pass) {
        turn_head<Inputs>(projected(row) + begin,
                          is_query ? rotation.query_norm : rotation.key_norm, rotation,
                          position_of(r), size, half, [&](unsigned d, float value) {
                            if (is_query) {
                              query_element(r * Queries + q, d) = value;
                            } else if (scaled && pass == 0) {
                              largest.take(value);
                            } else {
                              slot(d, stored_element<Elements>(value, exponent));
                            }
                          });
        if (scaled && pass == 0) exponent = largest.of_warp();
      }
      if (scaled && !is_query) keep_own_exponent(work.keys, 0, exponent);
    }
    if (has_own) {
      for (unsigned d = size + thread; d < padded_size; d += attention_threads)
        own_row[d] = Elements::zero;
    }
    if (scaled && has_own && warp == attention_warps - 1) {
      const float* const value = projected(leader) + shape.value_begin + key_head * size;
      keep_own_exponent(work.values, 1, exponent_of_head<Inputs>(value, size));
    }
  }
  simt::wait_copies<0>();
  simt::barrier();

  // Scores: one thread per position, all queries.
  float score[Rows][Queries] = {};
  if (thread < count) {
    for (unsigned chunk = 0; chunk < layout.chunks; ++chunk) {
      const simt::Vector16 words = rows[thread * layout.pitch + chunk];
      const std::uint32_t elements[4] = {words.x, words.y, words.z, words.w};
      // By fours, so that the queries' elements do not fill the registers.
      TEMPERA_UNROLL
      for (unsigned four = 0; four < chunk_elements / 4; ++four) {
        float key[4];
        Chunk::get_four(elements, four, key);
        TEMPERA_UNROLL
        for (unsigned r = 0; r < Rows; ++r) {
          if (r >= group.rows) continue;
          TEMPERA_UNROLL
          for (unsigned q = 0; q < Queries; ++q) {
            float query[4];
            load_neighbours(
                queries + (chunk * all_queries + r * Queries + q) * chunk_elements + four * 4,
                query);
            TEMPERA_UNROLL
            for (unsigned i = 0; i < 4; ++i) {
              score[r][q] = fused_multiply_add(query[i], key[i], score[r][q]);
            }
          }
        }
      }
    }
  }
  if constexpr (scaled) {
    const bool is_own = has_own && thread == paged;
    if (is_own) value_exponent = own_exponents[1];
    const float power = Elements::power_of(is_own ? own_exponents[0] : key_exponent);
    TEMPERA_UNROLL
    for (unsigned q = 0; q < Queries; ++q) score[0][q] = power * score[0][q];
  }
  TEMPERA_UNROLL
  for (unsigned r = 0; r < Rows; ++r) {
    if (r >= group.rows) continue;
    TEMPERA_UNROLL
    for (unsigned q = 0; q < Queries; ++q) {
      score[r][q] = thread < counts[r] ? work.scale * score[r][q] : -FLT_MAX;
      float largest = score[r][q];
      TEMPERA_UNROLL
      for (unsigned half = 16; half > 0; half /= 2) {
        const float other = simt::shuffle_xor(largest, half);
        largest = other > largest ? other : largest;
      }
      if (lane == 0) maxima[warp * all_queries + r * Queries + q] = largest;
    }
  }
  simt::barrier();  // all keys have been read, too
  bring_positions(work.values, pages, key_head, size, first, paged, layout, rows);
  if (has_own) {
    const auto slot = own_slot(work.values);
    const float* const value = projected(leader) + shape.value_begin + key_head * size;
    for (unsigned d = thread; d < size; d += attention_threads)
      slot(d, stored_element<Elements>(Inputs::load(value + d),
                                       scaled ? own_exponents[1] : std::uint8_t{0}));
  }

  const auto partial_of = [&](unsigned row) {
    return (std::size_t{row} * shape.heads + first_head) * scratch.splits + split;
  };
  TEMPERA_UNROLL
  for (unsigned r = 0; r < Rows; ++r) {
    if (r >= group.rows) continue;
    TEMPERA_UNROLL
    for (unsigned q = 0; q < Queries; ++q) {
      float largest = -FLT_MAX;
      for (unsigned w = 0; w < attention_warps; ++w) {
        const float other = maxima[w * all_queries + r * Queries + q];
        largest = other > largest ? other : largest;
      }
      const unsigned place = (r * split_positions + thread) * Queries + q;
      p[place] = thread < counts[r] ? float32_exponential(score[r][q] - largest) : 0.0f;
      if constexpr (scaled) {
        weights_of_values[place] = p[place] * Elements::power_of(value_exponent);
      }
      if (thread == 0 && q < heads)
        scratch.maxima[partial_of(group.row(r)) + q * scratch.splits] = largest;
    }
  }
  simt::wait_copies<0>();
  simt::barrier();

  TEMPERA_NO_UNROLL
  for (unsigned vector = warp; vector < group.rows * Queries; vector += attention_warps) {
    const unsigned r = vector / Queries;
    const unsigned q = vector % Queries;
    if (q >= heads) continue;
    const float sum = tree_of_256(p + r * split_positions * Queries + q, Queries);
    if (lane == 0) scratch.sums[partial_of(group.row(r)) + q * scratch.splits] = sum;
  }
  // Values: one run of positions per warp, two neighbouring elements per lane and pair.
  float run[Rows][Queries][Pairs][2] = {};
  const unsigned run_begin = warp * run_positions;
  const unsigned run_end = run_begin + run_positions < count ? run_begin + run_positions : count;
  // A lane after the head's end takes an element that is there, whose sums nobody reads.
  unsigned word[Pairs];
  TEMPERA_UNROLL
  for (unsigned pair = 0; pair < Pairs; ++pair) {
    word[pair] = pair * simt::warp_lanes + lane;
    if (word[pair] * 2 >= size) word[pair] = 0;
  }
  const auto add_values = [&](auto all_see) {
    using Pair = typename Chunk::Pair;
    const auto* words = reinterpret_cast<const Pair*>(rows + run_begin * layout.pitch);
    for (unsigned s = run_begin; s < run_end; ++s) {
      float value[Pairs][2];
      TEMPERA_UNROLL
      for (unsigned pair = 0; pair < Pairs; ++pair) {
        Chunk::get_pair(words[word[pair]], value[pair]);
      }
      words += layout.pitch * (16 / sizeof(Pair));
      TEMPERA_UNROLL
      for (unsigned r = 0; r < Rows; ++r) {
        // A row that sees less of the split has no value here, not one that weighs nothing.
        if (!decltype(all_see)::value && s >= counts[r]) continue;
        float weights[Queries];
        load_neighbours(weights_of_values + (r * split_positions + s) * Queries, weights);
        TEMPERA_UNROLL
        for (unsigned q = 0; q < Queries; ++q) {
          TEMPERA_UNROLL
          for (unsigned pair = 0; pair < Pairs; ++pair) {
            float(&sums)[2] = run[r][q][pair];
            sums[0] = fused_multiply_add(weights[q], value[pair][0], sums[0]);
            sums[1] = fused_multiply_add(weights[q], value[pair][1], sums[1]);
          }
        }
      }
    }
  };
  // Without branches, if there are as many rows as there may be, and each sees the whole run.
  if (Rows == 1 || fewest >= run_end) {
    add_values(std::true_type());
  } else {
    add_values(std::false_type());
  }
  simt::barrier();  // the values have been read; the sums of the runs take their place
  auto* const runs = reinterpret_cast<float*>(rows);  // [warps, Rows, Queries, size]
  TEMPERA_UNROLL
  for (unsigned r = 0; r < Rows; ++r) {
    if (r >= group.rows) continue;
    TEMPERA_UNROLL
    for (unsigned q = 0; q < Queries; ++q) {
      TEMPERA_UNROLL
      for (unsigned pair = 0; pair < Pairs; ++pair) {
        const unsigned d = (pair * simt::warp_lanes + lane) * 2;
        if (d >= size) continue;
        float* const sums = runs + (warp * all_queries + r * Queries + q) * size + d;
        sums[0] = run[r][q][pair][0];
        sums[1] = run[r][q][pair][1];
      }
    }
  }
  simt::barrier();
  TEMPERA_NO_UNROLL
  for (unsigned r = 0; r < group.rows; ++r) {
    const unsigned row = group.row(r);
    const float* const of_row = runs + r * Queries * size;
    const unsigned used_runs = (count_of(r) + run_positions - 1) / run_positions;
    for (unsigned e = thread; e < heads * size; e += attention_threads) {
      float sum = of_row[e];
      for (unsigned w = 1; w < used_runs; ++w) sum += of_row[w * all_queries * size + e];
      scratch.outputs[(partial_of(row) + e / size * scratch.splits) * size + e % size] = sum;
    }
  }

  // The block that finds a row's other splits there combines them.
  auto* const arrived = simt::shared_memory<std::uint32_t>(layout.arrived_begin(all_queries));
  const auto splits_of = [&](unsigned r) { return position_of(r) / split_positions + 1; };
  before.show();
  simt::barrier();
  if (thread < group.rows) {
    const unsigned row = group.row(thread);
    std::uint32_t* const counter =
        scratch.counters + std::size_t{row} * task.query_groups + task.queries;
    arrived[thread] = before.count(counter) + 1;
    if (arrived[thread] == splits_of(thread)) *counter = 0;
  }
  simt::barrier();
  TEMPERA_NO_UNROLL
  for (unsigned r = 0; r < group.rows; ++r) {
    const unsigned row = group.row(r);
    const unsigned splits = splits_of(r);
    if (arrived[r] != splits) continue;
    before.see();
    const float* const gates =
        shape.gate_begin == 0 ? nullptr : projected(row) + shape.gate_begin + first_head * size;
    combine_splits<Inputs>(shape, scratch, row, first_head, heads, splits, gates, work.attended);
  }
}

/// Attention of a batch. attended: [rows, heads · head_dim], bfloat16, times sigmoid(gate) if the
/// shape has gates. Head size: at most 64 · Pairs. rotation: of queries and keys as the projection
/// left them, which with the values then go into the pages, too; without tables, all of that was
/// done before. Elements: of the pages.
///
/// Grid: (splits, key_value_heads · query tiles, rows) if each row is alone; otherwise
/// (splits, the same, rows / Rows rounded up · parts), a multiple of `parts` for every `Rows` rows
/// of batch.shared.order. Part i of them takes the groups that row i, i + parts, … lead.
template <unsigned Pairs, unsigned Queries, unsigned Rows, class Elements>
TEMPERA_KERNEL(attention_threads,
               attention_blocks(Pairs, Queries* Rows, sizeof(typename Elements::Stored)))
attend_split(const AttentionShape shape, const HeadRotation rotation, float scale,
             const float* query_key_value, const TokenRows batch, const PagePart keys,
             const PagePart values, const AttentionScratch scratch, std::uint16_t* attended,
             unsigned parts) {
  const AttentionWork work{shape, rotation, scale,   query_key_value, batch,
                           keys,  values,   scratch, attended};
  const AttentionTask task{simt::block().x, simt::block().y, simt::blocks().y};
  if constexpr (Rows == 1) {
    attend_group<Pairs, Queries, 1, Elements>(work, RowGroup{nullptr, simt::block().z, 1}, task,
                                              InputsOfLaunch(), [] {});
  } else {
    const SharedRows shared = batch.shared;
    const auto is_led = [&](unsigned i) { return shared.splits[i] > simt::block().x; };
    const unsigned begin = simt::block().z / parts * Rows;
    const auto rows = static_cast<unsigned>(batch.rows);
    const unsigned end = begin + Rows < rows ? begin + Rows : rows;
    for (unsigned leader = begin + simt::block().z % parts; leader < end; leader += parts) {
      if (leader > begin && is_led(leader)) continue;
      unsigned members = 1;
      while (leader + members < end && is_led(leader + members)) ++members;
      attend_group<Pairs, Queries, Rows, Elements>(work, RowGroup{shared.order, leader, members},
                                                   task, InputsOfLaunch(), [] {});
    }
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
