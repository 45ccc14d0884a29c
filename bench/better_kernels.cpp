// Error removed per decode token, exactly, by kernels of one law: on every use of the shipped
// models that is small enough, each kernel spends the decode tokens that four moves of the paper's
// are expected to take. Rationals to the end; nothing here depends on the machine.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "lab/contest/kernel_comparison.hpp"
#include "lab/laws/shipped_models.hpp"
#include "reference/kernels/decode_tokens.hpp"
#include "reference/kernels/delayed_rejection_kernel.hpp"
#include "reference/kernels/several_proposals_kernel.hpp"

using namespace tempera;
using lab::ComparedKernel;
using lab::KernelFigures;
using lab::LocalKernel;
using reference::FixedHorizonSpace;
using reference::Power;
using reference::Rational;
using reference::RestartLaw;
using reference::RestartRange;

namespace {

constexpr std::size_t most_states = 64;      // joint ones
constexpr std::size_t longest_horizon = 12;  // beyond, fractions are too long for a bench

double decimal(const Rational& value) { return value.convert_to<double>(); }

ComparedKernel delayed_rejection(const char* name, reference::SecondRestart second) {
  return {name, [second](const FixedHorizonSpace& space, const Power& power) {
            const RestartLaw restart = RestartLaw::uniform(space.horizon());
            return LocalKernel{delayed_rejection_kernel(space, power, restart, second),
                               delayed_rejection_tokens(space, power, restart, second)};
          }};
}

ComparedKernel several_proposals(const char* name, std::size_t proposals) {
  return {name, [proposals](const FixedHorizonSpace& space, const Power& power) {
            const RestartLaw restart = RestartLaw::uniform(space.horizon());
            LocalKernel local{several_proposals_kernel(space, power, restart, proposals), {}};
            reference::DecodeTokens tokens(space.model(), power);
            for (std::size_t x = 0; x < space.size(); ++x)
              local.tokens.push_back(Rational(proposals) * tokens.local_move(space[x], restart));
            return local;
          }};
}

std::vector<ComparedKernel> kernels_for(const lab::KernelContest& contest) {
  const auto weighted = [weights = equilibrium_weights(contest)](std::size_t horizon) {
    return RestartLaw::in_parts(weights, horizon);
  };
  const auto full = [](std::size_t horizon) {
    std::vector<Rational> law(horizon, Rational(0));
    law.front() = 1;
    return RestartLaw(law);
  };
  std::vector<ComparedKernel> kernels{
      lab::paper_kernel(),
      lab::restart_kernel("range record", RestartLaw::uniform, RestartRange::record),
      lab::restart_kernel("pilot weights", weighted, RestartRange::horizon),
      lab::restart_kernel("weights, record", weighted, RestartRange::record),
      lab::restart_kernel("position 1 alone", full, RestartRange::horizon),
      delayed_rejection("second try, same r", reference::SecondRestart::same),
      delayed_rejection("second try, later", reference::SecondRestart::later),
      several_proposals("2 proposals", 2),
      several_proposals("4 proposals", 4)};
  if (contest.ladder.rungs() > 1) {
    kernels.push_back(lab::paper_kernel(reference::Schedule::deo));
    kernels.back().name = "schedule deo";
  }
  return kernels;
}

/// What is said of a kernel over all uses: how often it removes more error than the paper's, and by
/// which factors.
struct Ratios {
  std::vector<double> removed, gap;
  void print(const std::string& name) const {
    double least = removed.front(), most = removed.front(), logs = 0.0;
    std::size_t better = 0;
    for (const double ratio : removed) {
      least = std::min(least, ratio);
      most = std::max(most, ratio);
      logs += std::log(std::max(ratio, 1e-12));
      if (ratio > 1.0) ++better;
    }
    std::printf("  %-20s %3zu of %-3zu  %8.3f %8.3f %8.3f", name.c_str(), better, removed.size(),
                least, std::exp(logs / static_cast<double>(removed.size())), most);
    double gaps = 0.0;
    for (const double ratio : gap) gaps += std::log(ratio);
    if (!gap.empty()) std::printf("  %8.3f", std::exp(gaps / static_cast<double>(gap.size())));
    std::printf("\n");
  }
};

void compare(const lab::ShippedUse& use, const reference::Ladder& ladder, const std::string& powers,
             std::map<std::string, Ratios>& chains, std::map<std::string, Ratios>& ladders,
             std::vector<std::string>& order) {
  const FixedHorizonSpace space = use.space();
  const lab::KernelContest contest{space, ladder};
  const auto comparison = lab::compare_kernels(contest, kernels_for(contest));
  const lab::KernelFigures& paper = comparison.rows.front();
  const double budget = decimal(comparison.budget);
  const double start = decimal(comparison.tv_start);
  std::printf("%s, T = %zu, powers %s: %zu records, %.4g tokens, TV at the start %.4g\n",
              use.name.c_str(), use.horizon, powers.c_str(), space.size(), budget, start);
  if (comparison.tv_start == paper.tv) {
    std::printf("  nothing to remove\n");
    return;
  }
  std::printf("  %-20s %8s %6s %11s %14s %8s %8s\n", "kernel", "tokens", "moves", "TV",
              "removed/token", "ratio", "gap/tok.");
  for (const lab::KernelFigures& row : comparison.rows) {
    const Rational ratio = (comparison.tv_start - row.tv) / (comparison.tv_start - paper.tv);
    std::printf("  %-20s %8.4f %6zu %11.5g %14.5g %8.3f", row.name.c_str(), decimal(row.tokens),
                row.moves, decimal(row.tv), (start - decimal(row.tv)) / budget, decimal(ratio));
    auto& ratios = (ladder.rungs() > 1 ? ladders : chains)[row.name];
    if (ratios.removed.empty() && &row != &paper &&
        std::find(order.begin(), order.end(), row.name) == order.end())
      order.push_back(row.name);
    ratios.removed.push_back(decimal(ratio));
    if (row.gap && paper.gap && paper.gap->lower > 0) {
      const double of_gap = decimal(row.gap->lower) / decimal(row.tokens) * decimal(paper.tokens) /
                            decimal(paper.gap->lower);
      std::printf(" %8.3f", of_gap);
      if (of_gap > 0) ratios.gap.push_back(of_gap);
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main() {
  std::map<std::string, Ratios> chains, ladders;
  std::vector<std::string> order;
  std::set<std::string> done;
  for (const lab::ShippedUse& use : lab::read_shipped_uses(TEMPERA_SOURCE_DIR)) {
    if (!use.restart.empty() || use.horizon > longest_horizon) continue;
    const std::size_t records = use.space().size();
    const auto run = [&](const reference::Ladder& ladder, const std::string& powers) {
      std::size_t states = 1;
      for (std::size_t k = 0; k < ladder.rungs(); ++k) states *= records;
      const std::string key = use.name + " " + std::to_string(use.horizon) + " " + powers;
      if (states > most_states || records < 2 || !done.insert(key).second) return;
      compare(use, ladder, powers, chains, ladders, order);
    };
    run(reference::Ladder({Power(Rational(use.power))}), std::to_string(use.power));
    std::string powers;
    for (const unsigned power : use.powers)
      powers += (powers.empty() ? "" : ",") + std::to_string(power);
    if (use.powers.size() > 1) run(use.ladder(), powers);
  }
  const auto summary = [&](const char* title, const std::map<std::string, Ratios>& of) {
    std::printf("\n%s: error removed at the same decode tokens, over the paper's kernel\n", title);
    std::printf("  %-20s %-10s  %8s %8s %8s  %8s\n", "kernel", "better in", "least", "mean", "most",
                "mean gap");
    for (const std::string& name : order)
      if (of.contains(name)) of.at(name).print(name);
  };
  summary("one rung", chains);
  summary("ladders, at the last rung", ladders);
}
