// How soon two runs of certify-run meet if they share the words of their draws, and if their tokens
// or their whole local moves are coupled maximally instead: of finite models the mean number of
// rounds until they do, and the bound after four rounds, at a lag of four. The table is that of
// docs/reference/certify_run.md.
//
// bench_couplings [PAIRS ROUNDS]: then so many pairs of worked_sum too, whose second run is drawn
// both ways.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "gpu/core/engine/engine.hpp"
#include "gpu/core/lottery/selecting_word.hpp"
#include "gpu/core/lottery/winner.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/sampler/score_record.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "lab/contest/coupled_moves.hpp"

using namespace tempera;

namespace {

/// Rows that a small generator scatters, each probability a square of 1 to 16 over their sum: laws
/// that differ after every prefix.
reference::FiniteModel scattered(std::size_t tokens, std::size_t horizon) {
  std::vector<std::string> names;
  for (std::size_t v = 0; v < tokens; ++v) names.emplace_back(1, static_cast<char>('a' + v));
  reference::FiniteModelParts parts{.name = "scattered",
                                    .vocabulary = {names, "scattered"},
                                    .terminal = {static_cast<reference::Token>(tokens - 1)},
                                    .next = {},
                                    .default_row = std::nullopt};
  std::uint64_t state = 1;
  std::vector<std::vector<reference::Token>> open{{}};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::vector<reference::Token> prefix = open[i];
    std::vector<std::uint64_t> weights;
    std::uint64_t all = 0;
    for (std::size_t v = 0; v < tokens; ++v) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const std::uint64_t root = 1 + (state >> 60);
      all += weights.emplace_back(root * root);
    }
    for (const std::uint64_t weight : weights) parts.next[prefix].emplace_back(weight, all);
    for (std::size_t v = 0; v + 1 < tokens && prefix.size() + 1 < horizon; ++v) {
      open.push_back(prefix);
      open.back().push_back(static_cast<reference::Token>(v));
    }
  }
  return {std::move(parts), "scattered"};
}

void print_finite() {
  std::printf("| model | T | powers | words | tokens | moves |\n|---|---|---|---|---|---|\n");
  constexpr std::size_t lag = 4;
  struct Case {
    const char* model;
    std::size_t horizon;
    const char* powers;
  };
  for (const auto& [name, horizon, powers] :
       {Case{"bimodal", 4, "4"}, Case{"bimodal", 4, "1,4"}, Case{"late_payoff", 5, "4"},
        Case{"late_payoff", 5, "1,4"}, Case{"never_ends", 3, "1,2"}, Case{"ties", 3, "1,3"},
        Case{"", 3, "3"}, Case{"", 2, "1,3"}}) {
    const std::string file(name);
    const auto model =
        file.empty()
            ? scattered(4, horizon)
            : reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/" + file + ".json");
    const reference::FixedHorizonSpace space(model, horizon);
    std::printf("| %s | %zu | %s |", file.empty() ? "scattered" : ("`" + file + "`").c_str(),
                horizon, powers);
    for (const lab::Coupling way :
         {lab::Coupling::words, lab::Coupling::tokens, lab::Coupling::moves}) {
      const auto apart =
          lab::meeting_law(space, reference::parse_ladder(powers, "powers"), way, lag, 1e-9);
      double rounds = 0.0;
      for (const double share : apart) rounds += share;
      std::printf(" %.4f, %.4f |", rounds, lab::bound_of(apart, lag, lag));
    }
    std::printf("\n");
  }
}

using Address = std::array<std::uint32_t, 4>;

/// Draws by address, and keeps the tickets.
class Remembering final : public gpu::Lottery {
 public:
  std::map<Address, std::vector<std::uint64_t>> tickets_at;
  gpu::Word word(std::span<const std::uint64_t> tickets, const gpu::Draw& draw) override {
    tickets_at[std::to_array(gpu::counter_of(draw.address).limb)].assign(tickets.begin(),
                                                                         tickets.end());
    return philox_.word(tickets, draw);
  }

 private:
  gpu::PhiloxLottery philox_;
};

/// Couples each draw maximally with the one that was remembered at its address.
class Maximal final : public gpu::Lottery {
 public:
  explicit Maximal(const Remembering& ahead) : ahead_(ahead) {}
  std::size_t differing = 0;  ///< draws whose laws differ
  std::size_t changed = 0;    ///< that the shared word would have decided otherwise

  gpu::Word word(std::span<const std::uint64_t> tickets, const gpu::Draw& draw) override {
    const gpu::Word shared = philox_.word(tickets, draw);
    const auto found = ahead_.tickets_at.find(std::to_array(gpu::counter_of(draw.address).limb));
    if (found == ahead_.tickets_at.end() || std::ranges::equal(found->second, tickets))
      return shared;
    ++differing;
    const std::vector<std::uint64_t>& other = found->second;
    const auto p_all = static_cast<double>(gpu::total_of(other));
    const auto q_all = static_cast<double>(gpu::total_of(tickets));
    const auto q = [&](std::size_t v) { return static_cast<double>(tickets[v]) / q_all; };
    const auto p = [&](std::size_t v) { return static_cast<double>(other[v]) / p_all; };
    const std::uint64_t threshold = gpu::threshold_of(shared, gpu::total_of(other));
    std::size_t winner = gpu::winner_of(other.data(), other.size(), threshold);
    std::uint64_t before = 0;
    for (std::size_t v = 0; v < winner; ++v) before += other[v];
    // The word's place within the winner's tickets is uniform.
    if (static_cast<double>(threshold - before) / p_all >= q(winner)) {
      gpu::Draw again = draw;
      again.seed ^= 0x9e3779b97f4a7c15U;
      const gpu::Word fresh = philox_.word(tickets, again);
      double left = 0.0;
      for (std::size_t v = 0; v < tickets.size(); ++v) left += std::max(0.0, q(v) - p(v));
      left *= (static_cast<double>(fresh.limb[3]) + 0.5) * 0x1p-32;
      for (winner = 0; winner + 1 < tickets.size(); ++winner)
        if ((left -= std::max(0.0, q(winner) - p(winner))) < 0.0) break;
      while (tickets[winner] == 0) --winner;
    }
    const std::uint64_t alone = gpu::threshold_of(shared, gpu::total_of(tickets));
    if (gpu::winner_of(tickets.data(), tickets.size(), alone) != winner) ++changed;
    std::uint64_t least = 0;
    for (std::size_t v = 0; v < winner; ++v) least += tickets[v];
    return gpu::least_word(least, gpu::total_of(tickets));
  }

