#pragma once

#include <cstdint>
#include <limits>

#include "gpu/device/simt/simt.hpp"
#include "gpu/lottery/row_kernels.hpp"

// The draw as CUDA kernels, one text for nvcc and for the fibers of gpu/device/simt. Their bits are
// those of row_kernels.hpp: all sums are of integers, so that the cut into threads, warps, chunks
// and blocks changes none, and what is floating point is computed by the same functions.

namespace tempera::gpu::cuda {

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned draw_threads = 256;
inline constexpr unsigned draw_warps = draw_threads / warp_size;
/// Of one thread in a chunk.
inline constexpr unsigned thread_tokens = RowBatch::chunk / draw_threads;
/// Rungs whose sums a block keeps before it writes them.
inline constexpr unsigned rungs_at_once = 16;
inline constexpr unsigned all_lanes = 0xFFFFFFFFU;
/// The logit of a forbidden token, and of none.
inline constexpr float no_logit = -std::numeric_limits<float>::infinity();

/// Σ of a over the lanes of a warp, in every lane.
__device__ inline std::uint64_t warp_sum(std::uint64_t a) {
  for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
    a += __shfl_xor_sync(all_lanes, a, distance);
  return a;
}

__device__ inline GrainSum warp_sum(GrainSum a) {
  for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
    a = a + GrainSum{__shfl_xor_sync(all_lanes, a.high, distance),
                     __shfl_xor_sync(all_lanes, a.low, distance)};
  return a;
}

/// Σ of a over the lanes below this one.
__device__ inline std::uint64_t sum_of_lanes_below(std::uint64_t a) {
  const unsigned lane = threadIdx.x % warp_size;
  std::uint64_t sum = a;
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    const std::uint64_t below = __shfl_up_sync(all_lanes, sum, distance);
    if (lane >= distance) sum += below;
  }
  return sum - a;
}

/// The larger of two logits; NaN, the mark of a row that is no law, is larger than any.
__device__ inline float larger(float a, float b) {
  if (a != a) return a;
  return b != b || b > a ? b : a;
}

/// A logit, or NaN where it is NaN or +infinity.
__device__ inline float marked(float logit) {
  return logit <= std::numeric_limits<float>::max() ? logit : FindChunkLargest::not_a_number();
}

/// The largest of a over a block, in every thread. warp_largest: [draw_warps], shared; it may be
/// written again after the next barrier.
__device__ inline float block_largest(float a, float* warp_largest) {
  for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
    a = larger(a, __shfl_xor_sync(all_lanes, a, distance));
  if (threadIdx.x % warp_size == 0) warp_largest[threadIdx.x / warp_size] = a;
  __syncthreads();
  float largest = warp_largest[0];
  for (unsigned warp = 1; warp < draw_warps; ++warp) largest = larger(largest, warp_largest[warp]);
  return largest;
}

/// Writes the largest logit of every chunk, batch.chunk_largest: NaN where one is NaN or +infinity.
/// For logits that do not come from a head that leaves maxima of its own.
///
/// Launch: rows · chunks blocks of draw_threads.
__global__ void __launch_bounds__(draw_threads) find_chunk_largest(RowBatch batch) {
  SIMT_SHARED(float, warp_largest);  // [draw_warps]
  const std::uint64_t row = blockIdx.x / batch.chunks;
  const std::uint64_t c = blockIdx.x % batch.chunks;
  const float* logits = batch.logits + row * batch.vocabulary;
  float largest = no_logit;
  for (std::uint64_t v = batch.begin_of(c) + threadIdx.x; v < batch.end_of(c); v += draw_threads)
    largest = larger(largest, marked(logits[v]));
  largest = block_largest(largest, warp_largest);
  if (threadIdx.x == 0) batch.chunk_largest[blockIdx.x] = largest;
}

/// What a block of sum_tickets shares.
struct SummingBlock {
  float warp_largest[draw_warps];
  GrainSum grains[draw_warps];
  std::uint64_t tickets[rungs_at_once][draw_warps];
};

