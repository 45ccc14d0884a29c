// Any memory that holds one record gives the same bytes: keys and values dropped for want of it are
// computed again.
#include "gpu/device/planted_fault.hpp"
#include "tests/between.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"
#include "tests/gpu/session/counted_model.hpp"
#include "tests/gpu/session/heard.hpp"
#include "tests/gpu/session/sampling_runs.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::memory_test {
namespace {

std::unique_ptr<Transformer> make_model(bool is_recurrent) {
  if (is_recurrent) return recurrent::model();
  DecoderConfig config = small_config();
  config.max_position_embeddings = 200;
  return random_qwen3(config, 5);
}

/// A request of several pages for each record, or of several checkpoints.
SampleRequest long_request(std::size_t seed, bool is_recurrent) {
  SampleRequest request = varied_request(seed);
  const std::size_t scale = is_recurrent ? 4 : 1;
  const std::size_t horizon = scale * (20 + seed % 23);
  request.plan.stages =
      make_stages(horizon, 1 + horizon / (1 + seed % 4), {1 + seed % 2}, {1 + seed % 3}, {1});
  request.terminal = {1};
  for (std::size_t i = 0; i < scale * (seed % 20); ++i)
    request.prompt.push_back(static_cast<TokenId>(2 + (i * i + seed) % 20));
  return request;
}

struct Drawn {
  std::vector<std::vector<std::uint64_t>> bits;
  SessionTotals totals;
};

Drawn drawn(LanguageModel& model, const std::vector<SampleRequest>& requests,
            const SessionOptions& options) {
  Session session(model, options);
  Heard heard;
  std::vector<RequestId> ids;
  for (const SampleRequest& request : requests) ids.push_back(session.submit(request, heard));
  while (session.step()) {
  }
  Drawn all;
  for (const RequestId id : ids) all.bits.push_back(heard.bits_of(id));
  all.totals = session.totals();
  return all;
}

std::size_t least_bytes(const LanguageModel& model, const SampleRequest& request) {
  const std::size_t prompt = request.prompt.size();
  return model.cache_bytes(prompt) +
         cache_bytes_of_rows(model, prompt, request.plan.stages.back().horizon, 1);
}

/// The most bytes that all its records and proposals can come to hold.
std::size_t most_bytes(const LanguageModel& model, const SampleRequest& request) {
  const std::size_t prompt = request.prompt.size();
  return model.cache_bytes(prompt) +
         cache_bytes_of_rows(model, prompt, request.plan.stages.back().horizon,
                             request.samples * request.plan.replicas(request.ladder) *
                                 (2 + request.options.prefetch));
}

}  // namespace

TEST_CASE("under any memory from one record to all, every sampler draws the same bits",
          "[unsanitized]") {
  std::map<std::pair<std::size_t, bool>, std::vector<std::uint64_t>> alone;
  law("memory changes no bit", [&] {
    const bool is_recurrent = between(0, 2) == 0;
    std::vector<SampleRequest> requests;
    std::vector<std::vector<std::uint64_t>> expected;
    std::size_t least = 0;
    std::size_t most = 0;
    const auto count = *rc::gen::inRange<std::size_t>(1, 5);
    const auto model = make_model(is_recurrent);
    for (std::size_t i = 0; i < count; ++i) {
      const auto seed = between<std::size_t>(0, 23);
      requests.push_back(long_request(seed, is_recurrent));
      auto& bits = alone[{seed, is_recurrent}];
      if (bits.empty()) bits = bits_alone(*make_model(is_recurrent), requests.back());
      expected.push_back(bits);
      least = std::max(least, least_bytes(*model, requests.back()));
      most += most_bytes(*model, requests.back());
    }
    const auto tenths = between<std::size_t>(0, 10);
    SessionOptions options;
    // Most of them near the least, where every page counts.
    options.cache_memory = least + (most - std::min(most, least)) * tenths * tenths / 100;
    options.largest_batch = *rc::gen::element<std::size_t>(1, 3, 64);
    options.order = *rc::gen::element(WorkOrder::first_come, WorkOrder::last_come);
    const Drawn all = drawn(*model, requests, options);
    RC_ASSERT(all.bits == expected);
    RC_ASSERT(model->most_cache_bytes() <= options.cache_memory);
    RC_ASSERT(all.totals.cache_bytes == 0U);
    RC_ASSERT(model->pages().free_pages() == model->pages().pages());
    RC_CLASSIFY(all.totals.recomputed_tokens > 0, "tokens were computed again");
  });
}

