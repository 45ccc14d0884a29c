#include "gpu/lottery/row_lottery.hpp"

#include "tests/catch.hpp"
#include "tests/devices/logits.hpp"

using namespace tempera::gpu;

namespace {

/// Draws one token from each of `rows` rows on device and host. Rows take turns between two ladders
/// and two seeds.
void require_same_draws(std::size_t vocabulary, std::uint32_t rows) {
  const std::vector<double> long_ladder{1.0, 1.6, 2.5, 4.0};
  const std::vector<double> short_ladder{0.5, 3.0, 3.5};
  std::vector<float> logits;
  std::vector<RowDraw> draws;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t i = 0; i < vocabulary; ++i) logits.push_back(logit_at(i, row, 11));
    const auto& powers = row % 3 == 0 ? short_ladder : long_ladder;
    const auto rung = static_cast<std::uint16_t>(row % powers.size());
    DrawAddress address;
    address.prompt_index = row;
    address.rung = rung;
    address.turn = 3;
    address.position = 1;
    address.purpose = Purpose::proposal_token;
    draws.push_back({powers, rung, {row % 2 == 0 ? 2026U : 2027U, address}});
  }
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  PhiloxLottery lottery;
  const auto on_device = make_device_row_lottery()->draw(memory, vocabulary, draws, lottery);
  const auto on_host = make_host_row_lottery()->draw(memory, vocabulary, draws, lottery);
  REQUIRE(on_device.size() == rows);
  for (std::size_t row = 0; row < rows; ++row) {
    INFO("row " << row << " of " << vocabulary << " tokens");
    REQUIRE(on_device[row] == on_host[row]);
  }
}

}  // namespace

TEST_CASE("tickets, winners and scores have the host's bits") {
  require_same_draws(2, 256);
  require_same_draws(100, 256);
  require_same_draws(2049, 64);
  require_same_draws(151936, 8);
}
