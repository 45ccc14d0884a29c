// Decode tokens per second of the shipped transformer by batch size, as ratios within one run:
// against a plain loop over one sequence, and against the memory bandwidth measured beside it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bench/seconds_of.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/draw_answers.hpp"

using namespace tempera;
using bench::seconds_of;

namespace {

/// Bytes per second of copying a block far larger than the caches, reads and writes counted.
double measured_bandwidth() {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  std::vector<char> source(bytes, 1);
  std::vector<char> target(bytes);
  double best = 0.0;
  for (int i = 0; i < 5; ++i) {
    const double seconds = seconds_of([&] { std::memcpy(target.data(), source.data(), bytes); });
    best = std::max(best, 2.0 * static_cast<double>(bytes) / seconds);
  }
  return best;
}

/// Draws `sequences` records of `horizon` tokens at power 1, no token terminal; tokens per second.
double decode(const gpu::OpenedModel& model, std::size_t sequences, std::size_t batch,
              std::size_t horizon) {
  gpu::DrawSettings settings{
      gpu::Ladder({1.0}),
      {gpu::make_stages(horizon, horizon, {0}, {0}, {0}), gpu::Schedule::adj, 0},
      {}};
  settings.seed = 1;
  settings.samples = settings.in_flight = sequences;
  settings.largest_batch = batch;
  const gpu::Prompt prompt{model.encode("4+7+9+3+8+6+2+5?", "prompt"), {}};
  gpu::DrawListener nobody;
  gpu::SessionTotals totals;
  const double seconds = seconds_of([&] {
    totals = gpu::draw_answers(model.model(), std::span(&prompt, 1), gpu::parallel_power_tempering,
                               settings, nobody);
  });
  return static_cast<double>(totals.decode_tokens) / seconds;
}

/// The plain loop: one sequence, one token at a time, without engine or coroutines.
double plain_loop(const gpu::OpenedModel& model, std::size_t sequences, std::size_t horizon) {
  const auto rows = gpu::make_device_row_lottery();
  gpu::PhiloxLottery lottery;
  const std::vector<double> powers{1.0};
  const std::vector<gpu::TokenId> prompt = model.encode("4+7+9+3+8+6+2+5?", "prompt");
  const double seconds = seconds_of([&] {
    for (std::uint32_t i = 0; i < sequences; ++i) {
      std::vector<gpu::TokenId> tokens = prompt;
      const auto cache = model.model().empty_cache();
      gpu::DeviceMemory<float> logits;
      for (std::uint32_t t = 0; t < horizon; ++t) {
        const gpu::Pass pass{cache.get(), std::span(tokens).subspan(cache->length())};
        model.model().next_logits(std::span(&pass, 1), logits);
        const gpu::RowDraw draw{powers, 0, {1, {0, i, 0, 0, t, gpu::Purpose::extension_token}}};
        tokens.push_back(
            rows->draw(logits, model.model().vocabulary_size(), std::span(&draw, 1), lottery)
                .front()
                .id);
      }
    }
  });
  return static_cast<double>(sequences * horizon) / seconds;
}

}  // namespace

int main() {
  const gpu::OpenedModel model =
      gpu::OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  constexpr std::size_t horizon = 40;
  constexpr double weight_bytes = 445632.0 * 4.0;
  // Tokens of all calls over their seconds: the best of some calls says little of the others.
  constexpr int calls = 40;
  const double bandwidth = measured_bandwidth();
  std::printf("memory bandwidth by memcpy: %.2f GB/s\n", bandwidth / 1e9);
  double seconds_per_token = 0.0;
  for (int i = 0; i < calls; ++i) seconds_per_token += 1.0 / plain_loop(model, 8, horizon) / calls;
  const double plain = 1.0 / seconds_per_token;
  std::printf("%8s %12s %12s %34s\n", "batch", "tokens/s", "/ plain",
              "weights read / measured bandwidth");
  std::printf("%8s %12.0f %12.2f %34.2f\n", "plain", plain, 1.0, plain * weight_bytes / bandwidth);
  for (const std::size_t batch : {1, 2, 4, 8, 16, 32, 64, 128}) {
    seconds_per_token = 0.0;
    for (int i = 0; i < calls; ++i)
      seconds_per_token +=
          1.0 / decode(model, std::max<std::size_t>(batch, 8), batch, horizon) / calls;
    const double rate = 1.0 / seconds_per_token;
    std::printf("%8zu %12.0f %12.2f %34.2f\n", batch, rate, rate / plain,
                rate / static_cast<double>(batch) * weight_bytes / bandwidth);
  }
}
