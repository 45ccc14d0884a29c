// Draws from rows of logits by the lottery's own kernels, as compiled for this machine's kind, and
// prints what came of it, bit for bit. tests/aarch64/check compiles it for two kinds of machine and
// compares what they print.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

#include "gpu/core/lottery/philox.hpp"
#include "gpu/core/lottery/row_steps.hpp"
#include "gpu/core/lottery/ticket_lanes.hpp"

namespace tempera::gpu {

RowSteps::~RowSteps() = default;

namespace {

/// One item after the other, by the forms that production takes on a host.
struct OneByOne {
  static const char* name() { return "one by one"; }
  template <class Kernel>
  static void run(std::uint64_t items, const Kernel& kernel) {
    for (std::uint64_t item = 0; item < items; ++item) kernel(item);
  }
  using FindChunkLargest = FindChunkLargestByLanes;
  using SumTickets = SumTicketsByLanes;
};

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void draw() {
  // Three chunks of a vocabulary, one in sixteen tokens forbidden, and ladders of several lengths.
  constexpr std::uint64_t rows = 40, vocabulary = 4700;
  const std::vector<std::vector<double>> ladders{
      {1.0, 3.5}, {0.5}, {1.0, 1.5, 2.25, 6.0}, {0.01, 2.0, 3.0}};
  std::vector<float> logits;
  std::vector<double> powers;
  std::vector<RowRequest> requests;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t v = 0; v < vocabulary; ++v) {
      const Word drawn = philox({{v, row, 0, 0}}, 7);
      logits.push_back(drawn.limb[1] % 16 == 0
                           ? -__builtin_inff()
                           : static_cast<float>(drawn.limb[0] % 4096U) / 512.0f - 8.0f);
    }
    const auto& ladder = ladders[row % ladders.size()];
    RowRequest request;
    request.first_rung = powers.size();
    request.rungs = static_cast<std::uint32_t>(ladder.size());
    request.rung = row % request.rungs;
    request.counter = {{row, 1, 2, 3}};
    request.seed = 20261121;
    requests.push_back(request);
    powers.insert(powers.end(), ladder.begin(), ladder.end());
  }
  RowBatch batch;
  batch.rows = rows;
  batch.vocabulary = vocabulary;
  batch.chunks = (vocabulary + RowBatch::chunk - 1) / RowBatch::chunk;
  std::vector<float> chunk_largest(rows * batch.chunks), largest(rows);
  std::vector<std::uint64_t> ticket_sums(powers.size() * batch.chunks), token(rows);
  std::vector<std::uint64_t> tickets(rows * vocabulary);
  std::vector<GrainSum> grain_sums(rows * batch.chunks);
  std::vector<std::uint32_t> status(rows);
  std::vector<double> log_p(rows), log_z(powers.size());
  batch.logits = logits.data();
  batch.powers = powers.data();
  batch.requests = requests.data();
  batch.chunk_largest = chunk_largest.data();
  batch.largest = largest.data();
  batch.ticket_sums = ticket_sums.data();
  batch.grain_sums = grain_sums.data();
  batch.status = status.data();
  batch.token = token.data();
  batch.log_p = log_p.data();
  batch.log_z = log_z.data();
  const RowStepsBy<OneByOne> steps;
  steps.find_largest(batch);
  steps.sum_tickets(batch);
  steps.draw_winners(batch);
  // These rows are scored by two powers each.
  std::vector<double> scored_powers, scored(2 * rows);
  for (std::uint64_t row = 0; row < rows; ++row)
    scored_powers.insert(scored_powers.end(), {0.75, 2.5});
  RowBatch normalized = batch;
  normalized.powers = scored_powers.data();
  normalized.log_z = scored.data();
  steps.score_normalizers(normalized, 2);
  steps.write_tickets(batch, tickets.data());
  std::uint64_t sum = 0;
  for (const std::uint64_t ticket : tickets) sum = sum * 0x100000001B3U + ticket;
  for (std::uint64_t row = 0; row < rows; ++row)
    std::printf("%" PRIu32 " %" PRIu64 " %016" PRIx64 "\n", status[row], token[row],
                bits_of(log_p[row]));
  for (const auto* values : {&log_z, &scored})
    for (const double value : *values) std::printf("%016" PRIx64 "\n", bits_of(value));
  std::printf("tickets %016" PRIx64 "\n", sum);
}

}  // namespace
}  // namespace tempera::gpu

int main() { tempera::gpu::draw(); }
