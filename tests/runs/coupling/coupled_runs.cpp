#include "runs/coupling/coupled_runs.hpp"

#include <cmath>
#include <span>

#include "base/error.hpp"
#include "gpu/session/session.hpp"
#include "runs/coupling/certificate.hpp"
#include "tests/bad_input.hpp"
#include "tests/gpu/core/sampler/small_run.hpp"

namespace tempera::gpu {
namespace {

/// An answer by its tokens alone: many records are one, and many are not.
bool begins_high(std::span<const TokenId> tokens) { return !tokens.empty() && tokens.front() >= 3; }

/// Records of at most three of five tokens, token 0 ending one: few enough that runs meet.
SampleRequest coupled_request(std::size_t rounds, std::size_t block = 3) {
  SampleRequest request;
  request.ladder = Ladder({1.0, 2.0});
  request.plan = {make_stages(3, block, {rounds}, {1}, {1}), Schedule::adj, 1};
  request.terminal = {0};
  request.prompt = {2, 3};
  request.seed = 11;
  return request;
}

CouplingSettings coupling_settings(std::size_t rounds, std::size_t lag, std::size_t block = 3) {
  CouplingSettings settings;
  settings.request = coupled_request(rounds, block);
  settings.lag = lag;
  settings.pairs = 12;
  settings.most_rounds = 400;
  settings.is_answer = begins_high;
  return settings;
}

/// The states of one whole sample by round of the last stage.
class States final : public Listener {
 public:
  std::vector<std::vector<std::vector<TokenId>>> states;
  std::vector<CoupledValue> values;
  explicit States(const Plan& plan) : plan_(plan) {}
  void round_ended(RequestId, std::size_t, const Progress& progress,
                   std::span<const Event>) override {
    if (progress.stage + 1 < plan_.stages.size()) return;
    auto& state = states.emplace_back();
    for (const Record& record : progress.replicas) state.push_back(record.token_ids());
    const Record& record = progress.replicas.at(plan_.output);
    values.push_back({record.log_p0(), static_cast<double>(record.length()),
                      begins_high(record.token_ids()) ? 1.0 : 0.0});
  }
  void answered(RequestId, std::size_t, const Answer&) override {}
  void failed(RequestId, std::size_t, const std::exception_ptr& why) override {
    std::rethrow_exception(why);
  }

 private:
  const Plan& plan_;
};

States run_alone(LanguageModel& model, const SampleRequest& request, std::size_t sample,
                 std::size_t rounds) {
  SampleRequest whole = request;
  whole.first_sample = sample;
  whole.plan.stages.back().rounds = rounds;
  States states(request.plan);
  Session session(model);
  session.submit(whole, states);
  while (session.step()) {
  }
  return states;
}

bool are_equal(const CoupledValue& a, const CoupledValue& b) {
  return a.log_p0 == b.log_p0 && a.length == b.length && a.answer == b.answer;
}

}  // namespace

TEST_CASE(
    "the run ahead of a pair is the program's own, bit for bit, and so is the other's start") {
  TableModel model = scattered_table(5, 3);
  for (const std::size_t block : {3U, 2U})
    for (const std::size_t lag : {1U, 3U, 7U}) {
      const CouplingSettings settings = coupling_settings(4, lag, block);
      const auto pairs = run_coupled(model, settings);
      REQUIRE(pairs.size() == 12);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        INFO("block " << block << ", lag " << lag << ", pair " << i);
        REQUIRE(pairs[i].meeting);
        REQUIRE(*pairs[i].meeting >= lag);
        REQUIRE(pairs[i].ahead.size() > std::max(*pairs[i].meeting, 4 + lag - 1));
        REQUIRE(pairs[i].behind.size() == *pairs[i].meeting - lag + 1);
        const States alone = run_alone(model, settings.request, 2 * i, pairs[i].ahead.size() - 1);
        for (std::size_t r = 0; r < pairs[i].ahead.size(); ++r)
          REQUIRE(are_equal(pairs[i].ahead[r], alone.values.at(r)));
        const States start = run_alone(model, settings.request, 2 * i + 1, 0);
        REQUIRE(are_equal(pairs[i].behind.front(), start.values.front()));
        // After the meeting both have the same record, before it some other state than X's.
        REQUIRE(are_equal(pairs[i].behind.back(), pairs[i].ahead.at(*pairs[i].meeting)));
      }
    }
}

