#include <cmath>

#include "base/error.hpp"
#include "gpu/transformer/kernels/cuda/attention_launch.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

namespace {

template <unsigned Pairs, unsigned Queries>
void launch_for(simt::Stream& stream, const AttentionShape& shape, const HeadRotation& rotation,
                const float* query_key_value, const TokenRows& batch, const PagePart& keys,
                const PagePart& values, const AttentionScratch& scratch, std::uint16_t* attended) {
  const auto counters = static_cast<unsigned>(attention_counters(shape, 1));
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  simt::launch({.blocks = {scratch.splits, counters, static_cast<unsigned>(batch.rows)},
                .threads = attention_threads,
                .shared_bytes = attention_shared_bytes(shape)},
               stream, attend_split<Pairs, Queries>, shape, rotation, scale, query_key_value, batch,
               keys, values, scratch, attended);
}

template <unsigned Pairs, class... Arguments>
void launch_pairs(simt::Stream& stream, const AttentionShape& shape,
                  const Arguments&... arguments) {
  switch (attention_queries(shape)) {
    case 1:
      return launch_for<Pairs, 1>(stream, shape, arguments...);
    case 2:
      return launch_for<Pairs, 2>(stream, shape, arguments...);
    case 4:
      return launch_for<Pairs, 4>(stream, shape, arguments...);
    default:
      return launch_for<Pairs, 8>(stream, shape, arguments...);
  }
}

}  // namespace

void launch_attention(simt::Stream& stream, const AttentionShape& shape,
                      const HeadRotation& rotation, const float* query_key_value,
                      const TokenRows& batch, const PagePart& keys, const PagePart& values,
                      const AttentionScratch& scratch, std::uint16_t* attended) {
  const auto launch = [&](auto pairs) {
    launch_pairs<pairs()>(stream, shape, rotation, query_key_value, batch, keys, values, scratch,
                          attended);
  };
  if (shape.head_dim <= 64) return launch(std::integral_constant<unsigned, 1>());
  if (shape.head_dim <= 128) return launch(std::integral_constant<unsigned, 2>());
  if (shape.head_dim <= largest_head) return launch(std::integral_constant<unsigned, 4>());
  throw Bug("attention: a head of more than 256 elements");
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
