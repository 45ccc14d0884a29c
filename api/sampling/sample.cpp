#include "tempera/sample.hpp"

#include <map>

#include "api/sampling/model_parts.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/session/session.hpp"
#include "settings/resolve.hpp"

namespace tempera {
namespace {

gpu::PromptWish prompt_of(const Prompt& prompt) {
  if (const auto* text = std::get_if<std::string>(&prompt)) return *text;
  if (const auto* tokens = std::get_if<std::vector<TokenId>>(&prompt)) return *tokens;
  std::vector<gpu::ChatMessage> messages;
  for (const Message& message : std::get<std::vector<Message>>(prompt))
    messages.push_back({message.role, message.content});
  return messages;
}

gpu::SampleWish wish_of(const SampleRequest& request) {
  gpu::SampleWish wish;
  wish.prompt = prompt_of(request.prompt);
  wish.id = request.id;
  wish.arguments = gpu::ChatArguments::parse(request.chat_template_kwargs, "chat_template_kwargs");
  if (request.thinking)
    wish.arguments.add_thinking(*request.thinking, "thinking",
                                "differs from \"enable_thinking\" of chat_template_kwargs");
  gpu::SamplerWish& sampler = wish.sampler;
  static_cast<SamplerOptions&>(sampler) = request.sampler;
  sampler.samples = request.samples;
  sampler.seed = request.seed;
  sampler.stop = request.stop;
  static_cast<MoveOptions&>(sampler.options) = request.moves;
  static_cast<TokenOptions&>(sampler.options) = request.tokens;
  return wish;
}

std::vector<Acceptance> acceptances(const std::vector<gpu::AcceptanceCounts>& counts) {
  std::vector<Acceptance> list;
  for (const auto& count : counts) list.push_back({count.proposed, count.accepted});
  return list;
}

Answer answer_of(const gpu::Answer& answer) {
  return {.text = answer.text,
          .tokens = answer.tokens,
          .log_p0 = answer.log_p0,
          .terminated = answer.terminated,
          .stopped = answer.stopped,
          .log_p0_of_rungs = answer.log_p0_of_records,
          .local_moves = acceptances(answer.moves),
          .swaps = acceptances(answer.swaps),
          .decode_tokens = answer.decode_tokens};
}

}  // namespace

/// Hears the session below, and tells each request's own listener.
struct Session::Work final : gpu::Listener {
  Work(Model opened, const SessionOptions& options)
      : model(std::move(opened)), session(model.parts().opened, {options}) {}

  struct Open {
    tempera::Listener* listener;
    std::size_t samples;  ///< that have not ended
  };

  void round_ended(gpu::RequestId request, std::size_t sample, const gpu::Progress& progress,
                   std::span<const gpu::Event> /*events*/) override {
    open.at(request).listener->round_ended(request, sample, progress.stage, progress.round);
  }
  void tokens_drawn(gpu::RequestId request, std::size_t sample,
                    std::span<const gpu::TokenId> /*tokens*/, std::string_view text) override {
    if (!text.empty()) open.at(request).listener->text_drawn(request, sample, text);
  }
  void answered(gpu::RequestId request, std::size_t sample, const gpu::Answer& answer) override {
    tempera::Listener* listener = end(request);
    listener->answered(request, sample, answer_of(answer));
  }
  void failed(gpu::RequestId request, std::size_t sample, const std::exception_ptr& why) override {
    tempera::Listener* listener = end(request);
    listener->failed(request, sample, why);
  }
  tempera::Listener* end(gpu::RequestId request) {
    const auto found = open.find(request);
    tempera::Listener* listener = found->second.listener;
    if (--found->second.samples == 0) open.erase(found);
    return listener;
  }

  Model model;
  gpu::Session session;
  std::map<RequestId, Open> open;
};

Session::Session(Model model, const SessionOptions& options)
    : work_(std::make_unique<Work>(std::move(model), options)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

RequestId Session::submit(const SampleRequest& request, Listener& listener) {
  const RequestId id =
      work_->session.submit(gpu::resolve(work_->model.parts().opened, wish_of(request)), *work_);
  work_->open[id] = {&listener, request.samples};
  return id;
}

void Session::cancel(RequestId request) {
  work_->session.cancel(request);
  work_->open.erase(request);
}

bool Session::step() { return work_->session.step(); }

Report Session::report() const {
  const gpu::SessionTotals totals = work_->session.totals();
  return {totals.decode_tokens, totals.batches, totals.times.forward, totals.times.draw};
}

std::vector<Answer> sample(const Model& model, const SampleRequest& request) {
  struct Collected final : Listener {
    std::vector<Answer> answers;
    std::exception_ptr failure;
    void answered(RequestId, std::size_t number, const Answer& answer) override {
      answers.at(number) = answer;
    }
    void failed(RequestId, std::size_t, const std::exception_ptr& why) override {
      if (!failure) failure = why;
    }
  } collected;
  collected.answers.resize(request.samples);
  Session session(model);
  session.submit(request, collected);
  while (!collected.failure && session.step()) {
  }
  if (collected.failure) std::rethrow_exception(collected.failure);
  return std::move(collected.answers);
}

}  // namespace tempera
