// Part 3: every tape of a finite model, through the device's draw and through the host's.
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "lab/enumerate/compiled_kernel.hpp"
#include "reference/model/finite_model.hpp"
#include "tests/devices/part.hpp"

namespace tempera::gpu {

namespace {

/// The paper's four-state model, written here so that a carried program needs no file.
reference::FiniteModel four_states() {
  return reference::parse_finite_model(
      R"({"name": "four-state", "vocabulary": ["a", "e"], "terminal": ["e"],
          "next": {"": {"a": "1/2", "e": "1/2"}, "a": {"a": "1/3", "e": "2/3"}},
          "default": {"a": "1/2", "e": "1/2"}})",
      "four-state");
}

}  // namespace

Finding tapes_against_host() {
  const reference::FiniteModel model = four_states();
  const lab::FiniteLogits logits(model);
  const std::size_t horizon = 2;
  const lab::CompiledSpace space(logits.enumerable(), horizon);
  const Ladder ladder({1.0, 2.0, 3.5});
  const auto restart = RestartLaw::uniform(horizon);
  lab::CompiledKernel<> host(space, ladder, restart, make_host_row_lottery());
  lab::CompiledKernel<> device(space, ladder, restart, make_cuda_row_lottery());
  std::size_t entries = 0;
  std::size_t different = 0;
  const auto compare = [&](const lab::Matrix& one, const lab::Matrix& other) {
    for (std::size_t i = 0; i < one.rows(); ++i)
      for (std::size_t j = 0; j < one.columns(); ++j, ++entries)
        if (one(i, j) != other(i, j)) ++different;
  };
  std::vector<lab::Matrix> moves;
  std::vector<lab::Matrix> swaps;
  for (Rung k = 0; k < ladder.rungs(); ++k) {
    moves.push_back(device.local_move(k));
    compare(moves[k], host.local_move(k));
  }
  for (Rung k = 0; k + 1 < ladder.rungs(); ++k) {
    swaps.push_back(device.swap(k));
    compare(swaps[k], host.swap(k));
  }
  // A whole round of Algorithm 1 as one program, its rows drawn in batches.
  const lab::Matrix whole = lab::joint_step(moves, swaps);
  const std::size_t states = space.size();
  const std::vector<std::size_t> from{0, states - 1, 1};
  const auto row = device.joint_row(from, [](Chain& run, std::vector<Record>& replicas) {
    const Plan plan{{{2, 1, 1, 1}}, Schedule::adj, 0};
    Progress progress{{}, std::move(replicas)};
    std::vector<Task> tasks;
    tasks.push_back(parallel_power_tempering(run, plan, progress));
    run.engine.run(tasks);
    replicas = std::move(progress.replicas);
  });
  for (std::size_t next = 0; next < row.size(); ++next, ++entries)
    if (row[next] != whole((from[0] * states + from[1]) * states + from[2], next)) ++different;
  const std::size_t stale = device.stale().size();
  Finding finding;
  finding.verdict = different == 0 && stale == 0 && entries > 0 ? Finding::Verdict::holds
                                                                : Finding::Verdict::fails;
  finding.words = std::to_string(different) + " of " + std::to_string(entries) +
                  " rational probabilities differ from the host's; " + std::to_string(stale) +
                  " stale records";
  finding.numbers = {{"entries", entries}, {"different", different}, {"stale", stale}};
  return finding;
}

}  // namespace tempera::gpu