TEST_CASE("the run behind goes on from its own start with the other's words, by a naive replay") {
  TableModel model = scattered_table(5, 8);
  const CouplingSettings settings = coupling_settings(2, 3);
  const auto pairs = run_coupled(model, settings);
  std::size_t apart = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    SampleRequest request = settings.request;
    request.plan.stages.back().rounds = 60;
    const States ahead = run_alone(model, request, 2 * i, 60);
    const States start = run_alone(model, request, 2 * i + 1, 0);

    // Algorithm 1's rounds by hand, each with the words of sample 2i after round 3.
    Context context{request.prompt, request.terminal};
    PhiloxLottery lottery;
    SmallRun by_hand(model, context, request.ladder.powers(), lottery, request.seed);
    by_hand.run.sample_index = static_cast<std::uint32_t>(2 * i);
    Progress progress;
    for (const auto& tokens : start.states.front())
      progress.replicas.push_back(by_hand.scored(3, tokens));
    progress.extended = true;
    progress.round = progress.local_moves = progress.sweeps = 3;
    States behind(request.plan);
    struct Kept final : Observer {
      States* states = nullptr;
      void round_ended(const Progress& now, std::span<const Event> events) override {
        static_cast<Listener*>(states)->round_ended(0, 0, now, events);
      }
    } kept;
    kept.states = &behind;
    by_hand.finish(parallel_power_tempering(by_hand.run, request.plan, progress, &kept));

    std::optional<std::size_t> meeting;
    if (ahead.states.at(3) == start.states.front()) meeting = 3;
    for (std::size_t r = 4; r <= 60 && !meeting; ++r)
      if (ahead.states.at(r) == behind.states.at(r - 4)) meeting = r;
    REQUIRE(pairs[i].meeting == meeting);
    for (std::size_t t = 1; t < pairs[i].behind.size(); ++t)
      REQUIRE(are_equal(pairs[i].behind[t], behind.values.at(t - 1)));
    if (*meeting > 3) ++apart;
  }
  REQUIRE(apart >= 3);
}

TEST_CASE("batch, room and the number of pairs change no pair") {
  TableModel model = scattered_table(5, 3);
  CouplingSettings settings = coupling_settings(4, 3);
  const auto pairs = run_coupled(model, settings);
  settings.session.largest_batch = 1;
  settings.session.in_flight = 1;
  settings.pairs = 5;
  const auto fewer = run_coupled(model, settings);
  for (std::size_t i = 0; i < fewer.size(); ++i) {
    REQUIRE(fewer[i].meeting == pairs[i].meeting);
    REQUIRE(fewer[i].ahead.size() == pairs[i].ahead.size());
  }
}

TEST_CASE("a limit on tokens ends pairs that have not met, and no bound is given") {
  TableModel model = scattered_table(5, 3);
  CouplingSettings settings = coupling_settings(4, 3);
  std::uint64_t all = 0;
  const auto pairs = run_coupled(model, settings, &all);
  settings.most_tokens = all + 1;
  std::uint64_t same = 0;
  REQUIRE(last_meeting(run_coupled(model, settings, &same)) == last_meeting(pairs));
  REQUIRE(same == all);
  for (const std::uint64_t most : {std::uint64_t{1}, all / 2}) {
    settings.most_tokens = most;
    std::uint64_t drawn = 0;
    const auto cut = run_coupled(model, settings, &drawn);
    REQUIRE(cut.size() == settings.pairs);
    REQUIRE(drawn >= most);
    REQUIRE(drawn < most + settings.session.largest_batch);
    REQUIRE_FALSE(tv_bound(cut, settings.lag, 4));
    REQUIRE_FALSE(rounds_for(cut, settings.lag, 0.9));
  }
}

TEST_CASE("as many pairs are asked for as can show a total variation") {
  // 1 − 0.05^(1/118) = 0.02507, 1 − 0.05^(1/119) = 0.02486.
  REQUIRE(pairs_for(0.05, 0.95) == 119);
  REQUIRE(pairs_for(0.5, 0.5) == 3);  // 1 − 0.5^(1/2) = 0.29, 1 − 0.5^(1/3) = 0.21
  std::vector<CoupledPair> met(119);
  for (CoupledPair& pair : met) pair.meeting = 7;
  REQUIRE(rounds_for(met, 3, 0.05) == 4);
  met.pop_back();
  REQUIRE(rounds_for(met, 3, 0.05) == 4);  // the mean is 0 there, and half of 0.05 was for it
  REQUIRE(rounds_for(met, 3, 0.025) == std::nullopt);
  // Tabulated quantiles, to their digits.
  REQUIRE(std::abs(errors_of(0.95) - 1.959963985) < 1e-9);
  REQUIRE(std::abs(errors_of(0.99) - 2.575829304) < 1e-9);
}

