#include "serve/protocol/generation_request.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/held_json.hpp"
#include "base/in_quotes.hpp"
#include "base/json_text.hpp"
#include "serve/protocol/neutral_fields.hpp"
#include "serve/protocol/request_body.hpp"
#include "settings/field_json.hpp"

namespace tempera::serve {
namespace {

using nlohmann::json;

/// The power of temperature 0: a token whose logit is 3e-5 below the largest keeps one ticket of
/// 2^44.
constexpr double power_of_zero_temperature = 1048576.0;
constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();

/// Fields that this server acts on: of all requests, and of one form.
void check_body(const JsonObject& body, BodyForm form) {
  std::vector<std::string_view> known = gpu::body_keys(&gpu::Places::beside);
  const auto add = [&](std::initializer_list<std::string_view> fields) {
    known.insert(known.end(), fields);
  };
  add({"model", "stop", "seed", "temperature", "stream", "stream_options", "tempera"});
  switch (form) {
    case BodyForm::completion:
      add({"n", "max_tokens", "logprobs", "prompt", "best_of", "echo"});
      return check_fields(body, Holder::completion, known);
    case BodyForm::chat:
      add({"n", "max_tokens", "logprobs", "messages", "max_completion_tokens", "top_logprobs",
           "chat_template_kwargs"});
      return check_fields(body, Holder::chat, known);
    case BodyForm::response:
      add({"input", "instructions", "max_output_tokens", "chat_template_kwargs", "include",
           "top_logprobs"});
      return check_fields(body, Holder::response, known);
  }
}

/// The seed of a body or of its "tempera"; none for -1, which some clients send for a fresh one.
std::optional<std::uint64_t> read_seed(const JsonObject& object) {
  if (!object.has("seed") || is_same(object.at("seed"), -1)) return std::nullopt;
  return object.whole_number("seed", 0, std::numeric_limits<std::uint64_t>::max());
}

/// Whether a "tempera" object says anything of the sampler: then its powers decide, and not the
/// temperature.
bool names_sampler(const JsonObject& tempera) {
  const auto settings = gpu::body_keys();
  return std::any_of(settings.begin(), settings.end(), [&](std::string_view setting) {
    const std::string key(setting);
    return tempera.has(key) && (key != "sampler" || tempera.at(key) != json("low-temperature"));
  });
}

/// The sampler that the model's name or the server gives to a request, `standard` also if the
/// temperature makes low-temperature of it; empty if the temperature alone decides, or if the
/// request describes its own in "tempera".
std::string given_sampler(const JsonObject& body, const AskedModel& asked,
                          const ServedSamplers& samplers) {
  const bool describes = body.has("tempera") && names_sampler(body.object("tempera"));
  if (!asked.sampler.empty() && describes) {
    const JsonObject tempera = body.object("tempera");
    if (tempera.has("sampler") && tempera.text("sampler") != asked.sampler)
      throw BadInput("tempera.sampler", "it differs from that of the model's name",
                     "give one of the two");
    return asked.sampler;
  }
  return describes || !asked.sampler.empty() ? asked.sampler : samplers.default_sampler;
}

/// True if a temperature makes low-temperature of the sampler that is given.
bool is_tempered(const JsonObject& body, const std::string& given) {
  const bool describes = body.has("tempera") && names_sampler(body.object("tempera"));
  return given == "standard" && body.has("temperature") && !describes;
}

/// True if a request to which no sampler is given is drawn token by token, as every other server
/// would draw it.
bool is_plain(const JsonObject& body) {
  if (!body.has("tempera")) return true;
  const JsonObject tempera = body.object("tempera");
  return body.has("temperature") && !names_sampler(tempera) && !tempera.has("sampler");
}

/// The settings that the server has for a sampler; its powers give way to a temperature.
gpu::SamplerWish beginning_of(const JsonObject& body, const std::string& given,
                              const ServedSamplers& samplers) {
  if (given.empty()) return is_plain(body) ? samplers.tokenwise() : gpu::SamplerWish();
  if (!is_tempered(body, given)) return samplers.beginning(given);
  gpu::SamplerWish wish = samplers.beginning("low-temperature");
  wish.sampler = {};
  wish.powers = {};
  wish.temperature = {};
  return wish;
}

/// The temperature, if it decides the sampler. Beside a sampler that is given or described 1
/// changes nothing.
void read_temperature(const JsonObject& body, const std::string& given, gpu::SamplerWish& wish) {
  const bool is_given = !given.empty() && !is_tempered(body, given);
  const bool is_beside = is_given || (body.has("tempera") && names_sampler(body.object("tempera")));
  if (!body.has("temperature")) {
    if (!body.has("tempera") && !is_beside) wish.temperature = wish.temperature.value_or(1.0);
    return;
  }
  const double temperature = body.finite_number("temperature");
  if (temperature < 0.0) throw BadInput("temperature", "it is below 0", "give 0 or more");
  if (temperature == 1.0 && is_beside) return;
  if (is_given)
    throw BadInput("temperature", "beside the sampler " + given + " only 1 is taken",
                   "leave it out, or end the model's name with \":standard\"");
  if (is_beside || (temperature == 0.0 && body.has("tempera")))
    throw BadInput("temperature", "beside a sampler in \"tempera\" only 1 is taken",
                   "leave it out, and give powers: the power 1/t does what the temperature t does");
  if (temperature == 0.0) {
    wish.sampler = "low-temperature";
    wish.powers = {power_of_zero_temperature};
    wish.temperature = {};
  } else {
    wish.temperature = temperature;
  }
}

void read_tempera(const JsonObject& object, GenerationRequest& request, gpu::SamplerWish& wish,
                  gpu::ChatArguments& arguments) {
  check_fields(object, Holder::tempera, tempera_keys(), "tempera.");
  gpu::read_body(object, wish);
  if (const auto seed = read_seed(object)) {
    if (request.is_seed_given && *seed != request.seed)
      throw BadInput("tempera.seed", "it differs from the field \"seed\"", "give one of the two");
    request.seed = *seed;
    request.is_seed_given = true;
  }
  if (object.has("thinking")) {
    request.thinking_field = "tempera.thinking";
    arguments.add_thinking(object.boolean("thinking"), "tempera.thinking",
                           "it differs from \"enable_thinking\" of \"chat_template_kwargs\"");
  }
  request.round_events = object.boolean_or("round_events", false);
  request.audit = object.boolean_or("audit", false);
  request.log_z = object.boolean_or("log_z", false);
  request.digest = object.boolean_or("digest", false);
  request.estimate = object.boolean_or("estimate", false);
}

std::vector<std::string> stops(const JsonObject& body) {
  if (!body.has("stop")) return {};
  if (body.at("stop").is_string()) return {body.text("stop")};
  auto list = body.texts("stop");
  if (list.size() > 16)
    throw BadInput("stop", std::to_string(list.size()) + " texts", "give at most 16");
  return list;
}

std::vector<gpu::TokenId> tokens_of(const json& value, const std::string& where) {
  std::vector<gpu::TokenId> tokens;
  for (const auto& token : value) {
    if (!token.is_number_unsigned() || token.get<std::uint64_t>() > most)
      throw BadInput(where, "a token is not a whole number", "give a list of token numbers");
    tokens.push_back(token.get<gpu::TokenId>());
  }
  return tokens;
}

/// A text, a list of texts, a list of tokens, or a list of lists of tokens.
std::vector<gpu::PromptWish> prompts_of(const JsonObject& body) {
  const json& prompt = body.at("prompt");
  if (prompt.is_string()) return {prompt.get<std::string>()};
  if (!prompt.is_array() || prompt.empty())
    throw BadInput("prompt", "it is neither a text nor a list of texts or tokens", "give one");
  if (prompt.front().is_number()) return {tokens_of(prompt, "prompt")};
  std::vector<gpu::PromptWish> list;
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    const std::string where = "prompt, number " + std::to_string(i + 1);
    if (prompt[i].is_string())
      list.emplace_back(prompt[i].get<std::string>());
    else if (prompt[i].is_array())
      list.emplace_back(tokens_of(prompt[i], where));
    else
      throw BadInput(where, "it is neither a text nor a list of tokens", "give one");
  }
  return list;
}

/// The types of a message's parts that are texts, ...
using PartTypes = std::initializer_list<std::string_view>;
const PartTypes of_chats{"text"};
const PartTypes of_responses{"input_text", "output_text"};

/// ... and the text of such a message. place: of the message in errors, such as "messages[0].".
std::string content_of(const JsonObject& message, PartTypes types, const std::string& place) {
  if (message.at("content").is_string()) return message.text("content");
  std::string text;
  std::size_t number = 0;
  for (const JsonObject& part : message.objects("content")) {
    const std::string own = place + "content[" + std::to_string(number++) + "]";
    const std::string type = part.text("type");
    if (std::find(types.begin(), types.end(), type) == types.end()) {
      std::string names;
      for (const std::string_view each : types)
        names += (names.empty() ? "" : " or ") + in_quotes(each);
      throw BadInput(own, in_quotes(type) + " is not text",
                     "give parts of type " + names + " alone");
    }
    check_fields(part, Holder::part, {"type", "text"}, {}, own + ".");
    text += part.text("text");
  }
  return text;
}

/// Limits of a prompt's texts; its tokens are compared with the model's context.
std::size_t bytes_of(const gpu::PromptWish& prompt) {
  if (const auto* text = std::get_if<std::string>(&prompt)) return text->size();
  std::size_t sum = 0;
  if (const auto* messages = std::get_if<std::vector<gpu::ChatMessage>>(&prompt))
    for (const gpu::ChatMessage& message : *messages) sum += message.content.size();
  return sum;
}

void require_at_most(const char* field, std::size_t value, std::size_t limit) {
  if (value > limit)
    throw BadInput(field, std::to_string(value) + " is above this server's limit",
                   "give at most " + std::to_string(limit));
}

/// A response can have this beside its text.
constexpr std::string_view logprobs_of_text = "message.output_text.logprobs";

bool includes_logprobs(const JsonObject& body) {
  if (!body.has("include")) return false;
  const auto parts = body.texts("include");
  for (const std::string& part : parts)
    if (part != logprobs_of_text)
      throw BadInput("include", in_quotes(part) + " is nothing that a response of this server has",
                     "leave it out; \"" + std::string(logprobs_of_text) + "\" is taken");
  return !parts.empty();
}

void read_logprobs(const JsonObject& body, GenerationRequest& request,
                   const GenerationLimits& limits) {
  const bool is_response = request.form == BodyForm::response;
  const bool has_own_field = is_response || request.form == BodyForm::chat;
  if (has_own_field) {
    request.logprobs = is_response ? includes_logprobs(body) : body.boolean_or("logprobs", false);
    if (!body.has("top_logprobs")) return;
    request.top_logprobs = body.whole_number("top_logprobs", 0, most);
    if (!request.logprobs && request.top_logprobs > 0)
      throw BadInput("top_logprobs",
                     std::string("it is given without ") +
                         (is_response ? "\"include\": [\"" + std::string(logprobs_of_text) + "\"]"
                                      : "\"logprobs\": true"),
                     "add that, or leave it out");
  } else if (body.has("logprobs") && !body.at("logprobs").is_boolean()) {
    request.logprobs = true;
    request.top_logprobs = body.whole_number("logprobs", 0, most);
  } else {
    request.logprobs = body.boolean_or("logprobs", false);
  }
  require_at_most(has_own_field ? "top_logprobs" : "logprobs", request.top_logprobs,
                  limits.top_logprobs);
}

/// Reads the parts of a request that its response repeats, and refuses those it has no form for.
/// wish: what the request and the server say of the sampler
void read_response(const JsonObject& body, const gpu::SamplerWish& wish,
                   GenerationRequest& request) {
  for (const auto& [is_asked, field] : {std::pair{request.estimate, "tempera.estimate"},
                                        std::pair{request.round_events, "tempera.round_events"}})
    if (is_asked)
      throw BadInput(field, "a response has no form for it",
                     "leave it out, or POST the conversation to /v1/chat/completions");
  AskedResponse& response = request.response;
  response.instructions = body.optional_text("instructions");
  if (body.has("max_output_tokens"))
    response.max_output_tokens = body.whole_number("max_output_tokens", 0, most);
  response.temperature =
      body.has("temperature") ? body.finite_number("temperature") : wish.temperature.value_or(1.0);
  response.top_p = wish.options.top_p;
  if (body.has("metadata")) response.metadata = body.at("metadata").dump();
}

}  // namespace