/// Sums, over every chunk of every row, the tickets of each rung of the row's ladder
/// (batch.ticket_sums) and the grains of Z_1 (batch.grain_sums). Also writes batch.largest and
/// batch.status.
///
/// tile_largest: [rows, tiles], the largest logit of each tile of outputs, -infinity where a tile
/// has none, NaN or +infinity where a logit is one of them.
/// Launch: rows · pieces blocks of draw_threads, 1 <= pieces <= chunks; a block takes the chunks
/// piece, piece + pieces, … of its row.
__global__ void __launch_bounds__(draw_threads)
    sum_tickets(RowBatch batch, const float* tile_largest, std::uint64_t tiles,
                std::uint64_t pieces) {
  SIMT_SHARED(SummingBlock, shared);
  const std::uint64_t row = blockIdx.x / pieces;
  const std::uint64_t piece = blockIdx.x % pieces;
  const unsigned warp = threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;

  float largest = no_logit;
  for (std::uint64_t tile = threadIdx.x; tile < tiles; tile += draw_threads)
    largest = larger(largest, marked(tile_largest[row * tiles + tile]));
  largest = block_largest(largest, shared->warp_largest);
  const RowStatus status = largest != largest   ? RowStatus::not_a_number
                           : largest < -std::numeric_limits<float>::max() ? RowStatus::nothing_allowed
                                                : RowStatus::sound;
  if (piece == 0 && threadIdx.x == 0) {
    batch.largest[row] = largest;
    batch.status[row] = static_cast<std::uint32_t>(status);
  }
  if (status != RowStatus::sound) return;

  const float* logits = batch.logits + row * batch.vocabulary;
  const RowRequest& request = batch.requests[row];
  const double* powers = batch.powers + request.first_rung;
  for (std::uint64_t c = piece; c < batch.chunks; c += pieces) {
    double distance[thread_tokens];
    GrainSum grains;
    for (unsigned i = 0; i < thread_tokens; ++i) {
      const std::uint64_t v = batch.begin_of(c) + i * draw_threads + threadIdx.x;
      const float logit = v < batch.end_of(c) ? logits[v] : no_logit;
      distance[i] = static_cast<double>(logit) - static_cast<double>(largest);
      grains = grains + grains_at(distance[i]);
    }
    grains = warp_sum(grains);
    if (lane == 0) shared->grains[warp] = grains;

    std::uint64_t* ticket_sums = batch.ticket_sums_of(request, c);
    for (unsigned first = 0; first < request.rungs; first += rungs_at_once) {
      const unsigned count =
          request.rungs - first < rungs_at_once ? request.rungs - first : rungs_at_once;
      for (unsigned k = 0; k < count; ++k) {
        std::uint64_t tickets = 0;
        for (unsigned i = 0; i < thread_tokens; ++i)
          tickets += tickets_at(distance[i], powers[first + k]);
        tickets = warp_sum(tickets);
        if (lane == 0) shared->tickets[k][warp] = tickets;
      }
      __syncthreads();
      if (threadIdx.x < count) {
        std::uint64_t sum = 0;
        for (unsigned w = 0; w < draw_warps; ++w) sum += shared->tickets[threadIdx.x][w];
        ticket_sums[first + threadIdx.x] = sum;
      }
      if (first == 0 && threadIdx.x == draw_threads - 1) {
        GrainSum sum;
        for (unsigned w = 0; w < draw_warps; ++w) sum = sum + shared->grains[w];
        batch.grain_sums[row * batch.chunks + c] = sum;
      }
      // What is summed here is written again by the next rungs or chunk.
      __syncthreads();
    }
  }
}

/// What a block of draw_winner shares.
struct WinningBlock {
  std::uint64_t chunk;                   ///< that the winner lies in
  std::uint64_t threshold;               ///< within the chunk
  std::uint64_t token;                   ///< the winner
  GrainSum grains;                       ///< of the row
  std::uint64_t warp_tickets[draw_warps];
};

