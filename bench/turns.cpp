// tempera as bench/peers measures it: a model that stays open, and one measurement for each line of
// standard input. bench_turns MODEL ARITHMETIC THREADS; a line is {"batch", "prompt", "tokens"}:
// so many records of different prompts are decoded together, a token of each drawn at every step.
// With one thread, seconds are of processor time, which what else runs does not lengthen.
#include <time.h>

#include <cstdint>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/core/lottery/lottery.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/device/thread_limit.hpp"
#include "gpu/llm/transformer/default_kernels.hpp"
#include "gpu/llm/transformer/transformer.hpp"

using namespace tempera;

namespace {

double seconds_by(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

nlohmann::json measure(gpu::Transformer& model, const nlohmann::json& asked, clockid_t clock) {
  const std::size_t batch = asked.at("batch");
  const std::size_t length = asked.at("prompt");
  const std::size_t steps = asked.at("tokens");
  const std::size_t vocabulary = model.vocabulary_size();
  std::vector<std::vector<gpu::TokenId>> tokens(batch, std::vector<gpu::TokenId>(length));
  std::vector<std::unique_ptr<gpu::Cache>> caches;
  for (std::size_t i = 0; i < batch; ++i) {
    caches.push_back(model.empty_cache());
    for (std::size_t j = 0; j < length; ++j)
      tokens[i][j] = static_cast<gpu::TokenId>((j * 7919 + i * 104729) % vocabulary);
  }
  const auto rows = gpu::make_device_row_lottery();
  gpu::PhiloxLottery lottery;
  gpu::DeviceMemory<float> logits;
  const std::vector<double> powers{1.0};
  const auto pass = [&](std::uint32_t step) {
    std::vector<gpu::Pass> passes;
    std::vector<gpu::RowDraw> draws;
    for (std::size_t i = 0; i < batch; ++i) {
      passes.push_back({caches[i].get(), tokens[i]});
      draws.push_back(
          {powers,
           0,
           {1, {0, static_cast<std::uint32_t>(i), 0, 0, step, gpu::Purpose::extension_token}}});
    }
    model.next_logits(passes, logits);
    const auto drawn = rows->draw(logits, vocabulary, draws, lottery);
    for (std::size_t i = 0; i < batch; ++i) tokens[i] = {drawn[i].id};
  };
  const double begin = seconds_by(clock);
  pass(0);
  const double middle = seconds_by(clock);
  for (std::uint32_t step = 1; step <= steps; ++step) pass(step);
  return {{"prompt_seconds", middle - begin},
          {"seconds", seconds_by(clock) - middle},
          {"tokens", batch * steps},
          {"cache_bytes", model.most_cache_bytes()},
          {"kernels", std::string(model.kernels().name())}};
}

}  // namespace

int main(int count, char** words) try {
  const auto arithmetic = gpu::arithmetic_named(count == 4 ? words[2] : "");
  if (!arithmetic)
    throw BadInput("usage", "bench_turns MODEL ARITHMETIC THREADS", "give all three");
  const std::size_t threads = std::stoul(words[3]);
  const gpu::ThreadLimit limit(threads);
  const auto model = gpu::Transformer::load(words[1], gpu::make_default_kernels(*arithmetic));
  for (std::string line; std::getline(std::cin, line);)
    std::cout << measure(*model, nlohmann::json::parse(line),
                         threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC)
                     .dump()
              << std::endl;
  return 0;
} catch (const std::exception& error) {
  std::cerr << "bench_turns: " << error.what() << '\n';
  return 2;
}
