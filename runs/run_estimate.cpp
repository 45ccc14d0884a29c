#include "runs/run_estimate.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu/core/sampler/progress.hpp"
#include "gpu/core/statistics/student_point.hpp"
#include "gpu/session/cache_admission.hpp"
#include "gpu/session/cost.hpp"
#include "gpu/session/prompt_plans.hpp"
#include "settings/named_sampler.hpp"

namespace tempera::gpu {
namespace {

double number(std::size_t count) { return static_cast<double>(count); }

struct PilotOver {};

/// Draws some of the run's answers, evenly spread over it.
class CostPilot final : public DrawListener {
 public:
  /// patience: it ends after this time already, if no answer has ended then.
  CostPilot(std::size_t runs, double seconds, double patience,
            const std::function<void(const SamplingProgress&)>& told)
      : runs_(runs), limit_(seconds), patience_(patience), told_(told) {
    // A stride near the golden section that meets every run once.
    stride_ = std::max<std::size_t>(1, static_cast<std::size_t>(0.6180339887 * number(runs)));
    while (std::gcd(stride_, runs_) != 1) ++stride_;
  }

  /// The runs to draw: new ones begin in the first half of the time alone, so that most end.
  std::optional<std::size_t> next_run() {
    if (taken_ == runs_ || (began_ > 0.0 && elapsed() > limit_ / 2.0)) return std::nullopt;
    tally.order.push_back((taken_++ * stride_) % runs_);
    return tally.order.back();
  }
  void before_batch(const SessionTotals& so_far) override {
    if (began_ == 0.0) began_ = seconds_now();
    const double now = elapsed();
    if (now <= limit_ / 2.0 || taken_ == runs_ || speed_.size() < 2)
      speed_.push_back({now, number(so_far.decode_tokens)});
    tally.drawn = so_far.decode_tokens;
    if (told_ && clock_.due()) told_({std::min(1.0, now / limit_), so_far.decode_tokens, 0.0, 0.0});
    if (now > (has_ended_ ? limit_ : patience_) && tally.drawn > 0) throw PilotOver();
  }
  void round_ended(RequestId run, std::size_t, const Progress& progress,
                   std::span<const Event> events) override {
    tally.round_ended(run, progress, events);
  }
  void answered(RequestId run, std::size_t, const Answer&) override {
    tally.answers[run].has_ended = true;
    has_ended_ = true;
  }

  bool has_ended() const { return has_ended_; }
  double elapsed() const { return began_ == 0.0 ? 0.0 : seconds_now() - began_; }
  /// Tokens a second while as many answers are under way as in the run, with the standard
  /// error of its mean over eight parts of that time, 0 if they are too few.
  std::pair<double, double> speed() const {
    constexpr std::size_t parts = 8;
    const Point last = speed_.back();
    if (last.tokens == 0.0) return {number(tally.drawn) / std::max(elapsed(), 1e-9), 0.0};
    const double mean = last.tokens / last.seconds;
    if (speed_.size() < 2 * parts) return {mean, 0.0};
    double squares = 0.0;
    for (std::size_t p = 0; p < parts; ++p) {
      const Point& from = speed_[p * (speed_.size() - 1) / parts];
      const Point& to = speed_[(p + 1) * (speed_.size() - 1) / parts];
      squares += std::pow((to.tokens - from.tokens) / (to.seconds - from.seconds) - mean, 2);
    }
    return {mean, std::sqrt(squares / (parts * (parts - 1)))};
  }

  PilotTally tally;

