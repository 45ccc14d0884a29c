#pragma once

#include "gpu/llm/transformer/kernels/host/exponential_lanes.hpp"
#include "gpu/llm/transformer/kernels/host/pair_products.hpp"
#include "gpu/llm/transformer/kernels/host/pair_read.hpp"
#include "gpu/llm/transformer/kernels/host/pair_tile_products.hpp"
#include "gpu/llm/transformer/kernels/host/pair_weights.hpp"

// Matrix products of the arithmetic `bfloat16-pairs` and what becomes of their results.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The inputs of a product, [rows, in] bfloat16s, as its items take them: where they are, or
/// packed.
struct PairInputs {
  /// Whether they are made floats: an instruction set without one for pairs would make them so for
  /// every block of outputs. Of one row it costs less than a call to all threads.
  static bool takes_floats(std::size_t rows) { return pairs_are_parted && rows > 1; }
  bool needs_packing() const {
    return by_tiles || takes_floats(rows) || in % pair_segment_inputs != 0;
  }
  /// The rows to pack: tiles are filled up.
  std::size_t packed_rows() const { return by_tiles ? TileInputs::filled_rows(rows) : rows; }
  /// Counts pairs: a cache line more than a row has, so that a tile's rows do not share the same
  /// few places of the first-level cache.
  static std::size_t stride(std::size_t in) { return pairs_of(in) + 16; }
  std::size_t packed_words() const {
    if (by_tiles) return TileInputs::packed_words(rows, in);
    return rows * stride(in) * (takes_floats(rows) ? pair_inputs : 1);
  }

  const std::uint16_t* inputs;
  std::size_t rows;
  std::size_t in;
  bool by_tiles;
  std::uint32_t* packed;  // packed_words; null if they need none

  /// Packs a row, filled up with zeros.
  void pack(std::size_t row) const {
    if (by_tiles) return tiles().pack(row);
    const std::uint16_t* const values = inputs + row * in;
    if (takes_floats(rows)) {
      return make_floats(values, in,
                         reinterpret_cast<float*>(packed) + row * stride(in) * pair_inputs);
    }
    std::uint32_t* const target = packed + row * stride(in);
    memset(target, 0, pairs_of(in) * sizeof(std::uint32_t));
    memcpy(target, values, in * sizeof(std::uint16_t));
  }

  /// Those that were packed into tiles.
  TileInputs tiles() const { return {inputs, rows, in, packed}; }
  /// Those that were made floats.
  FloatInputs floats() const {
    return {reinterpret_cast<const float*>(packed), stride(in) * pair_inputs};
  }
  /// Calls run(inputs) with those that there are.
  template <class Run>
  void with(const Run& run) const {
    if (packed == nullptr) {
      return run(WordInputs{reinterpret_cast<const std::uint32_t*>(inputs), in / pair_inputs});
    }
    if constexpr (pairs_are_parted) {
      if (takes_floats(rows)) return run(floats());
    }
    run(WordInputs{packed, stride(in)});
  }
};

/// Packs inputs; an item is a row.
struct PackPairInputs {
  PairInputs inputs;
  void operator()(std::size_t row) const { inputs.pack(row); }
};

/// The products of an item with weights of which a run at a time is near the core.
template <class Weights>
inline void add_pair_runs(const ProductItem& item, const Float32Tiling& tiling,
                          const PairInputs& inputs, const Weights& weights,
                          ItemProducts& products) {
  PairRoom room[most_item_blocks];
  const WeightsAhead next = weights.ahead(item, tiling);
  const std::size_t pairs = pairs_of(inputs.in);
  for (std::size_t begin = 0; begin < pairs; begin += run_pairs) {
    const std::size_t end = begin + run_pairs < pairs ? begin + run_pairs : pairs;
    typename Weights::Run run{};
    for (std::size_t block = 0; block < item.blocks(); ++block) {
      const std::size_t pairs_before = begin * item.blocks() + block * (end - begin);
      const std::byte* const ahead = next.after(
          pairs_before * pair_inputs, reinterpret_cast<const std::byte*>(room[block].words));
      weights.take_run(item, block, begin, end, room[block], ahead, run);
    }
    const auto add = [&](const auto& rows) {
      const SubnormalsAreZero scope;
      add_pair_products(item.rows, item.blocks(), end - begin, rows.from(item.first_row, begin),
                        run, products.of_row[0], most_item_outputs);
    };
    if constexpr (pairs_are_parted) {
      add(inputs.floats());
    } else {
      inputs.with(add);
    }
  }
}

