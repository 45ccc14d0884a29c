// The body and the events of a stream that a generation writes to a client of /v1/responses.
#include <nlohmann/json.hpp>

#include "serve/protocol/json_response.hpp"
#include "serve/sessions/generation.hpp"

namespace tempera::serve {
namespace {

using nlohmann::ordered_json;

/// A response has one message, which is named after it.
std::string message_id(const std::string& response) {
  return "msg_" + response.substr(response.find('_') + 1);
}

}  // namespace

void Generation::send_text(std::size_t index, const std::string& text) {
  if (!is_response())
    return send_chunk({chunk_choice(index, text, nullptr)}, ordered_json::object());
  send_event("response.output_text.delta", {{"item_id", message_id(name_.id)},
                                            {"output_index", 0},
                                            {"content_index", 0},
                                            {"delta", text},
                                            {"logprobs", response_logprobs()}});
}

void Generation::send_event(const std::string& name, const ordered_json& fields) {
  ordered_json event{{"type", name}, {"sequence_number", events_sent_++}};
  event.update(fields);
  exchange_->write("event: " + name + "\ndata: " + spelled(event) + "\n\n");
}

void Generation::open_response() {
  send_event("response.created", {{"response", response_body("in_progress")}});
  send_event("response.in_progress", {{"response", response_body("in_progress")}});
  send_event("response.output_item.added",
             {{"output_index", 0}, {"item", response_message("in_progress", false)}});
  send_event("response.content_part.added", {{"item_id", message_id(name_.id)},
                                             {"output_index", 0},
                                             {"content_index", 0},
                                             {"part", response_part("")}});
}

void Generation::end_response_text() {
  const std::string text = text_of(0);
  send_event("response.output_text.done", {{"item_id", message_id(name_.id)},
                                           {"output_index", 0},
                                           {"content_index", 0},
                                           {"text", text},
                                           {"logprobs", response_logprobs()}});
  send_event("response.content_part.done", {{"item_id", message_id(name_.id)},
                                            {"output_index", 0},
                                            {"content_index", 0},
                                            {"part", response_part(text)}});
}

void Generation::finish_response() {
  const bool is_cut = choices_.front().answer && choices_.front().answer->is_cut();
  const char* status = is_cut ? "incomplete" : "completed";
  HeldOrderedJson body = response_body(status);
  if (!asked_.stream) {
    HttpResponse response = json_response(*body);
    leave_queue();
    exchange_->respond(std::move(response));
    return;
  }
  send_event("response.output_item.done",
             {{"output_index", 0}, {"item", response_message(status, true)}});
  leave_queue();
  send_event(std::string("response.") + status, {{"response", std::move(*body)}});
  exchange_->end();
}

void Generation::fail_response(const std::string& message) {
  ordered_json body = response_body("failed");
  body["error"] = {{"code", "server_error"}, {"message", message}};
  send_event("response.failed", {{"response", std::move(body)}});
}

ordered_json Generation::response_logprobs() const {
  const ordered_json& logprobs = *choices_.front().logprobs;
  return logprobs.is_null() ? ordered_json::array() : logprobs["content"];
}

ordered_json Generation::response_part(const std::string& text) const {
  return {{"type", "output_text"},
          {"text", text},
          {"annotations", ordered_json::array()},
          {"logprobs", response_logprobs()}};
}

ordered_json Generation::response_message(const char* status, bool has_text) const {
  ordered_json content = ordered_json::array();
  if (has_text) content.push_back(response_part(text_of(0)));
  return {{"type", "message"},
          {"id", message_id(name_.id)},
          {"status", status},
          {"role", "assistant"},
          {"content", std::move(content)}};
}

ordered_json Generation::response_body(const char* status) const {
  const AskedResponse& asked = asked_.response;
  const bool is_cut = status == std::string_view("incomplete");
  const bool is_whole = is_cut || status == std::string_view("completed");
  const auto or_null = [](const auto& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  ordered_json body{{"id", name_.id},
                    {"object", "response"},
                    {"created_at", name_.created},
                    {"status", status},
                    {"background", false},
                    {"error", nullptr},
                    {"incomplete_details", nullptr},
                    {"instructions", or_null(asked.instructions)},
                    {"max_output_tokens", or_null(asked.max_output_tokens)},
                    {"metadata", ordered_json::parse(asked.metadata)},
                    {"model", identity_.model},
                    {"output", ordered_json::array()},
                    {"parallel_tool_calls", true},
                    {"previous_response_id", nullptr},
                    {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
                    {"store", false},
                    {"temperature", asked.temperature},
                    {"text", {{"format", {{"type", "text"}}}}},
                    {"tool_choice", "auto"},
                    {"tools", ordered_json::array()},
                    {"top_p", asked.top_p},
                    {"truncation", "disabled"},
                    {"usage", nullptr},
                    {"system_fingerprint", identity_.fingerprint}};
  if (is_cut) body["incomplete_details"] = {{"reason", "max_output_tokens"}};
  if (!is_whole) return body;
  body["output"].push_back(response_message(status, true));
  const ordered_json used = usage();
  body["usage"] = {{"input_tokens", used["prompt_tokens"]},
                   {"input_tokens_details", {{"cached_tokens", 0}, {"cache_write_tokens", 0}}},
                   {"output_tokens", used["completion_tokens"]},
                   {"output_tokens_details", {{"reasoning_tokens", 0}}},
                   {"total_tokens", used["total_tokens"]}};
  body["tempera"] = figures();
  return body;
}

}  // namespace tempera::serve