 private:
  struct Point {
    double seconds;
    double tokens;
  };
  std::size_t runs_;
  double limit_;
  double patience_;
  bool has_ended_ = false;
  const std::function<void(const SamplingProgress&)>& told_;
  std::size_t stride_ = 1;
  std::size_t taken_ = 0;
  double began_ = 0.0;
  ReportClock clock_;
  std::vector<Point> speed_;
};

/// The rounds of a stage in a pilot.
struct Rounds {
  std::size_t count = 0;
  double mean = 0.0;
  double variance = 0.0;
  double correlation = 0.0;  ///< of a round with the next of its answer, at least 0
};

Rounds rounds_of(const std::map<std::size_t, SeenAnswer>& answers, std::size_t stage) {
  Rounds found;
  double sum = 0.0;
  const auto each = [&](const auto& take) {
    for (const auto& [run, answer] : answers)
      if (stage < answer.stages.size()) take(answer.stages[stage].rounds);
  };
  each([&](const std::vector<double>& rounds) {
    found.count += rounds.size();
    sum += std::accumulate(rounds.begin(), rounds.end(), 0.0);
  });
  if (found.count == 0) return found;
  found.mean = sum / number(found.count);
  double squares = 0.0;
  double products = 0.0;
  each([&](const std::vector<double>& rounds) {
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      squares += std::pow(rounds[i] - found.mean, 2);
      if (i > 0) products += (rounds[i] - found.mean) * (rounds[i - 1] - found.mean);
    }
  });
  if (found.count > 1) found.variance = squares / number(found.count - 1);
  if (squares > 0.0) found.correlation = std::clamp(products / squares, 0.0, 0.9);
  return found;
}

/// The tokens of each kind of step of a plan.
struct StepMeans {
  std::vector<double> extension;
  std::vector<Rounds> rounds;
  std::vector<bool> is_extension_seen;  ///< by nearly all answers, as rounds that have a count are
};

double most_of_extension(const Plan& plan, std::size_t m, std::size_t replicas) {
  const std::size_t before = m == 0 ? 0 : plan.stages[m - 1].horizon;
  return number(replicas) * number(plan.stages[m].horizon - before);
}

double most_of_round(const Stage& stage, std::size_t replicas) {
  return number(replicas) * number(stage.local_moves) * number(stage.horizon);
}

std::optional<double> mean_tokens(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / number(values.size());
}

/// Sums over the answers that have made a step, and over their stage before it.
struct Development {
  std::size_t count = 0;
  double tokens = 0.0;
  double before = 0.0;
};

/// A time limit cuts slow answers first, so those that have come to a stage are the shorter ones.
/// Their steps are compared with the stage before in the same answers (chain ladder), and count
/// for these answers alone. For the others a step has the share of the plan's most that the step
/// before it has; before all of them extensions are whole, and restarts in the middle.
StepMeans step_means(const std::map<std::size_t, SeenAnswer>& answers, const Plan& plan,
                     std::size_t replicas) {
  StepMeans means;
  double extended = 1.0;
  double refined = 0.5;
  double before = 1.0;
  for (std::size_t m = 0; m < plan.stages.size(); ++m) {
    Development extension;
    Development round;
    for (const auto& [run, answer] : answers) {
      if (m >= answer.stages.size()) continue;
      const double of_before = m == 0 ? 1.0
                                      : answer.stages[m - 1].extension.value_or(0.0) +
                                            mean_tokens(answer.stages[m - 1].rounds).value_or(0.0);
      const auto take = [&](const std::optional<double>& tokens, Development& sums) {
        if (!tokens) return;
        ++sums.count;
        sums.tokens += *tokens;
        sums.before += of_before;
      };
      take(answer.stages[m].extension, extension);
      take(mean_tokens(answer.stages[m].rounds), round);
    }
    const double most_extended = most_of_extension(plan, m, replicas);
    const double most_refined = most_of_round(plan.stages[m], replicas);
    const auto is_seen = [&](const Development& sums) {
      return 10 * sums.count >= 9 * std::max<std::size_t>(answers.size(), 1);
    };
    const auto develop = [&](const Development& sums, double most, double& share) {
      if (sums.before == 0.0 || most == 0.0) return;
      const double seen = number(sums.count) / number(answers.size());
      share = seen * before * sums.tokens / sums.before / most + (1.0 - seen) * share;
    };
    develop(extension, most_extended, extended);
    develop(round, most_refined, refined);
    Rounds rounds = rounds_of(answers, m);
    if (!is_seen(round)) rounds.count = 0;
    rounds.mean = std::min(refined, 1.0) * most_refined;
    means.extension.push_back(std::min(extended, 1.0) * most_extended);
    means.is_extension_seen.push_back(is_seen(extension));
    means.rounds.push_back(rounds);
    before = means.extension.back() + (plan.stages[m].rounds > 0 ? rounds.mean : 0.0);
  }
  return means;
}

/// How many answers a pilot has under way to see some end.
constexpr std::size_t few_under_way = 4;
constexpr std::size_t fewest_kept = few_under_way;

/// Keeps the answers that began first, as many as nearly all have ended of, if these are enough:
/// those that began later and have ended are the shorter ones.
void keep_first(std::map<std::size_t, SeenAnswer>& answers, const std::vector<std::size_t>& order) {
  std::size_t kept = 0;
  std::size_t open = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto found = answers.find(order[i]);
    open += found != answers.end() && found->second.has_ended ? 0 : 1;
    if (20 * open <= i + 1) kept = i + 1;
  }
  if (kept < fewest_kept) return;
  for (std::size_t i = kept; i < order.size(); ++i) answers.erase(order[i]);
}

