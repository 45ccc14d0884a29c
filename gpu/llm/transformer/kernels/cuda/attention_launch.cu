#include <cmath>

#include "base/error.hpp"
#include "gpu/llm/transformer/kernels/cuda/attention_launch.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

namespace {

template <unsigned Pairs, unsigned Queries>
void launch_queries(simt::Stream& stream, const AttentionWork& work, PageElements elements) {
  if (elements == PageElements::eight_bits)
    return launch_attention_rows(stream, attend_split<Pairs, Queries, 1, EightBitElements>, work,
                                 elements, 1);
  constexpr unsigned together = attention_rows(Pairs, Queries);
  if (together > 1 && work.batch.shared.order != nullptr && work.batch.rows > 1)
    return launch_attention_rows(stream, attend_split<Pairs, Queries, together, Bfloat16Elements>,
                                 work, elements, together);
  launch_attention_rows(stream, attend_split<Pairs, Queries, 1, Bfloat16Elements>, work, elements,
                        1);
}

template <unsigned Pairs>
void launch_pairs(simt::Stream& stream, const AttentionWork& work, PageElements elements) {
  switch (attention_queries(work.shape)) {
    case 1:
      return launch_queries<Pairs, 1>(stream, work, elements);
    case 2:
      return launch_queries<Pairs, 2>(stream, work, elements);
    case 4:
      return launch_queries<Pairs, 4>(stream, work, elements);
    default:
      return launch_queries<Pairs, 8>(stream, work, elements);
  }
}

}  // namespace

void launch_attention(simt::Stream& stream, const AttentionShape& shape,
                      const HeadRotation& rotation, const float* query_key_value,
                      const TokenRows& batch, PageElements elements, const PagePart& keys,
                      const PagePart& values, const AttentionScratch& scratch,
                      std::uint16_t* attended) {
  const AttentionWork work{
      shape,           rotation, 1.0f / std::sqrt(static_cast<float>(shape.head_dim)),
      query_key_value, batch,    keys,
      values,          scratch,  attended};
  if (shape.head_dim <= 64) return launch_pairs<1>(stream, work, elements);
  if (shape.head_dim <= 128) return launch_pairs<2>(stream, work, elements);
  if (shape.head_dim <= largest_head) return launch_pairs<4>(stream, work, elements);
  throw Bug("attention: a head of more than 256 elements");
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
