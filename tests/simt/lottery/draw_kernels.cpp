// The draw's CUDA kernels on fibers, bit for bit against the host's plain form.
#include "gpu/core/lottery/cuda/queue_draw.cuh"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "tests/catch.hpp"
#include "tests/simt/lottery/draw_case.hpp"

using namespace tempera::gpu;

namespace {

/// The case after the kernels have drawn it, their sums spread over `blocks` blocks; from maxima of
/// tiles of `width` outputs, or, if it is 0, from those that a kernel finds itself.
DrawCase drawn_by_kernels(DrawCase rows, std::uint64_t blocks, std::uint64_t order,
                          std::size_t width) {
  simt::Stream stream{.seed = order};
  const RowBatch batch = rows.batch();
  if (width == 0) {
    queue_chunk_largest(batch, stream);
    queue_draw(batch, batch.chunk_largest, batch.chunks, blocks, stream);
    CHECK(stream.launches == 3);
  } else {
    const std::vector<float> tiles = rows.tile_largest(width);
    queue_draw(batch, tiles.data(), tiles.size() / rows.rows(), blocks, stream);
    CHECK(stream.launches == 2);
  }
  return rows;
}

void require_host_bits(const DrawCase& rows, std::initializer_list<std::uint64_t> orders) {
  const DrawCase expected = drawn_by_host(rows);
  for (const std::uint64_t order : orders) {
    for (const std::size_t width : {0, 16, 128}) {
      for (const std::uint64_t blocks : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1000}}) {
        CAPTURE(rows.rows(), rows.vocabulary(), order, width, blocks);
        const auto different = differences(drawn_by_kernels(rows, blocks, order, width), expected);
        CAPTURE(different);
        REQUIRE(different.empty());
      }
    }
  }
}

}  // namespace

TEST_CASE("the draw's kernels have the host's bits for every shape, batch and thread order") {
  for (const std::size_t vocabulary : {1, 7, 33, 257, 2047, 2048, 2049, 5003})
    require_host_bits(DrawCase(7, vocabulary, 41 + vocabulary), {1, 2});
  for (const std::size_t rows : {1, 2, 16, 33, 64}) {
    const DrawCase batch(rows, 2300, 5 + rows);
    const auto different = differences(drawn_by_kernels(batch, 70, 3, 16), drawn_by_host(batch));
    CAPTURE(rows, different);
    REQUIRE(different.empty());
  }
}

TEST_CASE("words at the ends of tokens, threads and chunks select the host's token") {
  for (const std::size_t vocabulary : {9, 2049, 4500}) {
    DrawCase rows(8, vocabulary, 13);
    rows.select_ends();
    require_host_bits(rows, {6});
  }
}

TEST_CASE(
    "totals of the largest vocabulary have the host's bits: tickets near 2^62, grains beyond 64 "
    "bits") {
  DrawCase rows(2, largest_vocabulary, 3);
  for (std::size_t v = 0; v < rows.vocabulary(); ++v) {
    rows.logit(0, v) = 1.5F;
    rows.logit(1, v) = v % 2 == 0 ? 1.5F : 1.25F;
  }
  const DrawCase expected = drawn_by_host(rows);
  for (const std::uint64_t blocks : {1, 64}) {
    const auto different = differences(drawn_by_kernels(rows, blocks, 4, 16), expected);
    CAPTURE(different);
    CHECK(different.empty());
  }
}

TEST_CASE("a row's bits do not depend on the rows beside it") {
  const DrawCase whole(9, 4100, 77);
  const DrawCase together = drawn_by_kernels(whole, 4, 1, 16);
  for (std::size_t row = 0; row < whole.rows(); ++row) {
    // The same rows, each with its neighbour's logits gone flat.
    DrawCase alone = whole;
    for (std::size_t other = 0; other < whole.rows(); ++other)
      for (std::size_t v = 0; v < whole.vocabulary(); ++v)
        if (other != row) alone.logit(other, v) = 0.0F;
    CHECK(drawn_by_kernels(alone, 9, 2, 16).token(row) == together.token(row));
  }
}

TEST_CASE("a row that is not a law is flagged as on the host, wherever the logit is") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), infinity}) {
    for (const std::size_t index : {0, 31, 255, 2047, 2048, 4099}) {
      DrawCase rows(3, 4100, 8);
      rows.logit(1, index) = bad;
      CAPTURE(bad, index);
      require_host_bits(rows, {1});
    }
  }
  DrawCase nothing(3, 2100, 9);
  for (std::size_t v = 0; v < nothing.vocabulary(); ++v) nothing.logit(1, v) = -infinity;
  require_host_bits(nothing, {1});
}

TEST_CASE("a given token is scored as on the host, and a forbidden one flagged") {
  DrawCase rows(6, 2500, 12);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    if (row == 2) continue;  // drawn, between those that are given
    rows.request(row).decision = Decision::given;
    rows.request(row).given = row == 0 ? 0 : row == 1 ? 2499 : 2047 + row;
  }
  rows.logit(4, 2051) = -std::numeric_limits<float>::infinity();
  require_host_bits(rows, {1, 2});
}

// The Tape answers with the least, the largest and an inner word of each winner's interval in turn.
TEST_CASE("the token whose interval holds the word wins, at both ends of the interval") {
  const std::size_t vocabulary = 4200;
  std::vector<float> logits;
  for (std::uint32_t v = 0; v < vocabulary; ++v)
    logits.push_back(static_cast<float>(philox({{v, 0, 0, 0}}, 6).limb[0] % 512) / 64.0F);
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const std::vector<double> powers{1.0, 2.5, 4.0};
  const RowDraw draw{powers, 1, {}};
  const auto rows = make_cuda_row_lottery({.blocks = 2, .thread_order = 9});
  const auto host = make_host_row_lottery();
  std::vector<std::size_t> winners;
  for (const std::size_t winner : {0, 1, 7, 8, 255, 256, 2047, 2048, 2049, 4095, 4096, 4199})
    winners.insert(winners.end(), 3, winner);
  TapeLottery tape(winners);
  TapeLottery same_tape(winners);
  for (const std::size_t winner : winners) {
    const ScoredToken token = rows->draw(memory, vocabulary, {&draw, 1}, tape).front();
    CHECK(token.id == winner);
    CHECK(token == host->draw(memory, vocabulary, {&draw, 1}, same_tape).front());
  }
  CHECK(rows->log_normalizers(memory, vocabulary, 1, powers) ==
        host->log_normalizers(memory, vocabulary, 1, powers));
}