/// The part of an answer that is to come.
struct Remainder {
  double expected = 0.0;
  double unseen = 0.0;       ///< the part of it that is a guess
  double most_unseen = 0.0;  ///< what the plan allows for that at most
  double variance = 0.0;     ///< of the rounds that are to come, as they are independent
};

Remainder remainder(const SeenAnswer& answer, const Plan& plan, const StepMeans& means,
                    std::size_t replicas, std::vector<double>& to_come) {
  Remainder left;
  for (std::size_t m = 0; m < plan.stages.size() && !answer.has_ended; ++m) {
    const bool is_reached = m < answer.stages.size();
    if (!is_reached || !answer.stages[m].extension) {
      left.expected += means.extension[m];
      if (!means.is_extension_seen[m]) {
        left.unseen += means.extension[m];
        left.most_unseen += most_of_extension(plan, m, replicas);
      }
    }
    const std::size_t done = is_reached ? answer.stages[m].rounds.size() : 0;
    const double rounds = number(plan.stages[m].rounds - std::min(done, plan.stages[m].rounds));
    left.expected += rounds * means.rounds[m].mean;
    if (means.rounds[m].count == 0) {
      left.unseen += rounds * means.rounds[m].mean;
      left.most_unseen += rounds * most_of_round(plan.stages[m], replicas);
    } else {
      left.variance += rounds * means.rounds[m].variance;
      to_come[m] += rounds;
    }
  }
  return left;
}

/// χ² with so many degrees of freedom at the normal point z, by Wilson and Hilferty.
double chi_square(double freedom, double z) {
  const double a = 2.0 / (9.0 * freedom);
  return freedom * std::pow(std::max(0.0, 1.0 - a + z * std::sqrt(a)), 3);
}

constexpr double normal_point = 1.959964;

}  // namespace

nlohmann::ordered_json RunEstimate::to_json() const {
  const auto json_of = [](const Expectation& figure) {
    return nlohmann::ordered_json{
        {"expected", figure.expected}, {"low", figure.low}, {"high", figure.high}};
  };
  return {{"answers", answers},
          {"pilot",
           {{"answers_begun", begun},
            {"answers_ended", ended},
            {"decode_tokens", pilot_tokens},
            {"seconds", pilot_seconds}}},
          {"decode_tokens", json_of(decode_tokens)},
          {"seconds", json_of(seconds)},
          {"cache_bytes", json_of(cache_bytes)},
          {"resident_bytes", resident_bytes},
          {"is_guess", is_guess}};
}

double SeenAnswer::tokens() const {
  double sum = 0.0;
  for (const Steps& steps : stages)
    sum += steps.extension.value_or(0.0) +
           std::accumulate(steps.rounds.begin(), steps.rounds.end(), 0.0);
  return sum;
}

void PilotTally::round_ended(std::size_t run, const Progress& progress,
                             std::span<const Event> events) {
  double tokens = 0.0;
  for (const Event& event : events) tokens += number(event.tokens);
  auto& stages = answers[run].stages;
  if (stages.size() <= progress.stage) stages.resize(progress.stage + 1);
  SeenAnswer::Steps& steps = stages[progress.stage];
  if (progress.round == 0)
    steps.extension = steps.extension.value_or(0.0) + tokens;
  else
    steps.rounds.push_back(tokens);
}