/// The products of an item of few rows, each weight taken from where it is stored.
inline void add_direct_pairs(const ProductItem& item, const Float32Tiling& /*tiling*/,
                             const PairInputs& inputs, const PackedPairs& weights,
                             ItemProducts& products) {
  StreamsOfPairs blocks{};
  for (std::size_t block = 0; block < item.blocks(); ++block) {
    blocks.of_block[block] =
        weights.words + (item.first_output + block * lanes) * pairs_of(inputs.in);
  }
  inputs.with([&](const auto& rows) {
    const SubnormalsAreZero scope;
    add_pair_products(item.rows, item.blocks(), pairs_of(inputs.in), rows.from(item.first_row, 0),
                      blocks, products.of_row[0], most_item_outputs);
  });
}
inline void add_direct_pairs(const ProductItem& item, const Float32Tiling& tiling,
                             const PairInputs& inputs, const QuantisedPairs& weights,
                             ItemProducts& products) {
  if constexpr (pairs_are_parted) {
    const WeightsAhead next = weights.ahead(item, tiling);
    for (std::size_t block = 0; block < item.blocks(); ++block) {
      with_block_reader<1, true>(
          weights.weights, item.first_output + block * lanes, [&](const auto& reader) {
            inputs.with([&](const auto& rows) {
              const SubnormalsAreZero scope;
              add_pairs_as_read(item.rows, rows.from(item.first_row, 0), reader, inputs.in, next,
                                block * inputs.in, products.of_row[0] + block * lanes,
                                most_item_outputs);
            });
          });
    }
  }
}

/// The products of an item.
template <class Weights>
inline void pair_products_of_item(const ProductItem& item, const Float32Tiling& tiling,
                                  const PairInputs& inputs, const Weights& weights,
                                  ItemProducts& products) {
  if (inputs.by_tiles) {
    tile_products_of_item(item, tiling, inputs.tiles(), weights, products);
  } else {
    for (std::size_t row = 0; row < item.rows; ++row) {
      for (std::size_t o = 0; o < item.blocks() * lanes; ++o) products.of_row[row][o] = 0.0f;
    }
    if (pairs_are_parted && item.rows <= Weights::direct_rows) {
      add_direct_pairs(item, tiling, inputs, weights, products);
    } else {
      add_pair_runs(item, tiling, inputs, weights, products);
    }
  }
  // No sum is a negative zero: what is filled up with zeros changes no bit.
  for (std::size_t row = 0; row < item.rows; ++row) {
    for (std::size_t o = 0; o < item.blocks() * lanes; ++o) products.of_row[row][o] += 0.0f;
  }
}

/// Does what Multiply (multiply.hpp) does, with pairs of bfloat16 inputs.
template <class Weights, class Finish>
struct PairMultiply {
  Float32Tiling tiling;
  Weights weights;
  const std::uint16_t* inputs;  // [rows, in]
  float* outputs;               // [rows, out]
  Finish finish;
  std::uint32_t* packed = nullptr;  // the inputs, as PairInputs or TileInputs

  PairInputs rows() const {
    return {inputs, tiling.rows, tiling.in, takes_tiles<Weights>(tiling.rows), packed};
  }
  void operator()(std::size_t index) const {
    const ProductItem item = tiling.item(index);
    ItemProducts products;
    pair_products_of_item(item, tiling, rows(), weights, products);
    for (std::size_t row = 0; row < item.rows; ++row) {
      float* output = outputs + (item.first_row + row) * tiling.out + item.first_output;
      for (std::size_t o = 0; o < item.outputs; ++o) {
        finish(output[o], products.of_row[row][o], item.first_output + o);
      }
    }
  }
};

/// Does what MultiplyGated does, with pairs too.
template <class Weights>
struct PairMultiplyGated {
  Float32Tiling tiling;
  Weights gate;
  Weights up;
  const std::uint16_t* inputs;      // [rows, in]
  std::uint16_t* gated;             // [rows, out]
  std::uint32_t* packed = nullptr;  // the inputs, as PairInputs or TileInputs

  PairInputs rows() const {
    return {inputs, tiling.rows, tiling.in, takes_tiles<Weights>(tiling.rows), packed};
  }
  void operator()(std::size_t index) const {
    const ProductItem item = tiling.item(index);
    ItemProducts gates;
    ItemProducts ups;
    pair_products_of_item(item, tiling, rows(), gate, gates);
    pair_products_of_item(item, tiling, rows(), up, ups);
    for (std::size_t row = 0; row < item.rows; ++row) {
      std::uint16_t* output = gated + (item.first_row + row) * tiling.out + item.first_output;
      float values[most_item_outputs];
      gate_blocks(gates.of_row[row], ups.of_row[row], item.blocks(), values);
      std::size_t o = 0;
      for (; o + register_lanes <= item.outputs; o += register_lanes) {
        *reinterpret_cast<HalvesInMemory*>(output + o) =
            __builtin_convertvector(to_bfloat16_register(load_register(values + o)), HalfRegister);
      }
      for (; o < item.outputs; ++o) output[o] = to_bfloat16(values[o]);
    }
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
