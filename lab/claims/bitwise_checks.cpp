#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>

#include "gpu/core/engine/engine.hpp"
#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/model/language_model.hpp"
#include "gpu/core/sampler/chain.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/sampler/record.hpp"
#include "gpu/core/sampler/score_record.hpp"
#include "gpu/core/sampler/stages.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "gpu/device/device_memory.hpp"
#include "gpu/device/thread_limit.hpp"
#include "gpu/session/draw_answers.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/program_functions.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "lab/enumerate/small_transformer.hpp"
#include "reference/analysis/four_state.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/parallel_tempering.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/rational.hpp"

namespace tempera::lab {
namespace {

/// Collects everything that runs leave, as bits, by their places.
class Bits final : public gpu::DrawListener {
 public:
  void sampler_ended(gpu::RequestId run_index, std::size_t, const gpu::Progress& run) override {
    std::vector<std::uint64_t>& bits = bits_of_run_[run_index];
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
    for (const auto& [run_index, words] : bits_of_run_)
      bits.insert(bits.end(), words.begin(), words.end());
    return bits;
  }

 private:
  std::map<std::size_t, std::vector<std::uint64_t>> bits_of_run_;
};

/// A model that counts the passes which it is asked for.
class Counted final : public gpu::LanguageModel {
 public:
  explicit Counted(gpu::LanguageModel& model) : model_(model) {}
  std::size_t vocabulary_size() const override { return model_.vocabulary_size(); }
  std::unique_ptr<gpu::Cache> empty_cache() const override { return model_.empty_cache(); }
  void next_logits(std::span<const gpu::Pass> passes, gpu::DeviceMemory<float>& rows) override {
    passes_ += passes.size();
    model_.next_logits(passes, rows);
  }
  std::size_t passes() const { return passes_; }

