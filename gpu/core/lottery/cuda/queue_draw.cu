#include "gpu/core/lottery/cuda/draw_kernels.cuh"
#include "gpu/core/lottery/cuda/queue_draw.cuh"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

namespace {

/// `across` blocks for each row.
simt::LaunchShape blocks_for_rows(const RowBatch& batch, std::uint64_t across,
                                  std::size_t shared_bytes) {
  return {.blocks = {static_cast<unsigned>(across), static_cast<unsigned>(batch.rows), 1},
          .threads = draw_threads,
          .shared_bytes = shared_bytes};
}

}  // namespace

void queue_chunk_largest(const RowBatch& batch, simt::Stream& stream) {
  simt::launch(blocks_for_rows(batch, batch.chunks, sizeof(float) * draw_warps), stream,
               find_chunk_largest, batch);
}

void queue_ticket_sums(const RowBatch& batch, const float* tile_largest, std::uint64_t tiles,
                       std::uint64_t blocks, simt::Stream& stream) {
  const std::uint64_t wanted = (blocks + batch.rows - 1) / batch.rows;
  const std::uint64_t pieces = wanted < batch.chunks ? wanted : batch.chunks;
  simt::launch(blocks_for_rows(batch, pieces, sizeof(SummingBlock)), stream, sum_tickets, batch,
               tile_largest, tiles);
}

void queue_winners(const RowBatch& batch, simt::Stream& stream) {
  simt::launch(blocks_for_rows(batch, 1, sizeof(WinningBlock)), stream, draw_winner, batch);
}

void queue_draw(const RowBatch& batch, const float* tile_largest, std::uint64_t tiles,
                std::uint64_t blocks, simt::Stream& stream) {
  queue_ticket_sums(batch, tile_largest, tiles, blocks, stream);
  queue_winners(batch, stream);
}

void queue_tickets(const RowBatch& batch, std::uint64_t* tickets, simt::Stream& stream) {
  const std::uint64_t across = (batch.vocabulary + draw_threads - 1) / draw_threads;
  simt::launch(blocks_for_rows(batch, across, 0), stream, write_tickets, batch, tickets);
}

void queue_normalizers(const RowBatch& batch, std::uint64_t rungs, simt::Stream& stream) {
  simt::launch(blocks_for_rows(batch, rungs, sizeof(NormalizingBlock)), stream, score_normalizers,
               batch);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
