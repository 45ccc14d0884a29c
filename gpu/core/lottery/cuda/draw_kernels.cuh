#pragma once

#include <cstdint>

#include "gpu/core/lottery/row_kernels.hpp"
#include "gpu/device/simt/simt.hpp"

// The draw as CUDA kernels, one text for nvcc and for fibers. Their bits are those of
// row_kernels.hpp: all sums are of integers, so that the cut into threads, warps, chunks and blocks
// changes none, and what is floating point is computed by the same functions in the same order.

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

inline constexpr unsigned draw_threads = 256;
inline constexpr unsigned draw_warps = draw_threads / simt::warp_lanes;
/// Tokens of one thread in a chunk.
inline constexpr unsigned thread_tokens = RowBatch::chunk / draw_threads;
/// Rungs whose sums a block keeps before it writes them.
inline constexpr unsigned rungs_at_once = 16;
inline constexpr float largest_logit = 3.4028234663852886e38F;
/// The logit of a forbidden token, and of none.
inline constexpr float no_logit = -__builtin_huge_valf();

/// Σ of a over the lanes of a warp, in every lane.
TEMPERA_ON_DEVICE inline std::uint64_t warp_sum(std::uint64_t a) {
  TEMPERA_UNROLL
  for (unsigned mask = simt::warp_lanes / 2; mask > 0; mask /= 2) a += simt::shuffle_xor(a, mask);
  return a;
}

TEMPERA_ON_DEVICE inline GrainSum warp_sum(GrainSum a) {
  TEMPERA_UNROLL
  for (unsigned mask = simt::warp_lanes / 2; mask > 0; mask /= 2) {
    const std::uint64_t high = simt::shuffle_xor(a.high, mask);
    const std::uint64_t low = simt::shuffle_xor(a.low, mask);
    a = a + GrainSum{high, low};
  }
  return a;
}

/// Σ of a over the lanes of the warp below this one.
TEMPERA_ON_DEVICE inline std::uint64_t sum_of_lanes_below(std::uint64_t a) {
  const unsigned lane = simt::lane();
  std::uint64_t sum = a;
  TEMPERA_UNROLL
  for (unsigned distance = 1; distance < simt::warp_lanes; distance *= 2) {
    const std::uint64_t below = simt::shuffle(sum, lane >= distance ? lane - distance : lane);
    if (lane >= distance) sum += below;
  }
  return sum - a;
}

/// Σ of the tickets of four tokens at these distances from the largest logit; the exponentials only
/// if one of them may have more than one.
TEMPERA_ON_DEVICE inline std::uint64_t four_tickets(const double* distance, double power) {
  bool above_one = false;
  std::uint64_t allowed = 0;
  TEMPERA_UNROLL
  for (unsigned i = 0; i < 4; ++i) {
    above_one = above_one || power * distance[i] >= one_ticket_below;
    allowed += distance[i] >= -1.7976931348623157e308 ? 1 : 0;
  }
  if (!above_one) return allowed;
  std::uint64_t tickets = 0;
  TEMPERA_UNROLL
  for (unsigned i = 0; i < 4; ++i) tickets += tickets_at(distance[i], power);
  return tickets;
}

/// The larger of two logits; NaN, the mark of a row that is no law, is larger than any.
TEMPERA_ON_DEVICE inline float larger(float a, float b) {
  if (a != a) return a;
  return b != b || b > a ? b : a;
}

/// A logit, or NaN if it is NaN or +infinity.
TEMPERA_ON_DEVICE inline float marked(float logit) {
  return logit <= largest_logit ? logit : FindChunkLargest::not_a_number();
}

/// The largest of a over a block, in every thread. warp_largest: [draw_warps], shared; it holds
/// what is read until the next barrier.
TEMPERA_ON_DEVICE inline float block_largest(float a, float* warp_largest) {
  TEMPERA_UNROLL
  for (unsigned mask = simt::warp_lanes / 2; mask > 0; mask /= 2)
    a = larger(a, simt::shuffle_xor(a, mask));
  if (simt::lane() == 0) warp_largest[simt::warp()] = a;
  simt::barrier();
  float largest = warp_largest[0];
  TEMPERA_UNROLL
  for (unsigned w = 1; w < draw_warps; ++w) largest = larger(largest, warp_largest[w]);
  return largest;
}