/// Finds the chunk of the row's winner, and its threshold within the chunk. One warp.
__device__ inline void find_chunk(const RowBatch& batch, const RowRequest& request,
                                  WinningBlock& shared) {
  const unsigned lane = threadIdx.x % warp_size;
  // Lanes hold chunks that follow each other: [lane_chunks · lane, lane_chunks · (lane + 1)).
  const std::uint64_t lane_chunks = (batch.chunks + warp_size - 1) / warp_size;
  const std::uint64_t begin = lane * lane_chunks;
  const std::uint64_t end =
      begin + lane_chunks < batch.chunks ? begin + lane_chunks : batch.chunks;
  std::uint64_t own = 0;
  for (std::uint64_t c = begin; c < end; ++c)
    own += batch.ticket_sums_of(request, c)[request.rung];
  const std::uint64_t total = warp_sum(own);
  std::uint64_t threshold = threshold_of(philox(request.counter, request.seed), total);
  const std::uint64_t below = sum_of_lanes_below(own);
  if (threshold < below || threshold - below >= own) return;
  threshold -= below;
  std::uint64_t c = begin;
  for (;; ++c) {
    const std::uint64_t sum = batch.ticket_sums_of(request, c)[request.rung];
    if (threshold < sum) break;
    threshold -= sum;
  }
  shared.chunk = c;
  shared.threshold = threshold;
}

/// Sums the grains of Z_1 over the row's chunks. One warp.
__device__ inline void sum_grains(const RowBatch& batch, std::uint64_t row, WinningBlock& shared) {
  const unsigned lane = threadIdx.x % warp_size;
  GrainSum grains;
  for (std::uint64_t c = lane; c < batch.chunks; c += warp_size)
    grains = grains + batch.grain_sums[row * batch.chunks + c];
  grains = warp_sum(grains);
  if (lane == 0) shared.grains = grains;
}

/// Finds the winner within the chunk: each thread holds tokens that follow each other. One block.
__device__ inline void find_winner(const RowBatch& batch, const RowRequest& request,
                                   std::uint64_t row, WinningBlock& shared) {
  const unsigned warp = threadIdx.x / warp_size;
  const double power = batch.powers[request.first_rung + request.rung];
  const double largest = static_cast<double>(batch.largest[row]);
  const float* logits = batch.logits + row * batch.vocabulary;
  const std::uint64_t end = batch.end_of(shared.chunk);
  const std::uint64_t begin = batch.begin_of(shared.chunk) + threadIdx.x * thread_tokens;
  std::uint64_t tickets[thread_tokens];
  std::uint64_t own = 0;
  for (unsigned i = 0; i < thread_tokens; ++i) {
    const float logit = begin + i < end ? logits[begin + i] : no_logit;
    tickets[i] = tickets_at(static_cast<double>(logit) - largest, power);
    own += tickets[i];
  }
  std::uint64_t below = sum_of_lanes_below(own);
  if (threadIdx.x % warp_size == warp_size - 1) shared.warp_tickets[warp] = below + own;
  __syncthreads();
  for (unsigned w = 0; w < warp; ++w) below += shared.warp_tickets[w];
  if (below <= shared.threshold && shared.threshold - below < own) {
    std::uint64_t prefix_sum = below;
    unsigned i = 0;
    while ((prefix_sum += tickets[i]) <= shared.threshold) ++i;
    shared.token = begin + i;
  }
  __syncthreads();
}

