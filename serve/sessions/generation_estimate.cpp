// The answer to a request that asks what it would cost: its own choices are begun, and cancelled
// after a few seconds.
#include <nlohmann/json.hpp>

#include "serve/protocol/json_response.hpp"
#include "serve/sessions/generation.hpp"

namespace tempera::serve {
namespace {

constexpr double most_pilot_seconds = 5.0;

}  // namespace

void Generation::look_at_pilot() {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - pilot_began_;
  if (passed.count() > most_pilot_seconds) answer_estimate(true);
}

void Generation::answer_estimate(bool is_cut) {
  pilot_.is_cut = is_cut;
  pilot_.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - pilot_began_).count();
  for (std::size_t index = 0; index < choices_.size(); ++index) pilot_.order.push_back(index);
  double seen = 0.0;
  for (const auto& [index, answer] : pilot_.answers) seen += answer.tokens();
  pilot_.drawn = static_cast<std::uint64_t>(seen);
  pilot_.speed = seen / pilot_.seconds;
  gpu::PilotedRun run{
      choices_.size(),
      requests_.front(),
      [&](std::size_t index) -> const gpu::Plan& { return requests_[choices_[index].prompt].plan; },
      {},
      choices_.size(),
      0};
  for (const gpu::SampleRequest& request : requests_)
    run.prompt_lengths.push_back(request.prompt.size());
  const gpu::RunEstimate found = gpu::estimate_of(std::move(pilot_), run, model_.model());
  cancel_all();
  nlohmann::ordered_json body = frame(is_chat() ? "chat.completion" : "text_completion");
  body["choices"] = nlohmann::ordered_json::array();
  body["usage"] = usage();
  body["tempera"] = figures();
  body["tempera"]["estimate"] = found.to_json();
  leave_queue();
  tell_facts();
  exchange_->respond(json_response(body));
  is_over_ = true;
}

}  // namespace tempera::serve