/// Writes the largest logit of every chunk, batch.chunk_largest, NaN if one is NaN or +infinity:
/// for logits that come from no head, or from one that leaves no maxima.
///
/// Launch: {chunks, rows} blocks of draw_threads, shared float [draw_warps].
TEMPERA_KERNEL(draw_threads) find_chunk_largest(RowBatch batch) {
  auto* warp_largest = simt::shared_memory<float>();
  const std::uint64_t c = simt::block().x;
  const std::uint64_t row = simt::block().y;
  const float* logits = batch.logits + row * batch.vocabulary;
  float largest = no_logit;
  for (std::uint64_t v = batch.begin_of(c) + simt::thread(); v < batch.end_of(c); v += draw_threads)
    largest = larger(largest, marked(logits[v]));
  largest = block_largest(largest, warp_largest);
  if (simt::thread() == 0) batch.chunk_largest[row * batch.chunks + c] = largest;
}

/// What a block of sum_tickets shares.
struct SummingBlock {
  float warp_largest[draw_warps];
  GrainSum grains[draw_warps];
  std::uint64_t tickets[rungs_at_once][draw_warps];
};

/// Sums, over every chunk of every row, the tickets of each rung of the row's ladder
/// (batch.ticket_sums) and the grains of Z_1 (batch.grain_sums). Also writes batch.largest and
/// batch.status. A row without a ladder is nobody's: nothing of it is read or written.
///
/// tile_largest: [rows, tiles], the largest logit of each tile of outputs, -infinity for a tile of
/// none, NaN or +infinity if a logit is one of them.
/// Launch: {pieces, rows} blocks of draw_threads, 1 <= pieces <= chunks, shared SummingBlock; a
/// block takes the chunks piece, piece + pieces, … of its row.
TEMPERA_KERNEL(draw_threads)
sum_tickets(RowBatch batch, const float* tile_largest, std::uint64_t tiles) {
  auto* shared = simt::shared_memory<SummingBlock>();
  const std::uint64_t row = simt::block().y;
  if (batch.requests[row].rungs == 0) return;

  float largest = no_logit;
  for (std::uint64_t tile = simt::thread(); tile < tiles; tile += draw_threads)
    largest = larger(largest, marked(tile_largest[row * tiles + tile]));
  largest = block_largest(largest, shared->warp_largest);
  const RowStatus status = largest != largest         ? RowStatus::not_a_number
                           : largest < -largest_logit ? RowStatus::nothing_allowed
                                                      : RowStatus::sound;
  if (simt::block().x == 0 && simt::thread() == 0) {
    batch.largest[row] = largest;
    batch.status[row] = static_cast<std::uint32_t>(status);
  }
  if (status != RowStatus::sound) return;

  const float* logits = batch.logits + row * batch.vocabulary;
  const RowRequest& request = batch.requests[row];
  const unsigned rungs = request.rungs;
  const double* powers = batch.powers + request.first_rung;
  TEMPERA_NO_UNROLL
  for (std::uint64_t c = simt::block().x; c < batch.chunks; c += simt::blocks().x) {
    double distance[thread_tokens];
    GrainSum grains;
    TEMPERA_UNROLL
    for (unsigned i = 0; i < thread_tokens; ++i) {
      const std::uint64_t v = batch.begin_of(c) + i * draw_threads + simt::thread();
      const float logit = v < batch.end_of(c) ? logits[v] : no_logit;
      distance[i] = static_cast<double>(logit) - static_cast<double>(largest);
      grains = grains + grains_at(distance[i]);
    }
    grains = warp_sum(grains);
    if (simt::lane() == 0) shared->grains[simt::warp()] = grains;

    std::uint64_t* ticket_sums = batch.ticket_sums_of(request, c);
    TEMPERA_NO_UNROLL
    for (unsigned first = 0; first < rungs; first += rungs_at_once) {
      const unsigned count = rungs - first < rungs_at_once ? rungs - first : rungs_at_once;
      TEMPERA_NO_UNROLL
      for (unsigned k = 0; k < count; ++k) {
        const double power = powers[first + k];
        std::uint64_t tickets = 0;
        TEMPERA_UNROLL
        for (unsigned i = 0; i < thread_tokens; i += 4)
          tickets += four_tickets(distance + i, power);
        tickets = warp_sum(tickets);
        if (simt::lane() == 0) shared->tickets[k][simt::warp()] = tickets;
      }
      simt::barrier();
      if (simt::thread() < count) {
        std::uint64_t sum = 0;
        TEMPERA_UNROLL
        for (unsigned w = 0; w < draw_warps; ++w) sum += shared->tickets[simt::thread()][w];
        ticket_sums[first + simt::thread()] = sum;
      }
      if (first == 0 && simt::thread() == draw_threads - 1) {
        GrainSum sum;
        TEMPERA_UNROLL
        for (unsigned w = 0; w < draw_warps; ++w) sum = sum + shared->grains[w];
        batch.grain_sums[row * batch.chunks + c] = sum;
      }
      // The next rungs, or the next chunk, write what is summed here.
      simt::barrier();
    }
  }
}