 private:
  gpu::LanguageModel& model_;
  std::size_t passes_ = 0;
};

}  // namespace

std::size_t passes_of_run(std::size_t local_moves, std::size_t sweeps) {
  const auto model = small_transformer(19, 3);
  Counted counted(*model);
  gpu::DrawSettings settings{
      gpu::Ladder({1.0, 1.7, 3.0}),
      {gpu::make_stages(20, 20, {3}, {local_moves}, {sweeps}), gpu::Schedule::adj, 2},
      {0}};
  settings.seed = 11;
  Bits bits;
  gpu::draw_answers(counted, std::vector<gpu::Prompt>{{{5, 6}, {0, 0}}},
                    gpu::parallel_power_tempering, settings, bits);
  return counted.passes();
}

ExtensionCalls calls_of_extension(std::size_t block, std::uint64_t seed) {
  /// Counts the records that are left.
  class Lengths final : public gpu::DrawListener {
   public:
    explicit Lengths(ExtensionCalls& calls) : calls_(calls) {}
    void sampler_ended(gpu::RequestId, std::size_t, const gpu::Progress& run) override {
      for (const gpu::Record& record : run.replicas) {
        calls_.lengths.push_back(record.length());
        calls_.terminated += record.terminated() ? 1 : 0;
      }
    }

   private:
    ExtensionCalls& calls_;
  };
  const auto model = small_transformer(19, 3);
  Counted counted(*model);
  gpu::DrawSettings settings{gpu::Ladder({1.0, 1.7, 3.0}),
                             {gpu::make_stages(20, block, {0}, {0}, {0}), gpu::Schedule::adj, 2},
                             {0, 1}};
  settings.seed = seed;
  ExtensionCalls calls;
  Lengths lengths(calls);
  gpu::draw_answers(counted, std::vector<gpu::Prompt>{{{5, 6}, {0, 0}}},
                    gpu::parallel_power_tempering, settings, lengths);
  calls.passes = counted.passes();
  return calls;
}

RefinementCalls calls_of_refinement(std::uint64_t seed) {
  const gpu::Ladder ladder({1.0, 1.7, 3.0});
  const gpu::Prompt prompt{{5, 6}, {0, 0}};
  /// Collects the events, and the records that are left.
  class Moves final : public gpu::DrawListener {
   public:
    explicit Moves(RefinementCalls& calls) : calls_(calls) {}
    void round_ended(gpu::RequestId, std::size_t, const gpu::Progress&,
                     std::span<const gpu::Event> events) override {
      for (const gpu::Event& event : events) {
        if (event.kind == gpu::Event::Kind::extension) calls_.extension_tokens += event.tokens;
        if (event.kind != gpu::Event::Kind::local_move) continue;
        calls_.move_tokens += event.tokens;
        if (!event.proposed) {
          ++calls_.self_transitions;
          calls_.tokens_of_those += event.tokens;
        } else {
          ++(event.accepted ? calls_.accepted : calls_.rejected);
        }
      }
    }
    void sampler_ended(gpu::RequestId, std::size_t, const gpu::Progress& run) override {
      for (const gpu::Record& record : run.replicas) {
        Scored& scored = records.emplace_back();
        for (std::size_t t = 1; t <= record.length(); ++t) {
          scored.tokens.push_back(record.tokens().token(t));
          scored.log_p.push_back(record.tokens().log_p(t));
          scored.log_z.emplace_back(record.tokens().log_z(t).begin(),
                                    record.tokens().log_z(t).end());
        }
      }
    }
    struct Scored {
      std::vector<gpu::TokenId> tokens;
      std::vector<double> log_p;
      std::vector<std::vector<double>> log_z;
    };
    std::vector<Scored> records;

   private:
    RefinementCalls& calls_;
  };
  const auto model = small_transformer(19, 3);
  Counted counted(*model);
  gpu::DrawSettings settings{
      ladder, {gpu::make_stages(20, 20, {6}, {2}, {1}), gpu::Schedule::adj, 2}, {0, 1}};
  settings.seed = seed;
  RefinementCalls calls;
  Moves moves(calls);
  gpu::draw_answers(counted, std::vector<gpu::Prompt>{prompt}, gpu::parallel_power_tempering,
                    settings, moves);
  calls.passes = counted.passes();
  const auto rows = gpu::make_device_row_lottery();
  calls.caches_are_own = true;
  for (const Moves::Scored& record : moves.records) {
    const gpu::Record afresh =
        gpu::score_record(*model, *rows, ladder, {prompt.tokens, {0, 1}}, 20, record.tokens);
    for (std::size_t t = 1; t <= record.tokens.size(); ++t)
      calls.caches_are_own = calls.caches_are_own &&
                             record.log_p[t - 1] == afresh.tokens().log_p(t) &&
                             std::ranges::equal(record.log_z[t - 1], afresh.tokens().log_z(t));
  }
  return calls;
}

std::vector<std::uint64_t> bits_of_run(std::size_t batch, gpu::WorkOrder order,
                                       std::size_t threads) {
  const gpu::ThreadLimit limit(threads);
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

CheckResult same_bits(const CheckContext& context) {
  const auto once =
      context.functions.of<ProgramFunctions>().bits_of_run(64, gpu::WorkOrder::first_come, 1);
  Count count;
  count.expect(!once.empty(), "the run leaves nothing");
  for (const std::size_t batch : {std::size_t{1}, std::size_t{2}, std::size_t{7}})
    for (const gpu::WorkOrder order : {gpu::WorkOrder::first_come, gpu::WorkOrder::last_come})
      for (const std::size_t threads : {std::size_t{1}, std::size_t{2}})
        count.expect(
            context.functions.of<ProgramFunctions>().bits_of_run(batch, order, threads) == once,
            "batch " + std::to_string(batch));
  CheckResult finding = count.finding("layouts of the work");
  finding.detail += ", " + std::to_string(once.size()) + " words each";
  return finding;
}

/// sec:repps-llm, (3): production asks the model for as many passes with swaps as without; local
/// moves ask for more.
CheckResult swaps_call_no_model(const CheckContext& context) {
  const std::size_t extension = context.functions.of<ProgramFunctions>().passes_of_run(0, 0);
  Count count;
  count.expect(extension > 0, "extension asks for no pass");
  for (const std::size_t sweeps : {1U, 3U, 8U})
    count.expect(context.functions.of<ProgramFunctions>().passes_of_run(0, sweeps) == extension,
                 std::to_string(sweeps) + " sweeps ask for passes");
  count.expect(context.functions.of<ProgramFunctions>().passes_of_run(2, 0) > extension,
               "local moves ask for no pass");
  CheckResult finding = count.seen("runs");
  finding.detail += ", " + std::to_string(extension) + " passes without local moves";
  return finding;
}

/// sec:repps-llm, (1): the prompt takes one pass, and each token of a record one more. Were a
/// record that has ended asked for another token, in its own block or in a later one, there would
/// be more.
CheckResult only_open_records_call(const CheckContext& context) {
  Count count;
  std::size_t early = 0, passes = 0;
  for (const std::size_t block : {4U, 7U, 20U})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const ExtensionCalls calls =
          context.functions.of<ProgramFunctions>().calls_of_extension(block, seed);
      std::size_t tokens = 0;
      for (const std::size_t length : calls.lengths) {
        tokens += length;
        early += length + block <= 20 ? 1 : 0;
      }
      passes += calls.passes;
      count.expect(calls.passes == 1 + tokens, "blocks of " + std::to_string(block) + ", seed " +
                                                   std::to_string(seed) + ": " +
                                                   std::to_string(calls.passes) + " passes for " +
                                                   std::to_string(tokens) + " tokens");
    }
  count.expect(early > 0, "no record ends a block before the horizon");
  CheckResult finding = count.seen("runs");
  if (finding.sound())
    finding.detail += ", " + std::to_string(passes) + " passes, " + std::to_string(early) +
                      " records that end a block early or more";
  return finding;
}

/// subsec:implementation-local: a restart past the terminal token issues no model call: of all
/// passes there are as many as the prompt, the extensions' tokens and those of the other moves
/// take.
CheckResult self_transition_calls(const CheckContext& context) {
  Count count;
  std::size_t unmoved = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const RefinementCalls calls =
        context.functions.of<ProgramFunctions>().calls_of_refinement(seed);
    count.expect(calls.tokens_of_those == 0, "seed " + std::to_string(seed) + ": tokens are drawn");
    count.expect(calls.passes == 1 + calls.extension_tokens + calls.move_tokens,
                 "seed " + std::to_string(seed) + ": " + std::to_string(calls.passes) +
                     " passes for " + std::to_string(calls.extension_tokens) + " and " +
                     std::to_string(calls.move_tokens) + " tokens");
    unmoved += calls.self_transitions;
  }
  count.require(unmoved > 0, "no restart is past a terminal token");
  return count.seen("counts of runs, " + std::to_string(unmoved) + " restarts past the end");
}

