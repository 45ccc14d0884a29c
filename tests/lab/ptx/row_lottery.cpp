// The law of what nvcc compiled: tokens are drawn by the PTX of the draw's kernels, and the Tree
// lottery walks the program. Rational for rational the law of the host's form.
#include "lab/ptx/row_lottery.hpp"

#include "gpu/core/sampler/exact_rejection.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/device/simt/fiber_threads.hpp"
#include "lab/enumerate/compiled_kernel.hpp"
#include "lab/laws/program_law.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::lab::ptx {
namespace {

WalkedProgram walk(Program program, const FiniteLogits& logits, const ProgramQuestion& question,
                   std::unique_ptr<gpu::RowLottery> rows) {
  const gpu::Ladder ladder({question.powers.begin(), question.powers.end()});
  // With room for four rows a batch, so that the rungs are drawn side by side.
  return walk_program(program, logits.enumerable(), ladder, question.plan(), Cuts::at_every_round,
                      4, std::move(rows));
}

void require_the_hosts_law(Program program, const std::string& model,
                           const ProgramQuestion& question) {
  const FiniteLogits logits(shipped(model));
  const auto host = walk(program, logits, question, gpu::make_host_row_lottery());
  const std::uint64_t launches = draw_launches();
  const auto compiled = walk(program, logits, question, make_row_lottery());
  CHECK(compiled.law == host.law);
  CHECK(compiled.decode_tokens == host.decode_tokens);
  CHECK(compiled.states == host.states);
  CHECK(compiled.stale_records == 0);
  CHECK(host.law.size() > 1);
  CHECK(draw_launches() > launches + 100);
}

}  // namespace

TEST_CASE("local moves and swaps through the PTX of the draw have the host's rational matrix") {
  const FiniteLogits logits(shipped("four_state"));
  const CompiledSpace space(logits.enumerable(), 2);
  const gpu::Ladder ladder({1.0, 2.5});
  const auto restart = gpu::RestartLaw::uniform(2);
  CompiledKernel<> host(space, ladder, restart, gpu::make_host_row_lottery());
  CompiledKernel<> compiled(space, ladder, restart, make_row_lottery());
  const std::uint64_t launches = draw_launches();
  for (gpu::Rung k = 0; k < 2; ++k) CHECK(compiled.local_move(k) == host.local_move(k));
  CHECK(compiled.local_move(0) != host.local_move(1));
  CHECK(compiled.swap(0) == host.swap(0));
  CHECK(compiled.stale().empty());
  CHECK(draw_launches() > launches + 100);
}

TEST_CASE("what is not the draw's own runs its text, before and after a draw of PTX") {
  const auto before = gpu::simt::find_compiled_kernel;
  const std::vector<float> row{0.5F, -1.0F, 2.0F};
  gpu::DeviceMemory<float> logits(row);
  const std::vector<double> powers{1.0, 3.0};
  const auto compiled = make_row_lottery()->log_normalizers(logits, 3, 1, powers);
  CHECK(compiled == gpu::make_host_row_lottery()->log_normalizers(logits, 3, 1, powers));
  const gpu::RowToken given{powers, 2};
  CHECK(make_row_lottery()->score(logits, 3, {&given, 1}) ==
        gpu::make_host_row_lottery()->score(logits, 3, {&given, 1}));
  CHECK(gpu::simt::find_compiled_kernel == before);
}

TEST_CASE("proposals of exact rejection through the PTX of the draw have the host's law") {
  const FiniteLogits logits(shipped("late_payoff"));
  const gpu::Ladder ladder({2.5});
  gpu::Plan plan{gpu::make_stages(3, 3, {1}, {1}, {1})};
  plan.until_kept = true;
  // Room for a second proposal if the first dies before its third token, and for a third if both
  // die before their first.
  plan.most_tokens = 5;
  const auto walk = [&](std::unique_ptr<gpu::RowLottery> rows) {
    return walk_program(gpu::exact_rejection<>, logits.enumerable(), ladder, plan,
                        Cuts::at_every_round, 1, std::move(rows));
  };
  const WalkedProgram host = walk(gpu::make_host_row_lottery());
  const std::uint64_t launches = draw_launches();
  const WalkedProgram compiled = walk(make_row_lottery());
  CHECK(compiled.law == host.law);
  CHECK(compiled.decode_tokens == host.decode_tokens);
  CHECK(compiled.states == host.states);
  CHECK(compiled.stale_records == 0);
  CHECK(host.law.size() > 3);
  CHECK(draw_launches() > launches + 20);
}

// Those take minutes: ./test --all asks for them by their tag.
TEST_CASE("Algorithm 1 through the PTX of the draw has the host's law", "[.ptx]") {
  const auto schedule = GENERATE(gpu::Schedule::adj, gpu::Schedule::deo);
  const auto powers = GENERATE(std::vector<unsigned>{3}, std::vector<unsigned>{1, 4});
  CAPTURE(powers.size(), schedule == gpu::Schedule::deo);
  const gpu::Rung output = powers.size() / 2;
  // Two stages, the counts of which all differ.
  require_the_hosts_law(gpu::parallel_power_tempering, "geometric_length",
                        {3, 2, powers, {{1, 2, 1}, {2, 1, 2}}, schedule, output});
}

TEST_CASE("Algorithm 1 with three rungs through the PTX of the draw has the host's law", "[.ptx]") {
  const auto schedule = GENERATE(gpu::Schedule::adj, gpu::Schedule::deo);
  CAPTURE(schedule == gpu::Schedule::deo);
  // A shorter horizon: with that of two rungs the walk takes a quarter of an hour, through the same
  // code.
  require_the_hosts_law(gpu::parallel_power_tempering, "geometric_length",
                        {2, 1, {1, 2, 4}, {{2, 1, 1}, {1, 1, 1}}, schedule, 1});
}

TEST_CASE("the truncating sampler through the PTX of the draw has the host's law", "[.ptx]") {
  require_the_hosts_law(gpu::truncating_power_sampling, "unequal_lengths",
                        {3, 1, {2}, {{1, 2, 1}, {2, 1, 1}, {1, 1, 1}}});
}

}  // namespace tempera::lab::ptx
