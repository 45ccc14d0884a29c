// Copies of the draw's kernels with one defect each, made from their text by tests/CMakeLists.txt:
// the comparison of tests/simt/lottery/draw_kernels.cpp must tell every one of them from the host.
#include <planted/draw_defects.hpp>

#include "tests/catch.hpp"
#include "tests/simt/lottery/draw_case.hpp"

using namespace tempera::gpu;

namespace {

bool have_host_bits(const PlantedDraw& kernels, const DrawCase& rows) {
  const DrawCase expected = drawn_by_host(rows);
  const auto batch_rows = static_cast<unsigned>(rows.rows());
  for (std::uint64_t order = 1; order <= 4; ++order) {
    DrawCase drawn = rows;
    const RowBatch batch = drawn.batch();
    const std::vector<float> tiles = drawn.tile_largest(16);
    simt::Stream stream{.seed = order};
    try {
      simt::launch({.blocks = {2, batch_rows, 1}, .threads = 256, .shared_bytes = 4096}, stream,
                   kernels.sum_tickets, batch, tiles.data(), tiles.size() / rows.rows());
      simt::launch({.blocks = {1, batch_rows, 1}, .threads = 256, .shared_bytes = 4096}, stream,
                   kernels.draw_winner, batch);
    } catch (const simt::LaunchFailure&) {
      return false;
    }
    if (!differences(drawn, expected).empty()) return false;
  }
  return true;
}

/// Whether the kernels give the host's bits, over a few thread orders.
bool have_host_bits(const PlantedDraw& kernels) {
  DrawCase rows(8, 4500, 21);
  // A whole tile's +infinity, as a head that does not mark it would leave it.
  rows.logit(5, 77) = std::numeric_limits<float>::infinity();
  // The largest logit is last.
  for (std::size_t row = 0; row < 3; ++row) rows.logit(row, 4499) = 9.0F;
  for (std::size_t v = 0; v < rows.vocabulary(); ++v) rows.logit(3, v) = 0.5F;
  rows.select_ends();
  if (!have_host_bits(kernels, rows)) return false;
  // More chunks than a warp has lanes.
  DrawCase wide(1, 66000, 2);
  wide.select_ends();
  return have_host_bits(kernels, wide);
}

}  // namespace

TEST_CASE(
    "every defect planted in the draw's kernels is caught, and the copy without one is sound") {
  std::size_t planted = 0;
  for (const PlantedDraw& kernels : planted_draws) {
    CAPTURE(kernels.defect);
    const bool sound = std::string(kernels.defect) == "none";
    CHECK(have_host_bits(kernels) == sound);
    planted += sound ? 0 : 1;
  }
  CHECK(planted >= 10);
}