RunEstimate estimate_of(PilotTally tally, const PilotedRun& run, const LanguageModel& model) {
  RunEstimate found;
  found.answers = run.answers;
  found.pilot_seconds = tally.seconds;
  found.pilot_tokens = tally.drawn;
  found.begun = tally.answers.size();
  double seen = 0.0;
  for (const auto& [index, answer] : tally.answers) {
    found.ended += answer.has_ended ? 1 : 0;
    seen += answer.tokens();
  }
  const bool is_whole = !tally.is_cut && found.ended == found.answers;
  const double answers = number(found.answers);
  const Plan& plan = run.request.plan;
  const std::size_t replicas = plan.replicas(run.request.ladder);
  double most = 0.0;  // that the plans allow
  for (std::size_t index = 0; index < found.answers; ++index) {
    const Plan& of_answer = run.plan_of(index);
    if (of_answer.until_kept)
      most += of_answer.most_tokens == 0 ? most_cost : number(of_answer.most_tokens);
    else
      most += cost_of(of_answer, replicas);
  }
  Expectation& tokens = found.decode_tokens;
  const bool has_rounds =
      std::ranges::any_of(plan.stages, [](const Stage& stage) { return stage.rounds > 0; });
  if (is_whole) {
    tokens = {seen, seen, seen};
  } else if (tally.is_cut && !has_rounds && found.ended > 0) {
    const double all = number(tally.drawn) * answers;
    const double ended = number(found.ended);
    tokens = {all / ended, 2.0 * all / chi_square(2.0 * ended + 2.0, normal_point),
              2.0 * all / std::max(chi_square(2.0 * ended, -normal_point), 1e-6)};
  } else if (plan.until_kept && found.ended == 0) {
    const double all =
        number(tally.drawn) * answers / number(std::max<std::size_t>(found.begun, 1));
    tokens = {most, all, most};
    found.is_guess = true;
  } else {
    keep_first(tally.answers, tally.order);
    const StepMeans means = step_means(tally.answers, plan, replicas);
    if (tally.answers.empty()) tally.answers[0];
    const double count = number(tally.answers.size());
    std::vector<double> costs;
    std::vector<double> to_come(plan.stages.size());
    Remainder all;
    for (const auto& [index, answer] : tally.answers) {
      const Remainder left = remainder(answer, run.plan_of(index), means, replicas, to_come);
      costs.push_back(answer.tokens() + left.expected);
      all.unseen += left.unseen;
      all.most_unseen += left.most_unseen;
      all.variance += left.variance;
    }
    const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / count;
    double squares = 0.0;
    for (const double cost : costs) squares += std::pow(cost - mean, 2);
    const double scale = answers / count;
    double variance =
        costs.size() > 1 ? answers * (answers - count) * squares / (count - 1.0) / count : 0.0;
    std::size_t freedom = costs.size() < found.answers ? costs.size() - 1 : SIZE_MAX;
    double of_rounds = all.variance;
    for (std::size_t m = 0; m < to_come.size(); ++m) {
      const Rounds& rounds = means.rounds[m];
      if (to_come[m] == 0.0 || rounds.count == 0) continue;
      of_rounds += to_come[m] * to_come[m] * rounds.variance / number(rounds.count) *
                   (1.0 + rounds.correlation) / (1.0 - rounds.correlation);
      freedom = std::min(freedom, rounds.count - 1);
    }
    variance += scale * scale * of_rounds;
    tokens.expected = answers * mean;
    if (freedom == 0) {
      tokens.low = seen;
      tokens.high = most;
      found.is_guess = true;
    } else {
      const double half = variance > 0.0 ? student_point(std::min<std::size_t>(freedom, 1000000)) *
                                               std::sqrt(variance)
                                         : 0.0;
      tokens.low = tokens.expected - scale * all.unseen - half;
      tokens.high = tokens.expected + scale * (all.most_unseen - all.unseen) + half;
      found.is_guess = all.unseen > 0.0;
    }
  }
  tokens.low = std::max(tokens.low, seen);
  tokens.high = std::min(tokens.high, std::max(most, seen));
  tokens.expected = std::clamp(tokens.expected, tokens.low, tokens.high);

  if (is_whole) {
    found.seconds = {found.pilot_seconds, found.pilot_seconds, found.pilot_seconds};
  } else {
    // Moves ahead draw more than the events have.
    const double wasted =
        run.request.options.prefetch > 0 && seen > 0.0 ? number(tally.drawn) / seen : 1.0;
    const double slower = normal_point * tally.speed_error / tally.speed;
    const auto side = [&](double limit) {
      const double share = tokens.expected > 0.0 ? limit / tokens.expected - 1.0 : 0.0;
      return std::sqrt(share * share + slower * slower);
    };
    const double expected = wasted * tokens.expected / tally.speed;
    found.seconds = {expected, expected * std::max(0.0, 1.0 - side(tokens.low)),
                     expected * (1.0 + side(tokens.high))};
  }

  const double caches = number(model.most_cache_bytes());
  // Whole records for each row of as many answers as are under way, beside their prompt.
  double needed = 0.0;
  for (const std::size_t length : run.prompt_lengths)
    needed = std::max(needed, number(model.cache_bytes(length) +
                                     cache_bytes_of_rows(model, length, plan.stages.back().horizon,
                                                         2 * replicas)));
  const double room = needed * number(std::min(run.answers, run.under_way));
  const double budget = run.cache_memory > 0 ? number(run.cache_memory) : room;
  const double most_caches = std::max(caches, std::min(room, budget));
  // Caches grow with the stage's horizon until every stage has been reached.
  std::size_t reached = std::max<std::size_t>(tally.reached, 1);
  for (const auto& [index, answer] : tally.answers)
    if (tally.reached == 0) reached = std::max(reached, answer.stages.size());
  const double growth = number(plan.stages.back().horizon) /
                        number(plan.stages[std::min(reached, plan.stages.size()) - 1].horizon);
  found.cache_bytes = {is_whole ? caches : std::min(caches * growth, most_caches), caches,
                       is_whole ? caches : most_caches};
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  found.resident_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  return found;
}

