#pragma once

#include "gpu/core/lottery/row_kernels.hpp"
#include "gpu/device/simt/simt.hpp"

// Queues the kernels of draw_kernels.cuh. For device sources: a stream is of the form that its
// source is compiled for.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Queues the search for the largest logit of every chunk, batch.chunk_largest.
void queue_chunk_largest(const RowBatch& batch, simt::Stream& stream);

/// Queues the sums of tickets and grains, and with them each row's largest logit and status.
///
/// tile_largest: [rows, tiles], as sum_tickets takes them. blocks: how many to spread the rows
/// over, some for each multiprocessor; it changes no bit.
void queue_ticket_sums(const RowBatch& batch, const float* tile_largest, std::uint64_t tiles,
                       std::uint64_t blocks, simt::Stream& stream);

/// Queues the winners and their scores.
void queue_winners(const RowBatch& batch, simt::Stream& stream);

/// Queues the draw after a head that has left its logits and the maxima of its tiles: two kernels,
/// and nothing waits for the host.
void queue_draw(const RowBatch& batch, const float* tile_largest, std::uint64_t tiles,
                std::uint64_t blocks, simt::Stream& stream);

/// Queues the writing of every token's tickets at its row's own rung. tickets: [rows, vocabulary].
void queue_tickets(const RowBatch& batch, std::uint64_t* tickets, simt::Stream& stream);

/// Queues log z of every row for `rungs` powers each, to full precision.
void queue_normalizers(const RowBatch& batch, std::uint64_t rungs, simt::Stream& stream);

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
