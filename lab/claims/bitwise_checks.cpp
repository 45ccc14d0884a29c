#include <bit>
#ifdef TEMPERA_DEVICE_TBB
#include <tbb/global_control.h>
#endif

#include "gpu/sampler/parallel_power_tempering.hpp"
#include "lab/claims/checks.hpp"
#include "lab/small_transformer.hpp"

namespace tempera::lab {
namespace {

/// Everything that a run leaves, as bits.
std::vector<std::uint64_t> bits_of(std::size_t batch, gpu::WorkOrder order, std::size_t threads) {
#ifdef TEMPERA_DEVICE_TBB
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
#else
  static_cast<void>(threads);  // the other device systems' threads are compared in the tests
#endif
  const auto model = small_transformer(19, 3);
  const gpu::Ladder ladder({1.0, 1.7, 3.0});
  const auto rows = gpu::make_device_row_lottery();
  gpu::PhiloxLottery lottery;
  gpu::Engine engine(*model, *rows, lottery, batch, order);
  const gpu::Plan plan{gpu::make_stages(20, 5, {3}, {2}, {1}), gpu::Schedule::adj, 2};
  const std::vector<gpu::Context> contexts{{{5, 6}, {0}}, {{7}, {0}}, {{9, 8, 7}, {0}}};
  std::vector<gpu::Run> runs;
  std::vector<gpu::Progress> progress(contexts.size());
  std::vector<gpu::Task> tasks;
  runs.reserve(contexts.size());
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    runs.push_back({engine, contexts[i], ladder, 11, static_cast<std::uint32_t>(i)});
    tasks.push_back(gpu::parallel_power_tempering(runs[i], plan, progress[i]));
  }
  engine.run(tasks);
  std::vector<std::uint64_t> bits;
  for (const gpu::Progress& run : progress) {
    for (const gpu::Record& record : run.replicas) {
      for (const gpu::ScoredToken& token : record.tokens()) {
        bits.push_back(token.id);
        bits.push_back(std::bit_cast<std::uint64_t>(token.log_p));
        for (const double log_z : token.log_z) bits.push_back(std::bit_cast<std::uint64_t>(log_z));
      }
    }
  }
  return bits;
}

Verdict same_bits(const Evidence&) {
  const auto once = bits_of(64, gpu::WorkOrder::first_come, 1);
  Count count;
  for (const std::size_t batch : {std::size_t{1}, std::size_t{2}, std::size_t{7}})
    for (const gpu::WorkOrder order : {gpu::WorkOrder::first_come, gpu::WorkOrder::last_come})
      for (const std::size_t threads : {std::size_t{1}, std::size_t{2}})
        count.expect(bits_of(batch, order, threads) == once, "batch " + std::to_string(batch));
  Verdict verdict = count.verdict("layouts of the work");
  verdict.detail += ", " + std::to_string(once.size()) + " words each";
  return verdict;
}

}  // namespace

std::map<std::string, Check> bitwise_checks() { return {{"same_bits", same_bits}}; }

}  // namespace tempera::lab
