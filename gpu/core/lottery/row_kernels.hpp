#pragma once

#include <cstdint>

#include "gpu/core/lottery/tickets.hpp"
#include "gpu/core/lottery/winner.hpp"

namespace tempera::gpu {

/// How the winner of a row is decided.
enum class Decision : std::uint32_t {
  word,   ///< by Philox's word of the row's counter
  given,  ///< not at all: the token is given and only scored
};

/// What went wrong in a row. The order is that of gravity.
enum class RowStatus : std::uint32_t {
  sound = 0,
  not_a_number = 1,
  nothing_allowed = 2,
  forbidden = 3
};

/// The request of one row. Its powers, sums of tickets and ζ are after those of the rows before
/// it, since every row has a ladder of its own length.
struct RowRequest {
  std::uint64_t first_rung = 0;  ///< rungs of all rows before it
  std::uint32_t rungs = 0;       ///< of its own ladder; 0 if a step has a row that is nobody's
  std::uint32_t rung = 0;        ///< whose power it is drawn at, index into its own ladder
  Decision decision = Decision::word;
  Word counter = {};        ///< for Decision::word: the draw's address; see RowLottery::draw
  std::uint64_t seed = 0;   ///< for Decision::word
  std::uint64_t given = 0;  ///< the token, for Decision::given
};

/// A batch of rows on its way through the lottery. All pointers are to the memory of the system
/// that runs the kernels. Sums are of integers, so the cut into chunks changes no bit.
struct RowBatch {
  static constexpr std::uint64_t chunk = 2048;

  std::uint64_t rows = 0;
  std::uint64_t vocabulary = 0;
  std::uint64_t chunks = 0;              ///< per row: ceil(vocabulary / chunk)
  const float* logits = nullptr;         ///< [rows, vocabulary]
  const double* powers = nullptr;        ///< [rungs of all rows]
  const RowRequest* requests = nullptr;  ///< [rows]
  float* chunk_largest = nullptr;        ///< [rows, chunks]; NaN if a logit is NaN or +inf
  float* largest = nullptr;              ///< [rows]
  std::uint64_t* ticket_sums = nullptr;  ///< per row [chunks, its rungs]
  GrainSum* grain_sums = nullptr;        ///< [rows, chunks]
  std::uint32_t* status = nullptr;       ///< [rows]
  std::uint64_t* token = nullptr;        ///< [rows]
  double* log_p = nullptr;               ///< [rows]
  double* log_z = nullptr;               ///< [rungs of all rows]

  TEMPERA_HOST_DEVICE std::uint64_t begin_of(std::uint64_t c) const { return c * chunk; }
  TEMPERA_HOST_DEVICE std::uint64_t end_of(std::uint64_t c) const {
    return (c + 1) * chunk < vocabulary ? (c + 1) * chunk : vocabulary;
  }
  /// The sums of tickets of a row's chunk: [its rungs].
  TEMPERA_HOST_DEVICE std::uint64_t* ticket_sums_of(const RowRequest& request,
                                                    std::uint64_t c) const {
    return ticket_sums + request.first_rung * chunks + c * request.rungs;
  }
};

inline namespace TEMPERA_INSTRUCTION_SET {

/// The largest logit of each chunk of each row.
struct FindChunkLargest {
  RowBatch batch;
  TEMPERA_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t row = item / batch.chunks;
    const std::uint64_t c = item % batch.chunks;
    const float* logits = batch.logits + row * batch.vocabulary;
    float largest = logits[batch.begin_of(c)];
    bool sound = true;
    for (std::uint64_t v = batch.begin_of(c); v < batch.end_of(c); ++v) {
      sound = sound && logits[v] <= 3.4028234663852886e38F;  // false for NaN and +infinity
      if (logits[v] > largest) largest = logits[v];
    }
    batch.chunk_largest[item] = sound ? largest : not_a_number();
  }
  TEMPERA_HOST_DEVICE static float not_a_number() {
    const std::uint32_t bits = 0x7FC00000U;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
};

/// The largest logit of each row, and whether the row can be drawn from.
struct FindLargest {
  RowBatch batch;
  TEMPERA_HOST_DEVICE void operator()(std::uint64_t row) const {
    const float* chunk_largest = batch.chunk_largest + row * batch.chunks;
    float largest = chunk_largest[0];
    RowStatus status = RowStatus::sound;
    for (std::uint64_t c = 0; c < batch.chunks; ++c) {
      if (chunk_largest[c] != chunk_largest[c]) status = RowStatus::not_a_number;
      if (chunk_largest[c] > largest) largest = chunk_largest[c];
    }
    if (status == RowStatus::sound && largest < -3.4028234663852886e38F)
      status = RowStatus::nothing_allowed;
    batch.largest[row] = largest;
    batch.status[row] = static_cast<std::uint32_t>(status);
  }
};

/// Σ tickets per chunk and rung, and the chunk's grains of Z_1.
struct SumTickets {
  RowBatch batch;
  TEMPERA_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t row = item / batch.chunks;
    if (batch.status[row] != 0) return;
    const std::uint64_t c = item % batch.chunks;
    const float* logits = batch.logits + row * batch.vocabulary;
    const float largest = batch.largest[row];
    const RowRequest& request = batch.requests[row];
    const double* powers = batch.powers + request.first_rung;
    std::uint64_t* ticket_sums = batch.ticket_sums_of(request, c);
    for (std::uint64_t k = 0; k < request.rungs; ++k) {
      const double power = powers[k];
      std::uint64_t sum = 0;
      for (std::uint64_t v = batch.begin_of(c); v < batch.end_of(c); ++v)
        sum += tickets_of(logits[v], largest, power);
      ticket_sums[k] = sum;
    }
    GrainSum grains;
    for (std::uint64_t v = batch.begin_of(c); v < batch.end_of(c); ++v)
      grains = grains + grains_of(logits[v], largest);
    batch.grain_sums[item] = grains;
  }
};

/// The winner of each row, its ℓ_t (`eq:implementation-base-log-probability`) and, for every rung,
/// ζ_t = α·log p0(x_t) − log g(x_t) (`eq:implementation-token-normalizers`), g being the proposal
/// that the tickets define: the proposal that was used is the proposal that is scored.
struct DrawWinner {
  RowBatch batch;
  TEMPERA_HOST_DEVICE void operator()(std::uint64_t row) const {
    if (batch.status[row] != 0) return;
    const RowRequest& request = batch.requests[row];
    const float* logits = batch.logits + row * batch.vocabulary;
    const double* powers = batch.powers + request.first_rung;
    const float largest = batch.largest[row];
    const std::uint64_t token =
        request.decision == Decision::given ? request.given : winner(row, request);
    const float logit = logits[token];
    if (tickets_of(logit, largest, powers[request.rung]) == 0) {
      batch.status[row] = static_cast<std::uint32_t>(RowStatus::forbidden);
      return;
    }
    GrainSum grains;
    for (std::uint64_t c = 0; c < batch.chunks; ++c)
      grains = grains + batch.grain_sums[row * batch.chunks + c];
    const double log_p =
        (static_cast<double>(logit) - static_cast<double>(largest)) - log_of_grains(grains);
    batch.token[row] = token;
    batch.log_p[row] = log_p;
    for (std::uint64_t k = 0; k < request.rungs; ++k) {
      const std::uint64_t tickets = tickets_of(logit, largest, powers[k]);
      batch.log_z[request.first_rung + k] =
          powers[k] * log_p - log_share(tickets, total(request, k));
    }
  }