 private:
  const Remembering& ahead_;
  gpu::PhiloxLottery philox_;
};

using States = std::vector<std::vector<std::vector<gpu::TokenId>>>;

struct Kept final : gpu::Observer {
  States states;
  void round_ended(const gpu::Progress& progress, std::span<const gpu::Event>) override {
    auto& state = states.emplace_back();
    for (const gpu::Record& record : progress.replicas) state.push_back(record.token_ids());
  }
};

/// Runs that share passes, each from its progress.
std::vector<States> run(gpu::LanguageModel& model, gpu::Lottery& lottery,
                        const gpu::Context& context, const gpu::Ladder& ladder,
                        const gpu::Plan& plan, const std::vector<std::uint32_t>& samples,
                        std::vector<gpu::Progress> progress) {
  const auto rows = gpu::make_device_row_lottery();
  gpu::Engine engine(model, *rows, lottery, 256);
  std::vector<gpu::Chain> chains;
  chains.reserve(samples.size());
  for (const std::uint32_t sample : samples)
    chains.push_back({.engine = engine,
                      .context = context,
                      .ladder = ladder,
                      .seed = 1,
                      .sample_index = sample});
  std::vector<Kept> kept(samples.size());
  std::vector<gpu::Task> tasks;
  for (std::size_t i = 0; i < samples.size(); ++i)
    tasks.push_back(gpu::parallel_power_tempering(chains[i], plan, progress[i], &kept[i]));
  engine.run(tasks);
  std::vector<States> states;
  for (Kept& of_one : kept) states.push_back(std::move(of_one.states));
  return states;
}

void print_worked_sum(std::size_t pairs, std::size_t rounds) {
  constexpr std::size_t horizon = 28;
  constexpr std::size_t lag = 20;
  const gpu::OpenedModel opened =
      gpu::OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  const gpu::Context context{opened.encode("4+7+9+3+8+6+2+5?", "prompt"), opened.terminal()};
  const gpu::Ladder ladder({1.0, 1.6, 2.5, 4.0});
  const auto plan_of = [&](std::size_t count) {
    return gpu::Plan{gpu::make_stages(horizon, horizon, {count}, {1}, {1}), gpu::Schedule::adj, 3};
  };
  std::vector<std::uint32_t> ahead(pairs);
  std::vector<std::uint32_t> behind(pairs);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    ahead[i] = 2 * i;
    behind[i] = 2 * i + 1;
  }
  const auto fresh = [&] { return std::vector<gpu::Progress>(pairs); };
  Remembering remembering;
  const auto x = run(opened.model(), remembering, context, ladder, plan_of(rounds), ahead, fresh());
  gpu::PhiloxLottery by_address;
  const auto starts = run(opened.model(), by_address, context, ladder, plan_of(0), behind, fresh());
  const auto rows = gpu::make_device_row_lottery();
  Maximal maximal(remembering);
  for (gpu::Lottery* lottery :
       {static_cast<gpu::Lottery*>(&by_address), static_cast<gpu::Lottery*>(&maximal)}) {
    std::vector<gpu::Progress> progress(pairs);
    for (std::size_t i = 0; i < pairs; ++i) {
      for (const auto& tokens : starts[i].front())
        progress[i].replicas.push_back(
            gpu::score_record(opened.model(), *rows, ladder, context, horizon, tokens));
      progress[i].extended = true;
      progress[i].round = progress[i].local_moves = progress[i].sweeps = lag;
    }
    const auto y =
        run(opened.model(), *lottery, context, ladder, plan_of(rounds), ahead, std::move(progress));
    std::vector<std::size_t> meetings;
    for (std::size_t i = 0; i < pairs; ++i) {
      std::size_t r = lag;
      if (x[i][lag] != starts[i].front())
        while (++r <= rounds && x[i][r] != y[i][r - lag - 1]) {
        }
      if (r <= rounds) meetings.push_back(r - lag);
    }
    std::ranges::sort(meetings);
    double sum = 0.0;
    for (const std::size_t meeting : meetings) sum += static_cast<double>(meeting);
    std::printf("worked_sum, %s: %zu of %zu met; mean %.1f, median %zu, last %zu rounds\n",
                lottery == &maximal ? "tokens" : "words", meetings.size(), pairs,
                sum / static_cast<double>(meetings.size()), meetings[meetings.size() / 2],
                meetings.back());
  }
  std::printf("laws differed in %zu draws; maximal coupling took another winner in %zu\n",
              maximal.differing, maximal.changed);
}

}  // namespace

int main(int count, char** arguments) {
  print_finite();
  if (count > 2)
    print_worked_sum(std::strtoul(arguments[1], nullptr, 10),
                     std::strtoul(arguments[2], nullptr, 10));
}