TEST_CASE("bound and estimates are those of their formulas, summed naively") {
  constexpr std::size_t lag = 3;
  std::vector<CoupledPair> pairs(3);
  const std::size_t meetings[] = {3, 8, 15};
  for (std::size_t i = 0; i < 3; ++i) {
    pairs[i].meeting = meetings[i];
    for (std::size_t r = 0; r < 20; ++r)
      pairs[i].ahead.push_back({static_cast<double>((i + 2) * r * r % 7), 1.0});
    for (std::size_t t = 0; t + lag < meetings[i]; ++t)
      pairs[i].behind.push_back({static_cast<double>((i + 5) * t % 11), 2.0});
    pairs[i].behind.push_back(pairs[i].ahead[meetings[i]]);
  }
  // The normal quantiles are tabulated; three pairs miss a share of 1 − (1 − c)^(1/3).
  const std::vector<std::pair<double, double>> quantiles{
      {0.5, 0.674489750196082}, {0.95, 1.959963984540054}, {0.99, 2.575829303548901}};
  for (std::size_t t = 0; t < 16; ++t) {
    std::vector<double> apart;  // of each pair the j >= 1 with τ > t + jL
    for (const std::size_t meeting : meetings) {
      apart.push_back(0.0);
      for (std::size_t j = 1; j < 10; ++j) apart.back() += meeting > t + j * lag ? 1.0 : 0.0;
    }
    const double mean = (apart[0] + apart[1] + apart[2]) / 3.0;
    REQUIRE(tv_bound(pairs, lag, t)->mean == mean);
    double squares = 0.0;
    for (const double of_pair : apart) squares += (of_pair - mean) * (of_pair - mean);
    for (const auto& [confidence, quantile] : quantiles) {
      const double limit =
          mean + quantile * std::sqrt(squares / 2.0 / 3.0) + 1.0 - std::cbrt(1.0 - confidence);
      // The quantile is found to 1e-12, and errors are below 2.
      REQUIRE(std::abs(*upper_tv_bound(pairs, lag, t, confidence) - limit) < 1e-11);
    }
  }
  REQUIRE(tv_bound(pairs, lag, 0)->mean == 2.0);  // 0, 2 and 4
  REQUIRE(tv_bound(pairs, lag, 0)->error == std::sqrt(4.0 / 3.0));
  REQUIRE(std::abs(*upper_tv_bound(pairs, lag, 12) - (1.0 - std::cbrt(0.05))) <
          1e-15);  // two roundings
  REQUIRE(rounds_for(pairs, lag, 0.7) == 12);
  REQUIRE(rounds_for(pairs, lag, 0.6) == std::nullopt);  // three pairs may miss 63 % of all
  REQUIRE(last_meeting(pairs) == 15);

  constexpr std::size_t rounds = 2;
  double sum = 0.0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = rounds; k < rounds + lag; ++k) {
      sum += pairs[i].ahead[k].log_p0;
      for (std::size_t j = 1; k + j * lag < meetings[i]; ++j)
        sum += pairs[i].ahead[k + j * lag].log_p0 - pairs[i].behind[k + (j - 1) * lag].log_p0;
    }
  const auto estimate =
      unbiased_mean(pairs, lag, rounds, [](const CoupledValue& value) { return value.log_p0; });
  REQUIRE(std::abs(estimate->mean - sum / 9.0) < 1e-12);  // 30 sums of whole numbers below 200

  pairs[1].meeting.reset();
  REQUIRE_FALSE(tv_bound(pairs, lag, 0));
  REQUIRE_FALSE(upper_tv_bound(pairs, lag, 0));
  REQUIRE_FALSE(rounds_for(pairs, lag, 1.0));
  REQUIRE_FALSE(last_meeting(pairs));
  REQUIRE_FALSE(unbiased_mean(pairs, lag, rounds, [](const CoupledValue&) { return 0.0; }));
}

