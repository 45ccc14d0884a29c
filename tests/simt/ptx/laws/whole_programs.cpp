// The law of what nvcc compiled: whole programs whose tokens are drawn by the PTX of the draw's
// kernels, walked by the Tree lottery. Rational for rational the law of the host's form.
#include "gpu/sampler/parallel_power_tempering.hpp"
#include "lab/laws/program_law.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"
#include "tests/simt/ptx/run_compiled.hpp"

namespace tempera::tests::ptx {
namespace {

/// Launches of compiled kernels whose name has this part.
std::uint64_t launches_of(const std::string& part) {
  std::uint64_t count = 0;
  for (const auto& [name, launched] : launches().compiled)
    if (name.find(part) != std::string::npos) count += launched;
  return count;
}

lab::WalkedProgram walk(lab::Program program, const lab::FiniteLogits& logits,
                        const lab::ProgramQuestion& question,
                        std::unique_ptr<gpu::RowLottery> rows) {
  const gpu::Ladder ladder({question.powers.begin(), question.powers.end()});
  // With room for four rows a batch, so that the rungs are drawn side by side.
  return lab::walk_program(program, logits.enumerable(), ladder, question.plan(),
                           lab::Cuts::at_every_round, 4, std::move(rows));
}

void require_the_hosts_law(lab::Program program, const std::string& model,
                           const lab::ProgramQuestion& question) {
  const lab::FiniteLogits logits(shipped(model));
  const auto host = walk(program, logits, question, gpu::make_host_row_lottery());
  const std::uint64_t draws = launches_of("draw_winner") + launches_of("write_tickets");
  const std::uint64_t sums = launches_of("sum_tickets");
  const auto compiled = walk(program, logits, question, gpu::make_cuda_row_lottery({.blocks = 2}));
  CHECK(compiled.law == host.law);
  CHECK(compiled.decode_tokens == host.decode_tokens);
  CHECK(compiled.states == host.states);
  CHECK(compiled.stale_records == 0);
  CHECK(host.law.size() > 1);
  // Every token of it was drawn by what nvcc compiled.
  CHECK(launches_of("draw_winner") + launches_of("write_tickets") > draws);
  CHECK(launches_of("sum_tickets") > sums);
  CHECK(launches().by_text.empty());
}

}  // namespace

TEST_CASE("Algorithm 1 through the PTX of the draw has the host's law, rational for rational") {
  const auto schedule = GENERATE(gpu::Schedule::adj, gpu::Schedule::deo);
  const auto powers = GENERATE(std::vector<unsigned>{3}, std::vector<unsigned>{1, 4});
  CAPTURE(powers.size(), schedule == gpu::Schedule::deo);
  const gpu::Rung output = powers.size() / 2;
  // Two stages, the counts of which all differ.
  require_the_hosts_law(gpu::parallel_power_tempering, "geometric_length",
                        {3, 2, powers, {{1, 2, 1}, {2, 1, 2}}, schedule, output});
}

TEST_CASE("Algorithm 1 with three rungs through the PTX of the draw has the host's law") {
  const auto schedule = GENERATE(gpu::Schedule::adj, gpu::Schedule::deo);
  CAPTURE(schedule == gpu::Schedule::deo);
  // A shorter horizon: with that of two rungs the walk takes a quarter of an hour, through the same
  // code.
  require_the_hosts_law(gpu::parallel_power_tempering, "geometric_length",
                        {2, 1, {1, 2, 4}, {{2, 1, 1}, {1, 1, 1}}, schedule, 1});
}

TEST_CASE("the truncating sampler through the PTX of the draw has the host's law") {
  require_the_hosts_law(gpu::truncating_power_sampling, "unequal_lengths",
                        {3, 1, {2}, {{1, 2, 1}, {2, 1, 1}, {1, 1, 1}}});
}

}  // namespace tempera::tests::ptx
