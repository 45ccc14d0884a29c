#include "gpu/core/lottery/rows/row_lottery.hpp"

#include <algorithm>

#include "gpu/device/device_system.hpp"
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
  const auto on_host = make_host_row_lottery()->draw(memory, vocabulary, draws, lottery);
  for (const auto& form : {make_device_row_lottery(), make_cuda_row_lottery(),
                           make_cuda_row_lottery({.blocks = 7}), make_thrust_row_lottery()}) {
    const auto on_device = form->draw(memory, vocabulary, draws, lottery);
    REQUIRE(on_device.size() == rows);
    for (std::size_t row = 0; row < rows; ++row) {
      INFO(form->form() << ": row " << row << " of " << vocabulary << " tokens");
      REQUIRE(on_device[row] == on_host[row]);
    }
  }
}

}  // namespace

TEST_CASE("tickets, winners and scores have the host's bits") {
  // Fibers stand in for a GPU elsewhere, thread by thread: fewer rows.
  const bool gpu = device_system() == "CUDA";
  require_same_draws(2, gpu ? 256 : 20);
  require_same_draws(100, gpu ? 256 : 20);
  require_same_draws(2049, gpu ? 64 : 5);
  for (const std::uint32_t rows : {1, 2, 3, 4, 8, 16, 31, 33, 64})
    require_same_draws(gpu ? 5003 : 300, rows);
  require_same_draws(gpu ? 151936 : 9000, gpu ? 8 : 1);
}

TEST_CASE("a token that is chosen for the host's lottery wins on the device, at its words' ends") {
  constexpr std::size_t vocabulary = 4200;
  std::vector<float> logits;
  for (std::uint32_t v = 0; v < vocabulary; ++v)
    logits.push_back(std::max(logit_at(v, 0, 6), -12.0F));
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const std::vector<double> powers{1.0, 2.5, 4.0};
  const RowDraw draw{powers, 1, {}};
  std::vector<std::size_t> winners;
  for (const std::size_t winner : {0, 1, 255, 256, 2047, 2048, 4095, 4096, 4199})
    winners.insert(winners.end(), 3, winner);
  TapeLottery tape(winners);
  TapeLottery same_tape(winners);
  const auto device = make_device_row_lottery();
  const auto host = make_host_row_lottery();
  for (const std::size_t winner : winners) {
    const auto drawn = device->draw(memory, vocabulary, {&draw, 1}, tape);
    CHECK(drawn.front().id == winner);
    CHECK(drawn == host->draw(memory, vocabulary, {&draw, 1}, same_tape));
  }
}