  TEMPERA_HOST_DEVICE std::uint64_t total(const RowRequest& request, std::uint64_t k) const {
    std::uint64_t sum = 0;
    for (std::uint64_t c = 0; c < batch.chunks; ++c) sum += batch.ticket_sums_of(request, c)[k];
    return sum;
  }

  TEMPERA_HOST_DEVICE std::uint64_t winner(std::uint64_t row, const RowRequest& request) const {
    std::uint64_t threshold =
        threshold_of(philox(request.counter, request.seed), total(request, request.rung));
    std::uint64_t c = 0;
    for (;; ++c) {
      const std::uint64_t sum = batch.ticket_sums_of(request, c)[request.rung];
      if (sum > threshold) break;
      threshold -= sum;
    }
    const float* logits = batch.logits + row * batch.vocabulary;
    const double power = batch.powers[request.first_rung + request.rung];
    std::uint64_t prefix_sum = 0;
    std::uint64_t v = batch.begin_of(c);
    for (;; ++v) {
      prefix_sum += tickets_of(logits[v], batch.largest[row], power);
      if (prefix_sum > threshold) return v;
    }
  }
};

/// The tickets of every token of every row at the row's own rung, for a lottery on the host.
struct WriteTickets {
  RowBatch batch;
  std::uint64_t* tickets;  ///< [rows, vocabulary]
  TEMPERA_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t row = item / batch.vocabulary;
    const RowRequest& request = batch.requests[row];
    tickets[item] = batch.status[row] != 0
                        ? 0
                        : tickets_of(batch.logits[item], batch.largest[row],
                                     batch.powers[request.first_rung + request.rung]);
  }
};

/// log z_α of each row for every power, to full precision (`eq:theory-token-normalizer`): what
/// score prints. The sampler's own ζ carries the rounding of its tickets instead. All rows have
/// `rungs` powers.
struct ScoreNormalizers {
  RowBatch batch;
  std::uint64_t rungs;
  TEMPERA_HOST_DEVICE void operator()(std::uint64_t item) const {
    const std::uint64_t row = item / rungs;
    if (batch.status[row] != 0) return;
    const double power = batch.powers[item];
    const float* logits = batch.logits + row * batch.vocabulary;
    const double largest = static_cast<double>(batch.largest[row]);
    GrainSum base;
    GrainSum powered;
    for (std::uint64_t v = 0; v < batch.vocabulary; ++v) {
      const double distance = static_cast<double>(logits[v]) - largest;
      base = base + GrainSum{0, round_to_integer(0x1p+63 * exponential(distance))};
      powered = powered + GrainSum{0, round_to_integer(0x1p+63 * exponential(power * distance))};
    }
    batch.log_z[item] = log_of_grains(powered) - power * log_of_grains(base);
  }
};

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