RunEstimate estimate_run(LanguageModel& model, const SamplingSettings& settings,
                         const TokenText& text, const SessionOptions& session, double seconds,
                         const std::function<void(const SamplingProgress&)>& progress) {
  DrawSettings draw = settings.draw_settings();
  static_cast<SessionOptions&>(draw) = session;
  const std::vector<Prompt> prompts = settings.numbered_prompts();
  const PromptPlans plans(draw.plan, prompts);
  const std::size_t answers = prompts.size() * draw.samples;
  const auto draw_pilot = [&](CostPilot& pilot) {
    draw.next_run = [&] { return pilot.next_run(); };
    try {
      pilot.tally.drawn =
          draw_answers(model, prompts, sampler_named(settings.sampler, "sampler").program, draw,
                       pilot, settings.stop.empty() ? nullptr : &text)
              .decode_tokens;
    } catch (const PilotOver&) {
      pilot.tally.is_cut = true;
    }
    pilot.tally.seconds = pilot.elapsed();
    std::tie(pilot.tally.speed, pilot.tally.speed_error) = pilot.speed();
  };
  // The pilot is to draw as many at once as the run does, which is its speed, or so few that they
  // end.
  const bool can_be_fewer = std::min(answers, draw.in_flight) > few_under_way;
  CostPilot all(answers, seconds, can_be_fewer ? seconds / 4.0 : seconds, progress);
  draw_pilot(all);
  PilotTally tally = std::move(all.tally);
  if (tally.is_cut && !all.has_ended() && can_be_fewer) {
    tally.reached = 1;
    for (const auto& [run, answer] : tally.answers)
      tally.reached = std::max(tally.reached, answer.stages.size());
    const double left = std::max(seconds - tally.seconds, seconds / 2.0);
    CostPilot few(answers, left, left, progress);
    draw.in_flight = few_under_way;
    draw_pilot(few);
    tally.answers = std::move(few.tally.answers);
    tally.order = std::move(few.tally.order);
    tally.drawn = few.tally.drawn;
    tally.seconds += few.tally.seconds;
  }
  PilotedRun run{
      answers,
      draw,
      [&](std::size_t index) -> const Plan& { return plans.of(prompts[index / draw.samples]); },
      {},
      session.in_flight,
      session.cache_memory};
  for (const Prompt& prompt : prompts) run.prompt_lengths.push_back(prompt.tokens.size());
  return estimate_of(std::move(tally), run, model);
}

}  // namespace tempera::gpu
