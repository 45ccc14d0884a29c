#include <bit>
#include <map>
#ifdef TEMPERA_DEVICE_TBB
#include <tbb/global_control.h>
#endif

#include "gpu/runs/draw_answers.hpp"
#include "lab/claims/checks.hpp"
#include "lab/small_transformer.hpp"

namespace tempera::lab {
namespace {

/// Collects everything that runs leave, as bits, by their places.
class Bits final : public gpu::DrawObserver {
 public:
  void ended(std::size_t place, const gpu::Progress& run) override {
    std::vector<std::uint64_t>& bits = of_place_[place];
    for (const gpu::Record& record : run.replicas) {
      for (std::size_t t = 1; t <= record.length(); ++t) {
        bits.push_back(record.tokens().token(t));
        bits.push_back(std::bit_cast<std::uint64_t>(record.tokens().log_p(t)));
        for (const double log_z : record.tokens().log_z(t))
          bits.push_back(std::bit_cast<std::uint64_t>(log_z));
      }
    }
  }
  std::vector<std::uint64_t> all() const {
    std::vector<std::uint64_t> bits;
    for (const auto& [place, words] : of_place_)
      bits.insert(bits.end(), words.begin(), words.end());
    return bits;
  }

 private:
  std::map<std::size_t, std::vector<std::uint64_t>> of_place_;
};

}  // namespace

std::vector<std::uint64_t> bits_of_run(std::size_t batch, gpu::WorkOrder order,
                                       std::size_t threads) {
#ifdef TEMPERA_DEVICE_TBB
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
#else
  static_cast<void>(threads);  // the other device systems' threads are compared in the tests
#endif
  const auto model = small_transformer(19, 3);
  gpu::DrawSettings settings{gpu::Ladder({1.0, 1.7, 3.0}),
                             {gpu::make_stages(20, 5, {3}, {2}, {1}), gpu::Schedule::adj, 2},
                             {0}};
  settings.seed = 11;
  settings.largest_batch = batch;
  settings.order = order;
  const std::vector<gpu::Prompt> prompts{{{5, 6}, {0, 0}}, {{7}, {1, 0}}, {{9, 8, 7}, {2, 0}}};
  Bits bits;
  gpu::draw_answers(*model, prompts, gpu::parallel_power_tempering, settings, bits);
  return bits.all();
}

namespace {

Verdict same_bits(const Evidence& evidence) {
  const auto once = evidence.judged.bits_of_run(64, gpu::WorkOrder::first_come, 1);
  Count count;
  count.expect(!once.empty(), "the run leaves nothing");
  for (const std::size_t batch : {std::size_t{1}, std::size_t{2}, std::size_t{7}})
    for (const gpu::WorkOrder order : {gpu::WorkOrder::first_come, gpu::WorkOrder::last_come})
      for (const std::size_t threads : {std::size_t{1}, std::size_t{2}})
        count.expect(evidence.judged.bits_of_run(batch, order, threads) == once,
                     "batch " + std::to_string(batch));
  Verdict verdict = count.verdict("layouts of the work");
  verdict.detail += ", " + std::to_string(once.size()) + " words each";
  return verdict;
}

}  // namespace

std::map<std::string, Check> bitwise_checks() { return {{"same_bits", same_bits}}; }

}  // namespace tempera::lab
