#include "gpu/model/table_model.hpp"
#include "gpu/sampler/parallel_power_tempering.hpp"
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
  Run run{engine, context, ladder, seed};
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
