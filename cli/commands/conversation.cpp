#include "cli/commands/conversation.hpp"

#include <exception>
#include <utility>

#include "base/error.hpp"
#include "gpu/core/sampler/progress.hpp"

namespace tempera::cli {
namespace {

/// Hears what becomes of the one request of a turn.
class TurnListener final : public gpu::Listener {
 public:
  TurnListener(const AnswerNews& news, const gpu::SampleRequest& request)
      : news_(news), plan_(request.plan), statistics_(request.ladder) {}

  void round_ended(gpu::RequestId /*request*/, std::size_t /*sample*/,
                   const gpu::Progress& progress, std::span<const gpu::Event> events) override {
    statistics_.count(events);
    for (const gpu::Event& event : events) decode_tokens_ += event.tokens;
    if (news_.progress && clock_.due())
      news_.progress(
          gpu::sampling_progress(gpu::share_done(plan_, progress), decode_tokens_, statistics_));
  }
  void tokens_drawn(gpu::RequestId /*request*/, std::size_t /*sample*/,
                    std::span<const gpu::TokenId> /*tokens*/, std::string_view text) override {
    if (news_.text && !text.empty()) news_.text(text);
  }
  void answered(gpu::RequestId /*request*/, std::size_t /*sample*/,
                const gpu::Answer& answer) override {
    answer_ = answer;
  }
  void failed(gpu::RequestId /*request*/, std::size_t /*sample*/,
              const std::exception_ptr& why) override {
    failure_ = why;
  }

  /// @throw why the request failed
  std::optional<gpu::Answer> take() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(answer_);
  }

 private:
  const AnswerNews& news_;
  gpu::Plan plan_;
  gpu::TemperingStatistics statistics_;
  gpu::ReportClock clock_;
  std::uint64_t decode_tokens_ = 0;
  std::optional<gpu::Answer> answer_;
  std::exception_ptr failure_;
};

}  // namespace

Conversation::Conversation(const gpu::OpenedModel& model, gpu::SamplerWish wish,
                           gpu::ChatArguments arguments, std::vector<gpu::ChatMessage> messages)
    : model_(model),
      wish_(std::move(wish)),
      arguments_(std::move(arguments)),
      messages_(std::move(messages)),
      session_(model) {
  gpu::resolve_sampler(wish_, gpu::Spelling::flags);
  // Whether the model knows conversations is said before anybody has typed a word.
  model.encode_chat(std::vector<gpu::ChatMessage>{{"user", "?"}}, arguments_, "the conversation");
}

bool Conversation::awaits_answer() const {
  return !messages_.empty() && messages_.back().role == "user";
}

void Conversation::begin_anew() {
  const bool has_system = !messages_.empty() && messages_.front().role == "system";
  messages_.resize(has_system ? 1 : 0);
}

void Conversation::take_answer_back() {
  if (messages_.empty() || messages_.back().role != "assistant")
    throw BadInput("the conversation", "has no answer yet", "say something first");
  messages_.pop_back();
}

void Conversation::say(std::string text) { messages_.push_back({"user", std::move(text)}); }

std::optional<gpu::Answer> Conversation::answer(const AnswerNews& news) {
  std::optional<gpu::Answer> answer;
  try {
    answer = draw(news);
  } catch (...) {
    messages_.pop_back();
    throw;
  }
  if (!answer) {
    messages_.pop_back();
    return answer;
  }
  ++drawn_;
  messages_.push_back({"assistant", answer->text});
  return answer;
}

std::optional<gpu::Answer> Conversation::draw(const AnswerNews& news) {
  gpu::SampleRequest request =
      gpu::resolve(model_, {.prompt = messages_, .arguments = arguments_, .sampler = wish_},
                   gpu::Spelling::flags, "the conversation");
  request.first_sample = drawn_;
  TurnListener listener(news, request);
  const gpu::RequestId id = session_.submit(std::move(request), listener);
  while (session_.step()) {
    if (!news.stop || !news.stop()) continue;
    session_.cancel(id);
    return std::nullopt;
  }
  return listener.take();
}

}  // namespace tempera::cli
