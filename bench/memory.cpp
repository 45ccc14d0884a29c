// Measures the cost of little memory: bench_memory MODEL ARITHMETIC SAMPLES HORIZON BLOCK MOVES
// PROMPT draws so many samples by PPT with four rungs, under a tenth to all of the memory in which
// nothing is ever dropped, and prints a line of JSON for each. Tokens and passes are the same on
// every machine; seconds are not, and those of processors are less in doubt beside other work.
#include <algorithm>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/llm/transformer/default_kernels.hpp"
#include "gpu/llm/transformer/transformer.hpp"
#include "gpu/session/session.hpp"

using namespace tempera;

namespace {

/// Keeps what must not depend on the memory.
struct Answers final : gpu::Listener {
  void answered(gpu::RequestId, std::size_t sample, const gpu::Answer& answer) override {
    if (tokens.size() <= sample) tokens.resize(sample + 1);
    tokens[sample] = answer.tokens;
  }
  void failed(gpu::RequestId, std::size_t, const std::exception_ptr& why) override {
    std::rethrow_exception(why);
  }
  std::vector<std::vector<gpu::TokenId>> tokens;
};

}  // namespace

int main(int count, char** words) try {
  const auto arithmetic = gpu::arithmetic_named(count >= 8 ? words[2] : "");
  if (!arithmetic)
    throw BadInput("usage", "bench_memory MODEL ARITHMETIC SAMPLES HORIZON BLOCK MOVES TOKEN…",
                   "give all, the tokens of the prompt last");
  const auto number = [&](int word) { return std::stoul(words[word]); };
  gpu::SampleRequest request{
      gpu::Ladder({1.0, 2.0, 3.0, 4.0}),
      {gpu::make_stages(number(4), number(5), {number(6)}, {1}, {1}), gpu::Schedule::adj, 3},
      {}};
  request.samples = number(3);
  request.sampler = gpu::parallel_power_tempering;
  for (int word = 7; word < count; ++word)
    request.prompt.push_back(static_cast<gpu::TokenId>(number(word)));
  const auto model = gpu::Transformer::load(words[1], gpu::make_default_kernels(*arithmetic));
  const std::size_t prompt = request.prompt.size();
  const std::size_t rows = request.samples * request.ladder.rungs();
  const auto bytes_of = [&](std::size_t records) {
    return model->cache_bytes(prompt) +
           gpu::cache_bytes_of_rows(*model, prompt, number(4), records);
  };
  std::vector<std::vector<gpu::TokenId>> expected;
  for (std::size_t tenth = 0; tenth <= 10; ++tenth) {
    gpu::SessionOptions options;
    options.largest_batch = rows;
    options.in_flight = request.samples;
    options.cache_memory = std::max(bytes_of(1), bytes_of(2 * rows) * tenth / 10);
    gpu::Session session(*model, options);
    Answers answers;
    session.submit(request, answers);
    const std::clock_t spent = std::clock();
    const double begin = gpu::seconds_now();
    while (session.step()) {
    }
    const double seconds = gpu::seconds_now() - begin;
    const double processor_seconds = static_cast<double>(std::clock() - spent) / CLOCKS_PER_SEC;
    if (tenth == 0) expected = answers.tokens;
    if (answers.tokens != expected) throw Bug("the memory has changed an answer");
    const gpu::SessionTotals totals = session.totals();
    std::cout << nlohmann::ordered_json{{"tenths", tenth},
                                        {"memory", options.cache_memory},
                                        {"records", static_cast<double>(options.cache_memory) /
                                                        static_cast<double>(bytes_of(1))},
                                        {"decode_tokens", totals.decode_tokens},
                                        {"recomputed_tokens", totals.recomputed_tokens},
                                        {"passes", totals.batches},
                                        {"rows_of_a_pass",
                                         static_cast<double>(totals.decode_tokens) /
                                             static_cast<double>(totals.batches)},
                                        {"most_cache_bytes_so_far", model->most_cache_bytes()},
                                        {"seconds", seconds},
                                        {"processor_seconds", processor_seconds}}
                     .dump()
              << std::endl;
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "bench_memory: " << error.what() << '\n';
  return 2;
}
