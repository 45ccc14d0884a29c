// Part 4: what cannot be enumerated, against the exact law. Chains of two rungs start at exact
// draws from π_1 × π_2 over 10^4 records, take one local move each and one swap, and must still
// have that law: one counts where they are.
#include <cmath>
#include <map>
#include <random>

#include "gpu/core/model/table_model.hpp"
#include "gpu/core/sampler/chain.hpp"
#include "gpu/core/sampler/local_move.hpp"
#include "gpu/core/sampler/score_record.hpp"
#include "gpu/core/sampler/sweep.hpp"
#include "gpu/device/device_system.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/pearson.hpp"

namespace tempera::gpu {

namespace {

constexpr std::size_t vocabulary = 10;
constexpr std::size_t horizon = 4;
constexpr std::size_t states = 10000;

std::vector<float> logits_after(std::span<const TokenId> prefix) {
  std::uint32_t row = 1;
  for (const TokenId token : prefix) row = row * 31 + token;
  std::vector<float> logits;
  for (std::uint32_t i = 0; i < vocabulary; ++i) {
    const Word word = philox({{i, row, 0, 0}}, 23);
    logits.push_back(static_cast<float>(word.limb[0] >> 8) * (1.5F / 16777216.0F));
  }
  return logits;
}

std::vector<TokenId> tokens_of(std::size_t state) {
  std::vector<TokenId> tokens(horizon);
  for (std::size_t t = horizon; t-- > 0; state /= vocabulary)
    tokens[t] = static_cast<TokenId>(state % vocabulary);
  return tokens;
}

std::size_t state_of(std::span<const TokenId> tokens) {
  std::size_t state = 0;
  for (const TokenId token : tokens) state = state * vocabulary + token;
  return state;
}

/// π_α over all records, in double: its rounding, below 1e-12, is far under what n can show.
std::vector<double> power_target(double power) {
  std::vector<double> law;
  double total = 0.0;
  for (std::size_t state = 0; state < states; ++state) {
    const std::vector<TokenId> tokens = tokens_of(state);
    double log_p = 0.0;
    for (std::size_t t = 0; t < horizon; ++t) {
      const std::vector<float> logits = logits_after(std::span(tokens).first(t));
      double z = 0.0;
      for (const float logit : logits) z += std::exp(static_cast<double>(logit));
      log_p += static_cast<double>(logits[tokens[t]]) - std::log(z);
    }
    law.push_back(std::exp(power * log_p));
    total += law.back();
  }
  for (double& p : law) p /= total;
  return law;
}

struct Detectable {
  double distance = 1.0;  ///< the smallest total variation that was seen every time
  int trials = 20;
};

/// The smallest total variation distance that n draws show in all of 20 trials, among mixtures
/// (1 − ε) π + ε π' with π' = π on a pseudo-random half of the states; 1 if they show none.
Detectable smallest_detectable(const std::vector<double>& law, std::size_t n, double bound) {
  std::mt19937_64 random(5);
  Detectable reach;
  std::vector<double> half = law;
  double kept = 0.0;
  for (std::uint32_t s = 0; s < half.size(); ++s) {
    if (philox({{s, 0, 0, 0}}, 3).limb[0] % 2 == 0) half[s] = 0.0;
    kept += half[s];
  }
  for (double part = 1.0; part > 0.01; part *= 0.8) {
    std::vector<double> mixed = law;
    double distance = 0.0;
    for (std::size_t s = 0; s < law.size(); ++s) {
      mixed[s] += part * (half[s] / kept - law[s]);
      distance += 0.5 * std::abs(mixed[s] - law[s]);
    }
    for (int trial = 0; trial < reach.trials; ++trial)
      if (pearson(counts_from(mixed, n, random), law, n) <= bound) return reach;
    reach.distance = distance;
  }
  return reach;
}

Task one_round(Chain& run, std::vector<Record>& replicas, const RestartLaw& law) {
  for (Rung k = 0; k < replicas.size(); ++k)
    co_await local_move(replicas[k], Turn(run, k, 0, Purpose::proposal_token), law);
  sweep(replicas, run, Schedule::adj, 0);
}

}  // namespace

Finding law_of_ten_thousand_states() {
  const bool on_device = device_system() == "CUDA";
  const std::size_t n = on_device ? 200000 : 40000;
  constexpr double false_alarm = 1e-3;
  constexpr std::size_t at_once = 2000;
  TableModel model(vocabulary, logits_after);
  const Ladder ladder({1.0, 2.0});
  const Context context;
  const auto restart = RestartLaw::uniform(horizon);
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  std::vector<std::vector<double>> laws;
  for (const double power : ladder.powers()) laws.push_back(power_target(power));

  std::vector<std::discrete_distribution<std::size_t>> starts;
  for (const auto& law : laws) starts.emplace_back(law.begin(), law.end());

  std::map<std::size_t, Record> scored;
  const auto record_of = [&](std::size_t state) {
    auto at = scored.find(state);
    if (at == scored.end())
      at = scored
               .emplace(state,
                        score_record(model, *rows, ladder, context, horizon, tokens_of(state)))
               .first;
    return at->second.copy();
  };
  std::mt19937_64 random(11);
  std::vector<std::vector<std::uint64_t>> counts(2, std::vector<std::uint64_t>(states));
  std::size_t swapped = 0;
  std::size_t accepted = 0;
  for (std::size_t done = 0; done < n; done += at_once) {
    Engine engine(model, *rows, lottery, 256);
    std::vector<Chain> runs;
    std::vector<std::vector<Record>> chains;
    for (std::size_t i = 0; i < at_once; ++i) {
      Chain run{engine, context, ladder, 17};
      run.sample_index = static_cast<std::uint32_t>(done + i);
      runs.push_back(run);
      std::vector<Record> replicas;
      for (auto& start : starts) replicas.push_back(record_of(start(random)));
      chains.push_back(std::move(replicas));
    }
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < at_once; ++i)
      tasks.push_back(one_round(runs[i], chains[i], restart));
    engine.run(tasks);
    for (std::size_t i = 0; i < at_once; ++i) {
      for (Rung k = 0; k < 2; ++k) ++counts[k][state_of(chains[i][k].token_ids())];
      for (const Event& event : runs[i].events) {
        swapped += event.kind == Event::Kind::swap && event.accepted ? 1U : 0U;
        accepted += event.kind == Event::Kind::local_move && event.accepted ? 1U : 0U;
      }
    }
  }
  Finding finding;
  finding.verdict = Finding::Verdict::holds;
  finding.numbers = {{"states", states},
                     {"chains", n},
                     {"accepted_moves", accepted},
                     {"swaps", swapped},
                     {"false_alarm", 2 * false_alarm}};
  for (Rung k = 0; k < 2; ++k) {
    const double bound = pearson_bound(laws[k], n, false_alarm);
    const double statistic = pearson(counts[k], laws[k], n);
    const Detectable reach = smallest_detectable(laws[k], n, bound);
    if (!(statistic <= bound)) finding.verdict = Finding::Verdict::fails;
    finding.numbers["rungs"].push_back({{"power", ladder.powers()[k]},
                                        {"statistic", statistic},
                                        {"bound", bound},
                                        {"smallest_detectable_tv", reach.distance},
                                        {"power_at_it", "20 of 20 trials, above 0.86 at 95 %"}});
  }
  if (swapped == 0 || accepted == 0) finding.verdict = Finding::Verdict::fails;
  char words[160];
  std::snprintf(words, sizeof words,
                "Pearson %.0f and %.0f, bounds %.0f and %.0f (false alarm 2e-3, proved); sees TV "
                "%.3f and %.3f",
                finding.numbers["rungs"][0]["statistic"].get<double>(),
                finding.numbers["rungs"][1]["statistic"].get<double>(),
                finding.numbers["rungs"][0]["bound"].get<double>(),
                finding.numbers["rungs"][1]["bound"].get<double>(),
                finding.numbers["rungs"][0]["smallest_detectable_tv"].get<double>(),
                finding.numbers["rungs"][1]["smallest_detectable_tv"].get<double>());
  finding.words = words;
  return finding;
}

}  // namespace tempera::gpu
