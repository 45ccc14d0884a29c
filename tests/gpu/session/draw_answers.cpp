#include "gpu/session/draw_answers.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "gpu/core/model/forwarding_model.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"

namespace tempera::gpu::draw_answers_test {
namespace {

DrawSettings few_settings(std::size_t samples) {
  DrawSettings settings{
      Ladder({1.0, 2.5}), {make_stages(6, 3, {2}, {1}, {1}), Schedule::adj, 1}, {0, 1}};
  settings.seed = 8;
  settings.samples = samples;
  return settings;
}

const std::vector<Prompt> three_prompts{
    {{2, 3, 4}, prompt_number("a")}, {{5}, prompt_number("b")}, {{2, 3, 4}, prompt_number("c")}};

/// Collects the answers, and looks at how many runs have begun whose answer has not left.
class Collector : public DrawListener {
 public:
  void round_ended(RequestId run_index, std::size_t, const Progress&,
                   std::span<const Event>) override {
    begun.insert(run_index);
    most_under_way = std::max(most_under_way, begun.size() - answers.size());
  }
  void answered(RequestId run_index, std::size_t, const Answer&) override {
    ends.push_back(run_index);
  }
  void drawn(std::size_t run_index, const Answer& answer) override {
    CHECK(run_index == answers.size());
    answers.push_back(answer.tokens);
  }

  std::vector<std::vector<TokenId>> answers;
  std::vector<std::size_t> ends;
  std::set<std::size_t> begun;
  std::size_t most_under_way = 0;
};

std::vector<std::vector<TokenId>> answers_of(LanguageModel& model, std::span<const Prompt> prompts,
                                             const DrawSettings& settings) {
  Collector collector;
  draw_answers(model, prompts, parallel_power_tempering, settings, collector);
  return collector.answers;
}

/// Counts how often the model computes the beginning of a prompt.
class Beginnings final : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;
  std::size_t count = 0;

 private:
  void before(std::span<const Pass> passes) override {
    for (const Pass& pass : passes)
      if (pass.cache->length() == 0) ++count;
  }
};

}  // namespace

TEST_CASE("answers leave in order, and do not depend on how the work is laid out") {
  const auto model = random_qwen3(small_config(), 5);
  const auto answers = answers_of(*model, three_prompts, few_settings(4));
  REQUIRE(answers.size() == 12);
  CHECK(std::set(answers.begin(), answers.end()).size() > 6);
  for (const std::size_t in_flight : {1, 2, 5, 100})
    for (const std::size_t batch : {1, 3, 64})
      for (const WorkOrder order : {WorkOrder::first_come, WorkOrder::last_come}) {
        CAPTURE(in_flight, batch, order == WorkOrder::last_come);
        DrawSettings settings = few_settings(4);
        settings.in_flight = in_flight;
        settings.largest_batch = batch;
        settings.order = order;
        CHECK(answers_of(*model, three_prompts, settings) == answers);
      }
}

TEST_CASE("the answers of a prompt do not depend on which others are drawn, nor on their number") {
  const auto model = random_qwen3(small_config(), 5);
  const auto answers = answers_of(*model, three_prompts, few_settings(4));
  for (std::size_t p = 0; p < 3; ++p) {
    CAPTURE(p);
    const auto alone = answers_of(*model, std::span(three_prompts).subspan(p, 1), few_settings(2));
    REQUIRE(alone.size() == 2);
    CHECK(std::equal(alone.begin(), alone.end(),
                     answers.begin() + static_cast<std::ptrdiff_t>(4 * p)));
  }
  // The first and the third have the same tokens: their numbers tell their draws apart.
  CHECK_FALSE(std::equal(answers.begin(), answers.begin() + 4, answers.begin() + 8));
}

TEST_CASE("either half of a prompt's number tells its draws apart") {
  const auto model = random_qwen3(small_config(), 5);
  std::set<std::vector<std::vector<TokenId>>> seen;
  for (const PromptNumber number : {PromptNumber{0, 0}, PromptNumber{1, 0}, PromptNumber{0, 1}}) {
    const Prompt prompt{{2, 3, 4}, number};
    seen.insert(answers_of(*model, std::span(&prompt, 1), few_settings(8)));
  }
  CHECK(seen.size() == 3);
}

// The first and the third have the same tokens; one run at a time they never wait together.
TEST_CASE("a prompt is computed once for all its samples and replicas, and for its like") {
  const auto model = random_qwen3(small_config(), 5);
  for (const std::size_t in_flight : {1, 3, 64}) {
    Beginnings counting(*model);
    DrawSettings settings = few_settings(5);
    settings.in_flight = in_flight;
    answers_of(counting, three_prompts, settings);
    CHECK(counting.count == (in_flight == 1 ? 3 : 2));
  }
}

TEST_CASE("few runs are under way at a time, however many there are") {
  TableModel model = scattered_table(6, 3);
  DrawSettings settings = few_settings(300);
  settings.in_flight = 4;
  settings.largest_batch = 3;
  // The latest requests first: the first run would starve if the others were not held back.
  settings.order = WorkOrder::last_come;
  Collector collector;
  draw_answers(model, three_prompts, parallel_power_tempering, settings, collector);
  CHECK(collector.answers.size() == 900);
  CHECK(collector.most_under_way <= 16);
  CHECK(collector.most_under_way > 4);
  CHECK_FALSE(std::is_sorted(collector.ends.begin(), collector.ends.end()));
}

TEST_CASE("what a listener throws ends all runs at once") {
  TableModel model = scattered_table(6, 3);
  struct Refusing final : DrawListener {
    void round_ended(RequestId run_index, std::size_t, const Progress&,
                     std::span<const Event>) override {
      ++told;
      if (run_index == 2) throw BadInput("disk", "is full", "make room");
    }
    std::size_t told = 0;
  } listener;
  require_bad_input(
      [&] {
        draw_answers(model, three_prompts, parallel_power_tempering, few_settings(50), listener);
      },
      {"disk: is full"});
  // All 150 runs would tell of 6 steps each.
  CHECK(listener.told < 450);
}

TEST_CASE("the truncating sampler is drawn by the same assembly") {
  TableModel model = scattered_table(6, 3);
  DrawSettings settings{
      Ladder({2.0}), {make_stages(6, 2, {2}, {1}, {1}), Schedule::adj, 0}, {0, 1}};
  settings.samples = 10;
  Collector collector;
  const SessionTotals totals =
      draw_answers(model, three_prompts, truncating_power_sampling, settings, collector);
  CHECK(collector.answers.size() == 30);
  CHECK(totals.decode_tokens > 30);
  CHECK(totals.batches > 0);
}

TEST_CASE("more samples than an address tells apart are refused") {
  TableModel model = scattered_table(6, 3);
  Collector collector;
  require_bad_input(
      [&] {
        draw_answers(model, three_prompts, parallel_power_tempering,
                     few_settings(1'000'000'000'000), collector);
      },
      {"samples: is 1000000000000", "1048576"});
}

}  // namespace tempera::gpu::draw_answers_test