/// What a block of draw_winner shares.
struct WinningBlock {
  std::uint64_t chunk;      ///< that the winner is in
  std::uint64_t threshold;  ///< within the chunk
  std::uint64_t token;      ///< the winner
  GrainSum grains;          ///< of the row
  std::uint64_t warp_tickets[draw_warps];
};

/// Finds the chunk that the row's winner is in and its threshold within the chunk. By one warp.
TEMPERA_ON_DEVICE inline void find_chunk(const RowBatch& batch, const RowRequest& request,
                                         WinningBlock& shared) {
  // A lane holds chunks that follow each other, so that prefix sums over lanes are those of chunks.
  const std::uint64_t lane_chunks = (batch.chunks + simt::warp_lanes - 1) / simt::warp_lanes;
  const std::uint64_t begin = simt::lane() * lane_chunks;
  const std::uint64_t end = begin + lane_chunks < batch.chunks ? begin + lane_chunks : batch.chunks;
  std::uint64_t own = 0;
  for (std::uint64_t c = begin; c < end; ++c) own += batch.ticket_sums_of(request, c)[request.rung];
  const std::uint64_t total = warp_sum(own);
  const std::uint64_t below = sum_of_lanes_below(own);
  std::uint64_t threshold = threshold_of(philox(request.counter, request.seed), total);
  if (threshold < below || threshold - below >= own) return;
  threshold -= below;
  for (std::uint64_t c = begin; c < end; ++c) {
    const std::uint64_t sum = batch.ticket_sums_of(request, c)[request.rung];
    if (threshold < sum) {
      shared.chunk = c;
      shared.threshold = threshold;
      return;
    }
    threshold -= sum;
  }
}

/// Sums the grains of Z_1 over the row's chunks. By one warp.
TEMPERA_ON_DEVICE inline void sum_grains(const RowBatch& batch, std::uint64_t row,
                                         WinningBlock& shared) {
  GrainSum grains;
  for (std::uint64_t c = simt::lane(); c < batch.chunks; c += simt::warp_lanes)
    grains = grains + batch.grain_sums[row * batch.chunks + c];
  grains = warp_sum(grains);
  if (simt::lane() == 0) shared.grains = grains;
}

/// Finds the winner within its chunk; a thread holds tokens that follow each other. By the block.
TEMPERA_ON_DEVICE inline void find_winner(const RowBatch& batch, const RowRequest& request,
                                          std::uint64_t row, WinningBlock& shared) {
  const double power = batch.powers[request.first_rung + request.rung];
  const double largest = static_cast<double>(batch.largest[row]);
  const float* logits = batch.logits + row * batch.vocabulary;
  const std::uint64_t end = batch.end_of(shared.chunk);
  const std::uint64_t begin = batch.begin_of(shared.chunk) + simt::thread() * thread_tokens;
  std::uint64_t tickets[thread_tokens];
  std::uint64_t own = 0;
  TEMPERA_UNROLL
  for (unsigned i = 0; i < thread_tokens; ++i) {
    const float logit = begin + i < end ? logits[begin + i] : no_logit;
    tickets[i] = tickets_at(static_cast<double>(logit) - largest, power);
    own += tickets[i];
  }
  std::uint64_t below = sum_of_lanes_below(own);
  if (simt::lane() == simt::warp_lanes - 1) shared.warp_tickets[simt::warp()] = below + own;
  simt::barrier();
  for (unsigned w = 0; w < simt::warp(); ++w) below += shared.warp_tickets[w];
  const std::uint64_t threshold = shared.threshold;
  TEMPERA_UNROLL
  for (unsigned i = 0; i < thread_tokens; ++i) {
    if (below <= threshold && threshold - below < tickets[i]) shared.token = begin + i;
    below += tickets[i];
  }
  simt::barrier();
}

