#include "gpu/session/sample_run.hpp"

#include <cmath>
#include <utility>

#include "gpu/core/sampler/exact_rejection.hpp"
#include "gpu/core/sampler/tokenwise_sampling.hpp"

namespace tempera::gpu {

SampleRun::SampleRun(std::shared_ptr<TakenRequest> request, std::size_t sample, Engine& engine,
                     CacheAdmission& memory, std::size_t bytes, const TokenText* text)
    : request_(std::move(request)),
      sample_(sample),
      memory_(memory),
      bytes_(bytes),
      run_{engine,
           request_->context,
           request_->asked.ladder,
           request_->asked.number.seed(request_->asked.seed),
           request_->asked.number.in_address,
           static_cast<std::uint32_t>(sample),
           request_->prompt->cache()},
      language_(text),
      text_(text, request_->asked.stop),
      moves_(request_->asked.ladder.rungs()),
      swaps_(request_->asked.ladder.rungs() - 1) {
  run_.options = request_->asked.options;
  run_.pilot = request_->asked.pilot;
  memory_.take(bytes_);
}

Task SampleRun::draw(std::shared_ptr<SampleRun> run, RowLottery& rows) {
  const TakenRequest& request = *run->request_;
  const Plan& plan = request.asked.plan;
  if (request.saved) {
    Chain& chain = run->run_;
    co_await chain.engine.compute(*chain.prompt_cache, chain.context.prompt);
    restore(*request.saved, plan, chain, rows, run->progress_);
  }
  co_await request.asked.sampler(run->run_, plan, run->progress_, run.get());
}

bool SampleRun::is_tokenwise() const { return request_->asked.sampler == tokenwise_sampling; }

void SampleRun::round_ended(const Progress& progress, std::span<const Event> events) {
  for (const Event& event : events) {
    decode_tokens_ += event.tokens;
    if (event.kind != Event::Kind::local_move && event.kind != Event::Kind::swap) continue;
    AcceptanceCounts& counts =
        event.kind == Event::Kind::swap ? swaps_.at(event.rung) : moves_.at(event.rung);
    if (event.proposed) counts.proposed += event.proposals;
    if (event.accepted) ++counts.accepted;
  }
  if (request_->is_cancelled) return;
  try {
    request_->listener->round_ended(request_->id, sample_, progress, events);
  } catch (...) {
    has_listener_thrown_ = true;
    throw;
  }
}

bool SampleRun::tell_tokens() {
  if (!is_tokenwise() || progress_.replicas.empty() || text_.stopped()) return text_.stopped();
  const Record& record = progress_.replicas.front();
  std::vector<TokenId> tokens;
  std::string text;
  while (told_ < record.length() && !text_.stopped()) {
    tokens.push_back(record.tokens().token(++told_));
    const bool is_terminal = record.terminated() && told_ == record.length();
    text += is_terminal ? text_.finish() : text_.push(tokens.back());
  }
  if (!tokens.empty() && !request_->is_cancelled)
    request_->listener->tokens_drawn(request_->id, sample_, tokens, text);
  return text_.stopped();
}

void SampleRun::tell_end(const std::exception_ptr& failure) {
  if (failure && has_listener_thrown_) std::rethrow_exception(failure);
  if (request_->is_cancelled) return;
  if (failure) return request_->listener->failed(request_->id, sample_, failure);
  tell_tokens();
  if (request_->is_cancelled) return;
  if (request_->asked.plan.until_kept && progress_.replicas.front().open())
    return request_->listener->failed(request_->id, sample_, std::make_exception_ptr(not_drawn()));
  const Answer whole = answer();
  if (request_->is_cancelled) return;
  request_->listener->sampler_ended(request_->id, sample_, progress_);
  if (request_->is_cancelled) return;
  request_->listener->answered(request_->id, sample_, whole);
}

/// Says that no proposal was kept, and which limit would have been enough by what was seen.
NotDrawn SampleRun::not_drawn() const {
  const Plan& plan = request_->asked.plan;
  const double tokens = tokens_for_an_answer(progress_, plan.stages.back().horizon, 0.95);
  const std::string remedy =
      tokens <= static_cast<double>(largest_token_limit)
          ? "a limit of " + std::to_string(static_cast<std::uint64_t>(std::ceil(tokens))) +
                " tokens would give an answer with a probability of about 95 %"
          : "more than 2^40 tokens are needed";
  return {"exact-rejection",
          "sample " + std::to_string(sample_) + " is not drawn: none of " +
              std::to_string(progress_.local_moves) + " proposals was kept, which count as " +
              std::to_string(progress_.drawn) + " tokens",
          remedy + "; or take a power nearer to 1, a shorter horizon, or the sampler ppt"};
}

/// Reads the answer's text as far as it was not told.
void SampleRun::read(const Record& record) {
  const std::size_t shown = record.length() - (record.terminated() ? 1 : 0);
  while (text_.tokens() < shown && !text_.stopped())
    text_.push(record.tokens().token(text_.tokens() + 1));
  const std::string rest = text_.finish();
  if (is_tokenwise() && !rest.empty() && !request_->is_cancelled)
    request_->listener->tokens_drawn(request_->id, sample_, {}, rest);
}

Answer SampleRun::answer() {
  const Record& record = answer_of(progress_, request_->asked.plan);
  Answer answer{record.token_ids(), record.log_p0(), record.terminated()};
  if (is_tokenwise() || !request_->asked.stop.empty()) {
    read(record);
    answer.text = text_.given();
  } else if (language_ != nullptr) {
    answer.text = text_of(answer, *language_, {});
  }
  if (text_.stopped()) {
    answer.stopped = true;
    answer.terminated = false;
    answer.tokens.resize(text_.tokens());
    answer.log_p0 = 0.0;
    for (std::size_t t = 1; t <= text_.tokens(); ++t) answer.log_p0 += record.tokens().log_p(t);
  }
  for (const Record& of_rung : progress_.replicas)
    answer.log_p0_of_records.push_back(of_rung.log_p0());
  answer.moves = moves_;
  answer.swaps = swaps_;
  answer.decode_tokens = decode_tokens_;
  if (is_tokenwise()) {  // whose block may have ended before its time
    const auto& saved = request_->saved;
    answer.decode_tokens = record.length() - (saved ? saved->replicas.front().size() : 0);
  }
  return answer;
}

}  // namespace tempera::gpu
