#include "runs/coupling/coupled_runs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "gpu/core/lottery/draw_address.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/session/model_changed.hpp"
#include "gpu/session/session.hpp"

namespace tempera::gpu {
namespace {

/// The records of all rungs, by their tokens.
using State = std::vector<std::vector<TokenId>>;

/// A run of the program that is drawn in parts, each resumed from the end of the one before.
class PartedRun final : public Listener {
 public:
  PartedRun(const CouplingSettings& settings, std::size_t sample)
      : request_(settings.request), is_answer_(settings.is_answer) {
    request_.samples = 1;
    request_.first_sample = sample;
  }

  /// Draws on until `rounds` rounds of the last stage are done.
  void go_on(Session& session, std::size_t rounds) {
    request_.plan.stages.back().rounds = rounds;
    states.clear();
    busy = true;
    if (saved_)
      session.resume(request_, *saved_, *this);
    else
      session.submit(request_, *this);
  }
  /// Continues from the state of `start`, with the draws that sample `sample` has after `round`.
  void begin_from(const PartedRun& start, std::size_t sample, std::size_t round) {
    request_.first_sample = sample;
    saved_ = start.saved_;
    const Stage& stage = request_.plan.stages.back();
    saved_->round = round;
    saved_->local_moves += round * stage.local_moves;
    saved_->sweeps += round * stage.sweeps;
  }

  bool busy = false;
  std::vector<State> states;         ///< after each round of this part
  std::vector<CoupledValue> values;  ///< after each round, the start among them
  std::exception_ptr failure;

 private:
  void round_ended(RequestId /*request*/, std::size_t /*sample*/, const Progress& progress,
                   std::span<const Event> /*events*/) override {
    if (progress.stage + 1 < request_.plan.stages.size()) return;
    saved_ = saved(progress, "a coupled run");
    states.push_back(saved_->replicas);
    const Record& record = progress.replicas.at(request_.plan.output);
    values.push_back({record.log_p0(), static_cast<double>(record.length()),
                      answer_of(states.back().at(request_.plan.output))});
  }
  void answered(RequestId /*request*/, std::size_t /*sample*/, const Answer& /*answer*/) override {
    busy = false;
  }
  void failed(RequestId /*request*/, std::size_t /*sample*/,
              const std::exception_ptr& why) override {
    failure = why;
    busy = false;
  }

  double answer_of(const std::vector<TokenId>& tokens) {
    if (!is_answer_) return 0.0;
    if (!judged_ || judged_->first != tokens) judged_.emplace(tokens, is_answer_(tokens));
    return judged_->second ? 1.0 : 0.0;
  }

  SampleRequest request_;
  const std::function<bool(std::span<const TokenId>)>& is_answer_;
  std::optional<std::pair<std::vector<TokenId>, bool>>
      judged_;  ///< the last record and its verdict
  std::optional<SavedProgress> saved_;
};

/// Throws why a run has failed. Each part of a run is scored again where the next one begins.
[[noreturn]] void tell(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const ModelChanged&) {
    throw BadInput(
        "model", "gives other bits in another pass, so that runs cannot be coupled",
        "give one whose bits are a function of the tokens alone, as with cache=\"fresh\"");
  }
}

/// A pair under way: X up to the end of its part, and Y with it once it has begun.
class Pair {
 public:
  Pair(const CouplingSettings& settings, std::size_t number)
      : lag_(settings.lag),
        most_(settings.most_rounds),
        least_(settings.request.plan.stages.back().rounds + settings.lag - 1),
        sample_(settings.request.first_sample + 2 * number),
        ahead_(settings, sample_),
        behind_(settings, sample_ + 1) {}

