#include "gpu/core/model/table_model.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/devices/logits.hpp"

using namespace tempera::gpu;

namespace {

std::vector<Record> tempered_run(RowLottery& rows, const Ladder& ladder, const Context& context,
                                 std::uint64_t seed) {
  constexpr std::size_t vocabulary = 5;
  TableModel model(vocabulary, [](std::span<const TokenId> prefix) {
    std::uint32_t row = 1;
    for (const TokenId token : prefix) row = row * 31 + token;
    std::vector<float> logits;
    for (std::uint32_t i = 0; i < vocabulary; ++i) logits.push_back(logit_at(i, row, 17) / 4.0F);
    return logits;
  });
  PhiloxLottery lottery;
  Engine engine(model, rows, lottery);
  Chain run{engine, context, ladder, seed};
  const Plan plan{make_stages(16, 4, {8}, {2}, {1}), Schedule::adj, ladder.rungs() - 1};
  Progress progress;
  std::vector<Task> tasks;
  tasks.push_back(parallel_power_tempering(run, plan, progress));
  engine.run(tasks);
  return std::move(progress.replicas);
}

}  // namespace

TEST_CASE("whole runs of PPT on a finite model have the host's bits") {
  const Ladder ladder({1.0, 1.6, 2.5, 4.0});
  const Context context{{}, {4}};
  const auto device_rows = make_device_row_lottery();
  const auto host_rows = make_host_row_lottery();
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    const auto on_device = tempered_run(*device_rows, ladder, context, seed);
    const auto on_host = tempered_run(*host_rows, ladder, context, seed);
    for (Rung k = 0; k < ladder.rungs(); ++k) {
      INFO("seed " << seed << ", rung " << k + 1);
      REQUIRE(on_device[k].token_ids() == on_host[k].token_ids());
      for (std::size_t t = 1; t <= on_host[k].length(); ++t)
        for (Rung j = 0; j < ladder.rungs(); ++j)
          REQUIRE(to_bits(on_device[k].sum_log_z(t, t, j)) ==
                  to_bits(on_host[k].sum_log_z(t, t, j)));
      REQUIRE(to_bits(on_device[k].log_p0()) == to_bits(on_host[k].log_p0()));
    }
  }
}

TEST_CASE("whole runs of PPT on a random transformer do not depend on the batch or its order") {
  DecoderConfig config;
  config.vocab_size = 11;
  config.hidden_size = 48;
  config.intermediate_size = 80;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 16;
  config.max_position_embeddings = 64;
  const auto model = random_qwen3(config, 19);
  const Ladder ladder({1.0, 1.6, 2.5, 4.0});
  const Context context{{1, 2, 3}, {10}};
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  const auto runs_with = [&](std::size_t largest_batch, WorkOrder order) {
    Engine engine(*model, *rows, lottery, largest_batch, order);
    std::vector<Chain> runs;
    std::vector<Progress> progress(6);
    const Plan plan{make_stages(12, 4, {3}, {2}, {1}), Schedule::deo, ladder.rungs() - 1};
    for (std::uint32_t sample = 0; sample < progress.size(); ++sample) {
      runs.push_back({engine, context, ladder, 5});
      runs.back().sample_index = sample;
    }
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < runs.size(); ++i)
      tasks.push_back(parallel_power_tempering(runs[i], plan, progress[i]));
    engine.run(tasks);
    std::vector<std::uint64_t> bits;
    for (const Progress& one : progress) {
      for (const Record& record : one.replicas) {
        for (const TokenId token : record.token_ids()) bits.push_back(token);
        bits.push_back(to_bits(record.log_p0()));
        for (Rung k = 0; k < ladder.rungs(); ++k)
          bits.push_back(to_bits(record.sum_log_z(1, record.length(), k)));
      }
    }
    return bits;
  };
  const auto one_by_one = runs_with(1, WorkOrder::first_come);
  CHECK(runs_with(5, WorkOrder::last_come) == one_by_one);
  CHECK(runs_with(64, WorkOrder::first_come) == one_by_one);
  CHECK(runs_with(64, WorkOrder::last_come) == one_by_one);
}