/// Finds the winner of every row from the sums of sum_tickets, or takes the given token, and writes
/// its token, ℓ_t (`eq:implementation-base-log-probability`) and ζ_t of every rung
/// (`eq:implementation-token-normalizers`), as DrawWinner does. A row whose status is not sound is
/// left alone.
///
/// Launch: one block of draw_threads for each row.
__global__ void __launch_bounds__(draw_threads) draw_winner(RowBatch batch) {
  SIMT_SHARED(WinningBlock, shared);
  const std::uint64_t row = blockIdx.x;
  if (batch.status[row] != static_cast<std::uint32_t>(RowStatus::sound)) return;
  const RowRequest& request = batch.requests[row];
  const unsigned warp = threadIdx.x / warp_size;
  const unsigned lane = threadIdx.x % warp_size;
  const bool drawn = request.decision == Decision::word;

  if (warp == 0 && drawn) find_chunk(batch, request, *shared);
  if (warp == 1) sum_grains(batch, row, *shared);
  __syncthreads();
  if (drawn) find_winner(batch, request, row, *shared);
  const std::uint64_t token = drawn ? shared->token : request.threshold;

  const double distance = static_cast<double>(batch.logits[row * batch.vocabulary + token]) -
                          static_cast<double>(batch.largest[row]);
  if (tickets_at(distance, 1.0) == 0) {
    if (threadIdx.x == 0) batch.status[row] = static_cast<std::uint32_t>(RowStatus::forbidden);
    return;
  }
  const double log_p = distance - log_of_grains(shared->grains);
  if (threadIdx.x == 0) {
    batch.token[row] = token;
    batch.log_p[row] = log_p;
  }
  for (unsigned k = warp; k < request.rungs; k += draw_warps) {
    std::uint64_t total = 0;
    for (std::uint64_t c = lane; c < batch.chunks; c += warp_size)
      total += batch.ticket_sums_of(request, c)[k];
    total = warp_sum(total);
    const double power = batch.powers[request.first_rung + k];
    if (lane == 0)
      batch.log_z[request.first_rung + k] =
          power * log_p - log_share(tickets_at(distance, power), total);
  }
}

/// Writes the tickets of every token at its row's own rung, for a lottery on the host.
///
/// tickets: [rows, vocabulary]. Launch: ceil(rows · vocabulary / draw_threads) blocks.
__global__ void __launch_bounds__(draw_threads)
    write_tickets(RowBatch batch, std::uint64_t* tickets) {
  const std::uint64_t item = std::uint64_t{blockIdx.x} * draw_threads + threadIdx.x;
  if (item < batch.rows * batch.vocabulary) WriteTickets{batch, tickets}(item);
}

/// log z of every row for every power to full precision, as ScoreNormalizers computes it; its sums
/// are of integers. Not on the sampler's path.
///
/// Launch: rows · rungs blocks of draw_threads; all rows have `rungs` powers.
__global__ void __launch_bounds__(draw_threads) score_normalizers(RowBatch batch,
                                                                  std::uint64_t rungs) {
  SIMT_SHARED(GrainSum, warp_grains);  // [2, draw_warps]
  const std::uint64_t row = blockIdx.x / rungs;
  if (batch.status[row] != static_cast<std::uint32_t>(RowStatus::sound)) return;
  const unsigned warp = threadIdx.x / warp_size;
  const double power = batch.powers[blockIdx.x];
  const double largest = static_cast<double>(batch.largest[row]);
  const float* logits = batch.logits + row * batch.vocabulary;
  GrainSum base;
  GrainSum powered;
  for (std::uint64_t v = threadIdx.x; v < batch.vocabulary; v += draw_threads) {
    const double distance = static_cast<double>(logits[v]) - largest;
    base = base + grains_at(distance);
    powered = powered + grains_at(power * distance);
  }
  base = warp_sum(base);
  powered = warp_sum(powered);
  if (threadIdx.x % warp_size == 0) {
    warp_grains[warp] = base;
    warp_grains[draw_warps + warp] = powered;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned w = 1; w < draw_warps; ++w) {
    base = base + warp_grains[w];
    powered = powered + warp_grains[draw_warps + w];
  }
  batch.log_z[blockIdx.x] = log_of_grains(powered) - power * log_of_grains(base);
}

}  // namespace tempera::gpu::cuda