TEST_CASE("the rounds of meetings are those at which a pair meets or the bound changes") {
  Certificate found;
  for (const std::size_t meeting : {3U, 8U, 15U, 15U}) found.pairs.push_back({meeting, {}, {}});
  found.lag = 3;
  found.rounds = 20;
  found.most_rounds = 30;
  const auto listed = found.meeting_rounds();
  std::size_t next = 0;
  for (std::size_t t = 0; t <= 20; ++t) {
    CAPTURE(t);
    if (next < listed.size() && listed[next].round == t) ++next;
    const MeetingRound& at = listed.at(next - 1);
    REQUIRE(at.apart == (t < 5 ? 3 : t < 12 ? 2 : 0));
    REQUIRE(at.bound->mean == tv_bound(found.pairs, 3, t)->mean);
    REQUIRE(*at.limit == *upper_tv_bound(found.pairs, 3, t));
  }
  REQUIRE(next == listed.size());
  // 0; 5 and 2 of the second; 12, 9, 6, 3 of the others; and N.
  REQUIRE(listed.size() == 8);
  REQUIRE(meetings_csv(found).find("\n12,0,4,0.0,0.0,") != std::string::npos);
  REQUIRE(meetings_csv(found).starts_with(
      "round,apart,pairs,tv_at_most,standard_error,limit\n0,3,4,2.5,"));

  found.pairs.back().meeting.reset();
  found.most_rounds = 22;
  const auto open = found.meeting_rounds();
  REQUIRE(open.back().round == 19);  // X was followed to round 22, so the other to 19
  REQUIRE(open.back().apart == 1);
  REQUIRE_FALSE(open.back().bound);
  REQUIRE(meetings_csv(found).ends_with("\n19,1,4,,,\n"));
  REQUIRE(found.knows_meetings());
  found.is_cut = true;
  REQUIRE_FALSE(found.knows_meetings());
}

TEST_CASE("pairs that do not meet in time say so") {
  TableModel model = scattered_table(5, 3);
  CouplingSettings settings = coupling_settings(2, 3);
  settings.most_rounds = 4;
  const auto pairs = run_coupled(model, settings);
  REQUIRE(std::ranges::any_of(pairs, [](const auto& pair) { return !pair.meeting; }));
  REQUIRE_FALSE(tv_bound(pairs, 3, 0));
}

TEST_CASE("an answer ends with a text, white space aside, and has more than white space") {
  const AnswerTest is_answer = ends_with("= 44 \n", Spelling::flags);
  for (const char* text : {"= 44", "4+40 = 44", "= 44 \t\n\v\f\r"}) REQUIRE(is_answer(text));
  for (const char* text : {"", "44", "= 44.", "= 44 0", "=44"}) REQUIRE_FALSE(is_answer(text));
  for (const char* text : {"", " \t\n"})
    require_bad_input([&] { ends_with(text, Spelling::flags); },
                      {"--answer: has no character but white space"});
}

TEST_CASE("a probability's interval is never shorter than what pairs that agree can miss") {
  Certificate found;
  found.pairs.resize(59);
  REQUIRE(std::abs(found.margin({1.0, 0.0}) - (1.0 - std::pow(0.05, 1.0 / 59.0))) < 1e-15);
  REQUIRE(found.margin({0.5, 0.1}) == errors_of_95 * 0.1);
}

TEST_CASE("what cannot be coupled is refused") {
  TableModel model = scattered_table(5, 3);
  const auto refuses = [&](auto change, const std::string& text) {
    CouplingSettings settings = coupling_settings(4, 3);
    change(settings);
    require_bad_input([&] { run_coupled(model, settings); }, {text});
  };
  refuses([](auto& s) { s.lag = 0; }, "lag: is 0");
  refuses([](auto& s) { s.pairs = 0; }, "pairs: is 0");
  refuses([](auto& s) { s.most_rounds = 5; }, "give at least 6");
  refuses([](auto& s) { s.pairs = addressable_samples; }, "pairs: needs more samples");
  refuses([](auto& s) { s.request.plan.stages.back().local_moves = 0; }, "local-moves: is 0");
  refuses([](auto& s) { s.most_rounds = addressable_turns; }, "most-rounds: is more");
  refuses([](auto& s) { s.request.sampler = truncating_power_sampling; }, "only ppt");
}

}  // namespace tempera::gpu
