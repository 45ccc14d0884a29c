// Runs of the samplers on a model with a recurrent state: texts that cross its checkpoints.
#include <bit>

#include "gpu/device/device_system.hpp"
#include "gpu/device/thread_limit.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"

namespace tempera::gpu::recurrent_records_test {

namespace {

struct RecurrentRun {
  std::size_t largest_batch = 64;
  WorkOrder order = WorkOrder::first_come;
  bool together = true;
  std::size_t prefix_chunk = 512;
};

/// Checks every record's cache, and returns tokens and the bits of their scores.
std::vector<std::uint64_t> words_of(Transformer& model, const RecurrentRun& layout) {
  const Ladder ladder({1.0, 1.75, 4.0});
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  Engine engine(model, *rows, lottery, layout.largest_batch, layout.order);
  engine.compute_prefixes_by(layout.prefix_chunk);
  const Plan plan{make_stages(80, 40, {2}, {3}, {1}), Schedule::adj, 2};
  // Restarts of the first fall after its checkpoint at 64, those of the last after that at 128.
  std::vector<Context> contexts;
  for (const std::size_t length : {50, 3, 127}) {
    std::vector<TokenId> terminal;  // if there is none, records are as long as they may
    if (length == 3) terminal = {0, 1};
    contexts.push_back({recurrent::text_of(length), terminal});
  }
  std::vector<Chain> runs;
  runs.reserve(contexts.size());
  std::vector<Progress> progress(contexts.size());
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    runs.push_back({engine, contexts[i], ladder, 77, static_cast<std::uint32_t>(i)});
    tasks.push_back(parallel_power_tempering(runs[i], plan, progress[i]));
    if (!layout.together) engine.run(std::span(&tasks.back(), 1));
  }
  if (layout.together) engine.run(tasks);
  std::vector<std::uint64_t> words;
  for (const Progress& one : progress) {
    for (const Record& record : one.replicas) {
      CHECK(owns_its_cache(model, record));
      words.push_back(record.length());
      for (std::size_t t = 1; t <= record.length(); ++t) {
        words.push_back(record.tokens().token(t));
        words.push_back(std::bit_cast<std::uint64_t>(record.tokens().log_p(t)));
        for (const double z : record.tokens().log_z(t)) {
          words.push_back(std::bit_cast<std::uint64_t>(z));
        }
      }
    }
  }
  return words;
}

/// FNV-1a, 64 bits.
std::uint64_t digest_of(const std::vector<std::uint64_t>& words) {
  std::uint64_t value = 0xCBF29CE484222325U;
  for (const std::uint64_t word : words) {
    for (int byte = 0; byte < 8; ++byte) {
      value = (value ^ ((word >> (8 * byte)) & 0xFFU)) * 0x100000001B3U;
    }
  }
  return value;
}

/// Taken from the first run: it ties builds, processors and device systems together.
struct PinnedRecords {
  Arithmetic arithmetic;
  std::uint64_t digest;
};
std::vector<PinnedRecords> pinned_records() {
  std::vector<PinnedRecords> pinned{{Arithmetic::float32, 0x26A77BDBEB560737U},
                                    {Arithmetic::bfloat16_pairs, 0xD809924C9CAC65B9U},
                                    {Arithmetic::integer, 0x3DDBB43F035A218CU}};
#if !defined(__SANITIZE_ADDRESS__)
  // The model of tensor cores takes minutes under the sanitizers, where other tests run it.
  pinned.push_back({Arithmetic::tensor_core, 0xBEEF4D171EDA69FCU});
  pinned.push_back({Arithmetic::tensor_core_ampere, 0x8E71F29F2455C810U});
  pinned.push_back({Arithmetic::tensor_core_8_bit_pages, 0x2EEFFAAAE3ADAD59U});
#endif
  return pinned;
}

}  // namespace

TEST_CASE("the records of a recurrent model do not depend on how the work is laid out",
          "[recurrent][unsanitized]") {
  const auto [arithmetic, digest] = GENERATE(from_range(pinned_records()));
  CAPTURE(name_of(arithmetic));
  const auto model = recurrent::model(default_kernels(arithmetic));
  const auto words = words_of(*model, {});
  // It is a run of some length, that begins anew between checkpoints.
  REQUIRE(words.size() > 1000);
  CHECK(digest_of(words) == digest);
  for (const std::size_t threads : {1, 5}) {
    CAPTURE(threads);
    const ThreadLimit limit(threads);
    CHECK(words_of(*recurrent::model(default_kernels(arithmetic)), {}) == words);
  }
  for (const Kernels* kernels : forms_of_the_kernels(arithmetic)) {
    CAPTURE(kernels->name());
    CHECK(words_of(*recurrent::model(*kernels), {}) == words);
  }
  CHECK(model->tokens_replayed() > 0);
  for (const std::size_t largest_batch : {1, 2, 3}) {
    for (const WorkOrder order : {WorkOrder::first_come, WorkOrder::last_come}) {
      const bool together = largest_batch != 2;
      CAPTURE(largest_batch, together);
      CHECK(words_of(*model, {largest_batch, order, together, 7 * largest_batch}) == words);
    }
  }
}

}  // namespace tempera::gpu::recurrent_records_test