  void begin(Session& session) {
    ahead_.go_on(session, lag_);
    behind_.go_on(session, 0);
  }
  /// True if the pair has ended. Begins its next part if it has not and nothing of it is drawn.
  bool has_ended(Session& session) {
    for (const PartedRun* run : {&ahead_, &behind_})
      if (run->failure) tell(run->failure);
    if (ahead_.busy || behind_.busy) return false;
    // The last states of the parts are after the same words: X_end and Y_{end-L}.
    if (end_ == 0) {
      end_ = lag_;
      behind_.begin_from(behind_, sample_, lag_);
      if (ahead_.states.back() == behind_.states.back()) pair_.meeting = lag_;
    } else if (!pair_.meeting) {
      for (std::size_t i = 0; i < behind_.states.size() && !pair_.meeting; ++i)
        if (ahead_.states.at(i) == behind_.states[i]) pair_.meeting = begun_ + i + 1;
    }
    const std::size_t needed = pair_.meeting ? least_ : most_;
    if (end_ >= needed) return true;
    begun_ = end_;
    end_ = std::min(end_ + lag_, needed);
    ahead_.go_on(session, end_);
    if (!pair_.meeting) behind_.go_on(session, end_);
    return false;
  }
  CoupledPair found() {
    pair_.ahead = std::move(ahead_.values);
    pair_.behind = std::move(behind_.values);
    if (pair_.meeting) pair_.behind.resize(*pair_.meeting - lag_ + 1);
    return std::move(pair_);
  }

 private:
  std::size_t lag_;
  std::size_t most_;
  std::size_t least_;
  std::size_t sample_;
  PartedRun ahead_;
  PartedRun behind_;
  std::size_t begun_ = 0;  ///< rounds of X before this part
  std::size_t end_ = 0;    ///< and after it; 0 before the first has ended
  CoupledPair pair_;
};

void check(const CouplingSettings& settings) {
  const SampleRequest& request = settings.request;
  if (request.sampler != parallel_power_tempering)
    throw BadInput("sampler", "only ppt can be coupled", "leave the sampler out");
  const Stage& last = request.plan.stages.back();
  if (settings.lag == 0) throw BadInput("lag", "is 0", "give at least 1 round");
  if (settings.pairs == 0) throw BadInput("pairs", "is 0", "give at least 1");
  const std::size_t least = std::max(settings.lag, last.rounds + settings.lag - 1);
  if (settings.most_rounds < least)
    throw BadInput("most-rounds", "is less than the lag and the rounds of the run together",
                   "give at least " + std::to_string(least));
  if (settings.pairs > (addressable_samples - request.first_sample) / 2)
    throw BadInput("pairs", "needs more samples than a run can have",
                   "give at most " + std::to_string(addressable_samples / 2));
  std::size_t moves = 0;
  std::size_t sweeps = 0;
  for (const Stage& stage : request.plan.stages) {
    const std::size_t rounds = &stage == &last ? settings.most_rounds : stage.rounds;
    moves += rounds * stage.local_moves;
    sweeps += rounds * stage.sweeps;
  }
  if (last.local_moves == 0)
    throw BadInput("local-moves", "is 0 in the last stage", "runs without local moves do not meet");
  if (settings.most_rounds >= addressable_turns || std::max(moves, sweeps) >= addressable_turns)
    throw BadInput("most-rounds", "is more than the addresses of draws tell apart",
                   "give fewer rounds");
}

Estimate mean_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() < 2 ? 0.0 : std::sqrt(squares / (count - 1.0) / count)};
}

bool have_all_met(const std::vector<CoupledPair>& pairs) {
  return !pairs.empty() && std::ranges::all_of(pairs, [](const CoupledPair& pair) {
    return pair.meeting.has_value();
  });
}

}  // namespace