std::vector<gpu::ChatMessage> read_messages(const JsonObject& body) {
  std::vector<gpu::ChatMessage> messages;
  for (const JsonObject& message : body.objects("messages")) {
    // An earlier answer comes back with what its client has for it, all of it empty here.
    const std::string place = "messages[" + std::to_string(messages.size()) + "].";
    check_fields(message, Holder::message, {"role", "content"}, {}, place);
    auto role = message.text("role");
    // An assistant's turn without text, which clients send as null.
    const bool is_empty = role == "assistant" && !message.has("content");
    messages.push_back(
        {std::move(role), is_empty ? std::string() : content_of(message, of_chats, place)});
  }
  if (messages.empty()) throw BadInput("messages", "there is none", "give at least one");
  return messages;
}

std::vector<gpu::ChatMessage> read_input(const JsonObject& body) {
  std::vector<gpu::ChatMessage> messages;
  if (body.has("instructions")) messages.push_back({"system", body.text("instructions")});
  const std::size_t before = messages.size();
  if (body.at("input").is_string()) {
    messages.push_back({"user", body.text("input")});
    return messages;
  }
  for (const JsonObject& item : body.objects("input")) {
    const std::string own = "input[" + std::to_string(messages.size() - before) + "]";
    if (const auto type = item.optional_text("type"); type && *type != "message")
      throw BadInput(own, in_quotes(*type) + " is not a message",
                     "give items of type \"message\" alone, and write what else there was as text");
    check_fields(item, Holder::input_item, {"type", "role", "content"}, {}, own + ".");
    messages.push_back({item.text("role"), content_of(item, of_responses, own + ".")});
  }
  if (messages.size() == before) throw BadInput("input", "it is empty", "give a text or a message");
  return messages;
}

