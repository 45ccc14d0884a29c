// Decode tokens per second of the shipped transformer by batch size, as ratios within one run:
// against a plain loop over one sequence, and against the memory bandwidth measured beside it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bench/seconds_of.hpp"
#include "gpu/sampler/local_move.hpp"
#include "lab/opened_model.hpp"

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
double decode(const lab::OpenedModel& model, std::size_t sequences, std::size_t batch,
              std::size_t horizon) {
  const gpu::Ladder ladder({1.0});
  const auto rows = gpu::make_device_row_lottery();
  gpu::PhiloxLottery lottery;
  gpu::Engine engine(model.model(), *rows, lottery, batch);
  const gpu::Context context{model.encode("4+7+9+3+8+6+2+5?", "prompt"), {}};
  const std::shared_ptr<gpu::Cache> prompt_cache = model.model().empty_cache();
  gpu::DeviceMemory<float> logits;
  const gpu::Pass prompt{prompt_cache.get(), context.prompt};
  model.model().next_logits(std::span(&prompt, 1), logits);
  std::vector<gpu::Run> runs;
  std::vector<gpu::Record> records;
  std::vector<gpu::Task> tasks;
  runs.reserve(sequences);
  records.reserve(sequences);
  for (std::size_t i = 0; i < sequences; ++i) {
    runs.push_back({engine, context, ladder, 1, 0, static_cast<std::uint32_t>(i), prompt_cache});
    records.emplace_back(context, prompt_cache->fork(context.prompt.size()));
    tasks.push_back(
        gpu::extend(records[i], gpu::Turn(runs[i], 0, 0, gpu::Purpose::extension_token), horizon));
  }
  const double seconds = seconds_of([&] { engine.run(tasks); });
  return static_cast<double>(engine.decode_tokens()) / seconds;
}

/// The plain loop: one sequence, one token at a time, without engine or coroutines.
double plain_loop(const lab::OpenedModel& model, std::size_t sequences, std::size_t horizon) {
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
        const gpu::Pass pass{cache.get(), tokens};
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
  const lab::OpenedModel model =
      lab::OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  constexpr std::size_t horizon = 40;
  constexpr double weight_bytes = 445632.0 * 4.0;
  const double bandwidth = measured_bandwidth();
  std::printf("memory bandwidth by memcpy: %.2f GB/s\n", bandwidth / 1e9);
  double plain = 0.0;
  for (int i = 0; i < 3; ++i) plain = std::max(plain, plain_loop(model, 8, horizon));
  std::printf("%8s %12s %12s %34s\n", "batch", "tokens/s", "/ plain",
              "weights read / measured bandwidth");
  std::printf("%8s %12.0f %12.2f %34.2f\n", "plain", plain, 1.0, plain * weight_bytes / bandwidth);
  for (const std::size_t batch : {1, 2, 4, 8, 16, 32, 64, 128}) {
    double best = 0.0;
    for (int i = 0; i < 3; ++i)
      best = std::max(best, decode(model, std::max<std::size_t>(batch, 8), batch, horizon));
    std::printf("%8zu %12.0f %12.2f %34.2f\n", batch, best, best / plain,
                best / static_cast<double>(batch) * weight_bytes / bandwidth);
  }
}