TEST_CASE("more memory computes fewer tokens again, and with enough none") {
  const SampleRequest request = [] {
    SampleRequest asked = long_request(6, false);
    asked.sampler = parallel_power_tempering;
    asked.ladder = Ladder({1.0, 2.0, 4.0});
    asked.plan = {make_stages(40, 20, {3}, {2}, {1}), Schedule::adj, 2};
    asked.samples = 6;
    asked.options = {};
    return asked;
  }();
  const auto model = make_model(false);
  const std::size_t least = least_bytes(*model, request);
  const std::size_t most = most_bytes(*model, request);
  std::vector<std::uint64_t> recomputed;
  std::vector<std::uint64_t> batches;
  std::optional<Drawn> first;
  for (const std::size_t tenths : {0, 2, 5, 10}) {
    SessionOptions options;
    options.cache_memory = least + (most - least) * tenths / 10;
    const Drawn all = drawn(*make_model(false), {request}, options);
    if (!first) first = all;
    CHECK(all.bits == first->bits);
    CHECK(all.totals.decode_tokens == first->totals.decode_tokens);
    recomputed.push_back(all.totals.recomputed_tokens);
    batches.push_back(all.totals.batches);
  }
  CHECK(recomputed.back() == 0);
  CHECK(recomputed.front() > 0);
  CHECK(batches.front() > batches.back());
  CHECK(std::is_sorted(batches.rbegin(), batches.rend()));
}

TEST_CASE("a run that is killed under little memory goes on to the same bytes", "[runs]") {
  SamplingSettings settings = small_settings();
  settings.powers = {1.0, 2.0, 4.0};
  settings.horizon = 40;
  settings.block = 17;
  settings.rounds = {2};
  settings.output = 3;
  settings.terminal = {1};
  const auto model = make_model(false);
  const std::size_t memory = model->cache_bytes(3) + cache_bytes_of_rows(*model, 3, 40, 1);
  const auto run = [&](LanguageModel& with, const std::filesystem::path& path,
                       std::size_t cache_memory) {
    RunFolder folder = std::filesystem::exists(path) ? RunFolder::open(path)
                                                     : RunFolder::create(path, settings.to_json());
    JobLayout layout{.checkpoint_seconds = 0.0};
    layout.session.cache_memory = cache_memory;
    const JobWatcher watcher{[](const SampledAnswer&) {}, {}, {}};
    Job(with, settings, numbers_of, &folder, watcher, layout).run();
  };
  const test::TemporaryFolder work;
  run(*make_model(false), work / "whole", 0);
  run(*model, work / "little", memory);
  CHECK(Left(work / "little") == Left(work / "whole"));
  for (const std::size_t passes : {5, 60, 200, 333}) {
    CAPTURE(passes);
    const auto path = work / std::to_string(passes);
    const auto poor = make_model(false);
    KilledModel killed(*poor, passes);
    CHECK_THROWS_AS(run(killed, path, memory), Killed);
    const auto another = make_model(false);
    run(*another, path, memory);
    CHECK(another->most_cache_bytes() <= memory);
    CHECK(Left(path) == Left(work / "whole"));
  }
}

TEST_CASE("where the memory of the device ends, requests wait that would fit alone") {
  const SampleRequest request = [] {
    SampleRequest asked = long_request(6, false);
    asked.sampler = parallel_power_tempering;
    asked.ladder = Ladder({1.0, 2.0, 4.0});
    asked.plan = {make_stages(40, 20, {2}, {2}, {1}), Schedule::adj, 2};
    asked.samples = 20;
    return asked;
  }();
  const auto rich = make_model(false);
  const Drawn expected = drawn(*rich, {request}, {});
  const auto poor = make_model(false);
  DeviceMemory<float> rows;
  poor->logits_at_every_position(std::vector<TokenId>{7, 8, 9}, rows);
  const std::size_t pages = poor->pages().pages();
  REQUIRE(rich->pages().pages() > pages);
  const WithPlantedFault full({{}, pages * poor->pages().page_bytes()});
  SessionOptions options;
  options.cache_memory = std::size_t{1} << 40;  // taken at its word, though the device has less
  const Drawn all = drawn(*poor, {request}, options);
  CHECK(all.bits == expected.bits);
  CHECK(poor->pages().pages() == pages);
  CHECK(all.totals.recomputed_tokens > 0);
}

}  // namespace tempera::gpu::memory_test