/// subsec:implementation-local: an accepted proposal replaces the suffix and all aligned caches, a
/// rejected one leaves them: in the end every record has the ℓ and ζ of its own tokens, bit for
/// bit.
CheckResult caches_follow_records(const CheckContext& context) {
  Count count;
  std::size_t accepted = 0, rejected = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const RefinementCalls calls =
        context.functions.of<ProgramFunctions>().calls_of_refinement(seed);
    count.expect(calls.caches_are_own, "seed " + std::to_string(seed) + ": a stale cache");
    accepted += calls.accepted;
    rejected += calls.rejected;
  }
  count.require(accepted > 0 && rejected > 0, "some kind of decision is in no run");
  return count.seen("runs, " + std::to_string(accepted) + " proposals accepted, " +
                    std::to_string(rejected) + " rejected");
}

/// subsec:implementation-swap: log p0 of a record is the sum of its cached ℓ_t. If every token
/// has probability 1/2 each ℓ_t is log 1/2 to within 2^-44 and the double's last place.
CheckResult cached_scores(const CheckContext& context) {
  Count count;
  const reference::FixedHorizonSpace space(
      reference::parse_finite_model(reference::four_state_model, "four-state"), 7);
  for (std::size_t x = 0; x < space.size(); ++x) {
    const double score =
        context.functions.of<RecordFunctions>().cached_score(space.model(), 7, space[x].tokens);
    const double exact = -std::numbers::ln2 * static_cast<double>(space[x].length());
    count.expect(std::abs(score - exact) < 7 * 0x1p-43, space.name(x));
  }
  return count.seen("records to T = 7");
}

}  // namespace

std::map<std::string, Check> bitwise_checks() {
  return {{"same_bits", same_bits},
          {"swaps_call_no_model", swaps_call_no_model},
          {"self_transition_calls", self_transition_calls},
          {"caches_follow_records", caches_follow_records},
          {"cached_scores", cached_scores},
          {"only_open_records_call", only_open_records_call}};
}

}  // namespace tempera::lab