std::vector<CoupledPair> run_coupled(LanguageModel& model, const CouplingSettings& settings,
                                     std::uint64_t* drawn_tokens) {
  check(settings);
  Session session(model, settings.session);
  // Two runs of a pair are under way together.
  const std::size_t together = std::max<std::size_t>(1, settings.session.in_flight / 2);
  std::vector<std::unique_ptr<Pair>> pairs(settings.pairs);
  std::vector<CoupledPair> found(settings.pairs);
  std::size_t begun = 0;
  std::size_t ended = 0;
  std::size_t met = 0;
  const auto is_spent = [&] {
    return settings.most_tokens > 0 && session.totals().decode_tokens >= settings.most_tokens;
  };
  while (ended < settings.pairs && !is_spent()) {
    for (; begun < settings.pairs && begun - ended < together; ++begun) {
      pairs[begun] = std::make_unique<Pair>(settings, begun);
      pairs[begun]->begin(session);
    }
    if (settings.before_pass) settings.before_pass();
    session.step();
    for (std::size_t i = 0; i < begun; ++i) {
      if (pairs[i] == nullptr || !pairs[i]->has_ended(session)) continue;
      found[i] = pairs[i]->found();
      pairs[i].reset();
      ++ended;
      if (found[i].meeting) ++met;
      if (settings.told) settings.told(ended, met);
    }
  }
  if (drawn_tokens != nullptr) *drawn_tokens = session.totals().decode_tokens;
  return found;
}

double errors_of(double confidence) {
  double least = 0.0;
  double most = 40.0;
  // To the last bit: erfc is monotone.
  for (int i = 0; i < 64; ++i) {
    const double middle = (least + most) / 2.0;
    (std::erfc(middle / std::sqrt(2.0)) > 1.0 - confidence ? least : most) = middle;
  }
  return most;
}

std::optional<Estimate> tv_bound(const std::vector<CoupledPair>& pairs, std::size_t lag,
                                 std::size_t round) {
  if (!have_all_met(pairs)) return std::nullopt;
  std::vector<double> terms;
  for (const CoupledPair& pair : pairs) {
    const std::size_t meeting = *pair.meeting;
    const std::size_t left = meeting > lag + round ? meeting - lag - round : 0;
    terms.push_back(static_cast<double>((left + lag - 1) / lag));
  }
  return mean_of(terms);
}

double missed_share(std::size_t pairs, double confidence) {
  return 1.0 - std::pow(1.0 - confidence, 1.0 / static_cast<double>(pairs));
}

std::optional<double> upper_tv_bound(const std::vector<CoupledPair>& pairs, std::size_t lag,
                                     std::size_t round, double confidence) {
  const auto bound = tv_bound(pairs, lag, round);
  if (!bound) return std::nullopt;
  return bound->mean + errors_of(confidence) * bound->error +
         missed_share(pairs.size(), confidence);
}

std::size_t pairs_for(double tv, double confidence) {
  std::size_t pairs = 1;
  while (missed_share(pairs, confidence) > tv / 2.0) ++pairs;
  return pairs;
}

std::optional<std::size_t> rounds_for(const std::vector<CoupledPair>& pairs, std::size_t lag,
                                      double tv, double confidence) {
  const auto last = last_meeting(pairs);
  if (!last) return std::nullopt;
  // After the last meeting the limit no longer falls.
  std::optional<std::size_t> first;
  for (std::size_t round = *last + 1; round-- > 0;) {
    if (*upper_tv_bound(pairs, lag, round, confidence) > tv) break;
    first = round;
  }
  return first;
}

std::optional<std::size_t> last_meeting(const std::vector<CoupledPair>& pairs) {
  if (!have_all_met(pairs)) return std::nullopt;
  std::size_t last = 0;
  for (const CoupledPair& pair : pairs) last = std::max(last, *pair.meeting);
  return last;
}

std::optional<Estimate> unbiased_mean(const std::vector<CoupledPair>& pairs, std::size_t lag,
                                      std::size_t rounds,
                                      const std::function<double(const CoupledValue&)>& f) {
  if (!have_all_met(pairs)) return std::nullopt;
  std::vector<double> estimates;
  for (const CoupledPair& pair : pairs) {
    double sum = 0.0;
    for (std::size_t k = rounds; k < rounds + lag; ++k) {
      sum += f(pair.ahead.at(k));
      for (std::size_t r = k + lag; r < *pair.meeting; r += lag)
        sum += f(pair.ahead.at(r)) - f(pair.behind.at(r - lag));
    }
    estimates.push_back(sum / static_cast<double>(lag));
  }
  return mean_of(estimates);
}

}  // namespace tempera::gpu