gpu::ChatArguments read_chat_arguments(const JsonObject& body, std::string_view body_text) {
  const std::string field = "chat_template_kwargs";
  if (!body.has(field)) return {};
  // A template may write its members in their order, which `body` has lost.
  const HeldOrderedJson arguments = parse_ordered_member(body_text, field);
  return gpu::ChatArguments::read(*arguments, field);
}

GenerationRequest read_generation_request(std::string_view body_text, BodyForm form,
                                          const GenerationLimits& limits,
                                          std::optional<std::uint64_t> seed) {
  const HeldJson parsed = parse_body(body_text);
  const JsonObject body(*parsed, "body");
  check_body(body, form);
  const bool is_completion = form == BodyForm::completion;
  const bool is_chat = form == BodyForm::chat;
  const bool is_response = form == BodyForm::response;

  GenerationRequest request;
  request.form = form;
  const AskedModel asked = asked_model(body.optional_text("model").value_or(""));
  request.model = asked.model;
  if (!is_response && body.has("n")) request.choices_of_a_prompt = body.whole_number("n", 1, most);
  if (is_completion && body.has("best_of") &&
      body.whole_number("best_of", 1, most) != request.choices_of_a_prompt)
    throw BadInput("best_of", "it differs from n",
                   "leave it out, or ask for the sampler \"best-of-n\" in \"tempera\"");
  if (const auto given = read_seed(body)) {
    request.seed = *given;
    request.is_seed_given = true;
  }
  request.stream = body.boolean_or("stream", false);
  if (body.has("stream_options")) {
    const JsonObject options = body.object("stream_options");
    check_fields(options, Holder::stream_options, {"include_usage"}, {}, "stream_options.");
    request.include_usage = options.boolean_or("include_usage", false);
    if (request.include_usage && !request.stream)
      throw BadInput("stream_options.include_usage", "it is given without \"stream\": true",
                     "add that");
  }
  read_logprobs(body, request, limits);
  if (is_completion) request.echo = body.boolean_or("echo", false);

  gpu::SampleWish wish;
  const std::string given = given_sampler(body, asked, limits.samplers);
  wish.sampler = beginning_of(body, given, limits.samplers);
  read_temperature(body, given, wish.sampler);
  gpu::read_body(body, wish.sampler, &gpu::Places::beside);
  if (!is_completion) wish.arguments = read_chat_arguments(body, body_text);
  if (body.has("tempera"))
    read_tempera(body.object("tempera"), request, wish.sampler, wish.arguments);
  wish.sampler.stop = stops(body);

  const bool names_both = body.has("max_tokens") && is_chat && body.has("max_completion_tokens");
  const char* length = is_response                                    ? "max_output_tokens"
                       : is_chat && body.has("max_completion_tokens") ? "max_completion_tokens"
                                                                      : "max_tokens";
  if (names_both && body.whole_number("max_tokens", 0, most) != body.whole_number(length, 0, most))
    throw BadInput("max_tokens", "it differs from max_completion_tokens", "give one of the two");
  if (body.has(length)) {
    const auto horizon = body.whole_number(length, 0, most);
    require_at_most(length, horizon, limits.horizon);
    request.generates = horizon > 0;
    wish.sampler.horizon = std::max<std::size_t>(1, horizon);
    if (!request.generates && !request.echo)
      throw BadInput(length, "0 asks for nothing", "give 1 or more, or \"echo\": true beside it");
  }

  if (request.estimate && (request.stream || request.audit || request.log_z || request.logprobs ||
                           request.echo || !request.generates))
    throw BadInput("tempera.estimate", "the request asks for parts of an answer, and gets none",
                   "leave out stream, audit, log_z, logprobs, echo and max_tokens 0");
  if (is_response) read_response(body, wish.sampler, request);
  if (!is_completion && !body.has(length) && !body.has("tempera") &&
      (given.empty() || given == "standard") && !wish.sampler.horizon) {
    wish.sampler.horizon = limits.open_horizon;
    request.is_horizon_open = true;
  }

  if (!request.is_seed_given && seed) {
    request.seed = *seed;
  } else if (!request.is_seed_given) {
    std::random_device source;
    // Clients read numbers as doubles, so a seed of ours has at most 53 bits.
    request.seed = (std::uint64_t{source()} << 21) ^ source();
    request.seed &= (std::uint64_t{1} << 53) - 1;
  }
  wish.sampler.seed = request.seed;
  wish.sampler.samples = request.choices_of_a_prompt;

  std::vector<gpu::PromptWish> prompts;
  if (is_completion)
    prompts = prompts_of(body);
  else
    prompts.emplace_back(is_response ? read_input(body) : read_messages(body));
  require_at_most("prompt", prompts.size(), limits.prompts);
  for (const auto& prompt : prompts)
    require_at_most(is_response ? "input, bytes"
                    : is_chat   ? "messages, bytes"
                                : "prompt, bytes",
                    bytes_of(prompt), limits.prompt_bytes);
  require_at_most("n", request.choices_of_a_prompt, limits.choices);
  require_at_most("prompts times n", prompts.size() * request.choices_of_a_prompt,
                  std::max(limits.choices, limits.prompts));
  // One prompt draws as the command's single prompt does; of several each by its number.
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    wish.prompt = std::move(prompts[i]);
    wish.id = prompts.size() == 1 ? std::nullopt : std::optional(std::to_string(i));
    request.wishes.push_back(wish);
  }
  return request;
}

}  // namespace tempera::serve