/// Finds the winner of every row from the sums of sum_tickets, or takes the given token, and writes
/// its token, ℓ_t (`eq:implementation-base-log-probability`) and ζ_t of every rung
/// (`eq:implementation-token-normalizers`), as DrawWinner does. Leaves a row alone whose status is
/// not sound, and one without a ladder.
///
/// Launch: {1, rows} blocks of draw_threads, shared WinningBlock.
TEMPERA_KERNEL(draw_threads, 4) draw_winner(RowBatch batch) {
  auto* shared = simt::shared_memory<WinningBlock>();
  const std::uint64_t row = simt::block().y;
  const RowRequest& request = batch.requests[row];
  if (request.rungs == 0 || batch.status[row] != static_cast<std::uint32_t>(RowStatus::sound))
    return;
  const bool drawn = request.decision == Decision::word;

  if (simt::warp() == 0 && drawn) find_chunk(batch, request, *shared);
  if (simt::warp() == 1) sum_grains(batch, row, *shared);
  simt::barrier();
  if (drawn) find_winner(batch, request, row, *shared);
  const std::uint64_t token = drawn ? shared->token : request.given;

  const double distance = static_cast<double>(batch.logits[row * batch.vocabulary + token]) -
                          static_cast<double>(batch.largest[row]);
  if (tickets_at(distance, 1.0) == 0) {
    if (simt::thread() == 0) batch.status[row] = static_cast<std::uint32_t>(RowStatus::forbidden);
    return;
  }
  const double log_p = distance - log_of_grains(shared->grains);
  if (simt::thread() == 0) {
    batch.token[row] = token;
    batch.log_p[row] = log_p;
  }
  for (unsigned k = simt::warp(); k < request.rungs; k += draw_warps) {
    std::uint64_t total = 0;
    for (std::uint64_t c = simt::lane(); c < batch.chunks; c += simt::warp_lanes)
      total += batch.ticket_sums_of(request, c)[k];
    total = warp_sum(total);
    const double power = batch.powers[request.first_rung + k];
    if (simt::lane() == 0)
      batch.log_z[request.first_rung + k] =
          power * log_p - log_share(tickets_at(distance, power), total);
  }
}

/// Writes the tickets of every token at its row's own rung, for a lottery on the host.
///
/// tickets: [rows, vocabulary]. Launch: {ceil(vocabulary / draw_threads), rows} blocks of
/// draw_threads.
TEMPERA_KERNEL(draw_threads) write_tickets(RowBatch batch, std::uint64_t* tickets) {
  const std::uint64_t v = std::uint64_t{simt::block().x} * draw_threads + simt::thread();
  if (v < batch.vocabulary) WriteTickets{batch, tickets}(simt::block().y * batch.vocabulary + v);
}

/// What a block of score_normalizers shares.
struct NormalizingBlock {
  GrainSum base[draw_warps];
  GrainSum powered[draw_warps];
};

/// Writes log z of every row for every power to full precision, as ScoreNormalizers does. Not on
/// the sampler's path.
///
/// Launch: {rungs, rows} blocks of draw_threads, shared NormalizingBlock; all rows have as many
/// rungs.
TEMPERA_KERNEL(draw_threads) score_normalizers(RowBatch batch) {
  auto* shared = simt::shared_memory<NormalizingBlock>();
  const std::uint64_t row = simt::block().y;
  const std::uint64_t item = row * simt::blocks().x + simt::block().x;
  if (batch.status[row] != static_cast<std::uint32_t>(RowStatus::sound)) return;
  const double power = batch.powers[item];
  const double largest = static_cast<double>(batch.largest[row]);
  const float* logits = batch.logits + row * batch.vocabulary;
  GrainSum base;
  GrainSum powered;
  for (std::uint64_t v = simt::thread(); v < batch.vocabulary; v += draw_threads) {
    const double distance = static_cast<double>(logits[v]) - largest;
    base = base + grains_at(distance);
    powered = powered + grains_at(power * distance);
  }
  base = warp_sum(base);
  powered = warp_sum(powered);
  if (simt::lane() == 0) {
    shared->base[simt::warp()] = base;
    shared->powered[simt::warp()] = powered;
  }
  simt::barrier();
  if (simt::thread() != 0) return;
  for (unsigned w = 1; w < draw_warps; ++w) {
    base = base + shared->base[w];
    powered = powered + shared->powered[w];
  }
  batch.log_z[item] = log_of_grains(powered) - power * log_of_grains(base);
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
