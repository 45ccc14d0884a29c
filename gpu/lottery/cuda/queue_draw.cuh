#pragma once

#include "gpu/lottery/cuda/draw_kernels.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Queues the search for the largest logit of every chunk, batch.chunk_largest.
inline void queue_chunk_largest(const RowBatch& batch, simt::Stream& stream) {
  simt::launch(
      {.blocks = {static_cast<unsigned>(batch.chunks), static_cast<unsigned>(batch.rows), 1},
       .threads = draw_threads,
       .shared_bytes = sizeof(float) * draw_warps},
      stream, find_chunk_largest, batch);
}

/// Queues the sums of tickets and grains, and with them each row's largest logit and status.
///
/// tile_largest: [rows, tiles], as sum_tickets takes them. blocks: how many to spread the rows
/// over, some for each multiprocessor; it changes no bit.
inline void queue_ticket_sums(const RowBatch& batch, const float* tile_largest, std::uint64_t tiles,
                              std::uint64_t blocks, simt::Stream& stream) {
  const std::uint64_t wanted = (blocks + batch.rows - 1) / batch.rows;
  const std::uint64_t pieces = wanted < batch.chunks ? wanted : batch.chunks;
  simt::launch({.blocks = {static_cast<unsigned>(pieces), static_cast<unsigned>(batch.rows), 1},
                .threads = draw_threads,
                .shared_bytes = sizeof(SummingBlock)},
               stream, sum_tickets, batch, tile_largest, tiles);
}

/// Queues the winners and their scores.
inline void queue_winners(const RowBatch& batch, simt::Stream& stream) {
  simt::launch({.blocks = {1, static_cast<unsigned>(batch.rows), 1},
                .threads = draw_threads,
                .shared_bytes = sizeof(WinningBlock)},
               stream, draw_winner, batch);
}

/// Queues the draw behind a head that has left its logits and the maxima of its tiles: two kernels,
/// and nothing waits for the host.
inline void queue_draw(const RowBatch& batch, const float* tile_largest, std::uint64_t tiles,
                       std::uint64_t blocks, simt::Stream& stream) {
  queue_ticket_sums(batch, tile_largest, tiles, blocks, stream);
  queue_winners(batch, stream);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
