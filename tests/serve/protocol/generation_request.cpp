#include "serve/protocol/generation_request.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "serve/protocol/error_body.hpp"
#include "serve/protocol/neutral_fields.hpp"
#include "settings/field_json.hpp"
#include "tests/catch.hpp"

namespace tempera::serve::generation_request_test {
namespace {

using nlohmann::json;

gpu::SampleWish wish_of(const json& fields) {
  json body{{"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
  body.update(fields);
  return read_generation_request(body.dump(), BodyForm::chat, {}, 7).wishes.front();
}

}  // namespace

TEST_CASE("enable_thinking of chat_template_kwargs is thinking of tempera", "[serve]") {
  CHECK(wish_of(json::object()).arguments.empty());
  CHECK(wish_of({{"chat_template_kwargs", json::object()}}).arguments.empty());
  CHECK(wish_of({{"chat_template_kwargs", {{"enable_thinking", nullptr}}}}).arguments.empty());
  for (const bool thinks : {true, false}) {
    const auto wanted = gpu::ChatArguments::of_thinking(thinks).json();
    const json arguments{{"enable_thinking", thinks}};
    CHECK(wish_of({{"chat_template_kwargs", arguments}}).arguments.json() == wanted);
    CHECK(wish_of({{"tempera", {{"thinking", thinks}}}}).arguments.json() == wanted);
    CHECK(wish_of({{"chat_template_kwargs", arguments}, {"tempera", {{"thinking", thinks}}}})
              .arguments.json() == wanted);
    CHECK_THROWS_AS(
        wish_of({{"chat_template_kwargs", arguments}, {"tempera", {{"thinking", !thinks}}}}),
        BadInput);
  }
}

TEST_CASE("chat_template_kwargs are given as they are, in their order", "[serve]") {
  const std::string arguments = R"({"z":{"b":1,"a":[true,"x"]},"effort":"low"})";
  const auto body = R"({"messages":[{"role":"developer","content":"Hi"}],"chat_template_kwargs":)" +
                    arguments + R"(,"tempera":{"thinking":true}})";
  const auto wish = read_generation_request(body, BodyForm::chat, {}, 7).wishes.front();
  CHECK(wish.arguments.json() ==
        R"({"z":{"b":1,"a":[true,"x"]},"effort":"low","enable_thinking":true})");
  CHECK(std::get<std::vector<gpu::ChatMessage>>(wish.prompt).front().role == "developer");
}

TEST_CASE("a refusal names its field as the protocol's param", "[serve]") {
  const auto param_of = [](const std::string& message) {
    return json::parse(wrong_request(message).body)["error"]["param"];
  };
  CHECK(param_of("top_p: is 0.5; leave it out") == "top_p");
  CHECK(param_of("messages[1].refusal: is not a field; leave it out") == "messages[1].refusal");
  CHECK(param_of(R"(body: key "n" is 0, not 1; give one)") == "n");
  CHECK(param_of(R"(body: key "tempera"["powers"][0] is null; give one)") == "tempera.powers[0]");
  CHECK(param_of(R"(body, "messages"[2], "content"[0]: is 5; give one)") == "messages[2]");
  CHECK(param_of(R"(body: the number at "n" is out of range; give one)") == "n");
  CHECK(param_of(R"(body: the number at "tempera"["block"] is out of range; give one)") ==
        "tempera.block");
  for (const std::string message :
       {"body, line 1, column 2: not valid", "body: is not a JSON object; send one",
        "no field at all", "a/b.json: is missing", "two words: are none", R"(body: key "a)"})
    CHECK(param_of(message).is_null());
}

TEST_CASE("each limit of a request is taken at its bound and refused one past it", "[serve]") {
  // No two are the same.
  const GenerationLimits limits{.choices = 3,
                                .prompts = 5,
                                .horizon = 7,
                                .open_horizon = 6,
                                .top_logprobs = 2,
                                .prompt_bytes = 11};
  // The beginning of the refusal; empty without one.
  const auto refusal = [&](bool is_chat, const json& fields) -> std::string {
    json body = is_chat ? json{{"messages", {{{"role", "user"}, {"content", "Hi"}}}}}
                        : json{{"prompt", "Hi"}};
    body.update(fields);
    try {
      read_generation_request(body.dump(), is_chat ? BodyForm::chat : BodyForm::completion, limits,
                              7);
    } catch (const BadInput& error) {
      const std::string message = error.what();
      return message.substr(0, message.find(':'));
    }
    return "";
  };
  const auto texts = [](std::size_t count, const std::string& text = "a") {
    return std::vector<std::string>(count, text);
  };
  const auto messages = [](const std::vector<std::size_t>& bytes) {
    json list = json::array();
    for (const std::size_t count : bytes)
      list.push_back({{"role", "user"}, {"content", std::string(count, 'a')}});
    return json{{"messages", list}};
  };
  const auto parts = [](std::size_t one, std::size_t other) {
    json list = json::array();
    for (const std::size_t count : {one, other})
      list.push_back({{"type", "text"}, {"text", std::string(count, 'a')}});
    return json{{"messages", {{{"role", "user"}, {"content", list}}}}};
  };
  struct Bound {
    bool is_chat;
    json taken, refused;
    std::string field;
  };
  const std::vector<Bound> bounds{
      {false, {{"n", 3}}, {{"n", 4}}, "n"},
      {true, {{"n", 3}}, {{"n", 4}}, "n"},
      {false, {{"prompt", texts(5)}}, {{"prompt", texts(6)}}, "prompt"},
      {false,
       {{"prompt", texts(2)}, {"n", 2}},
       {{"prompt", texts(2)}, {"n", 3}},
       "prompts times n"},
      {false, {{"max_tokens", 7}}, {{"max_tokens", 8}}, "max_tokens"},
      {true, {{"max_tokens", 7}}, {{"max_tokens", 8}}, "max_tokens"},
      {true,
       {{"max_completion_tokens", 7}},
       {{"max_completion_tokens", 8}},
       "max_completion_tokens"},
      {true,
       {{"max_tokens", 5}, {"max_completion_tokens", 5}},
       {{"max_tokens", 5}, {"max_completion_tokens", 6}},
       "max_tokens"},
      {false, {{"max_tokens", 1}}, {{"max_tokens", 0}}, "max_tokens"},
      {false,
       {{"max_tokens", 0}, {"echo", true}},
       {{"max_tokens", 0}, {"echo", false}},
       "max_tokens"},
      {false, {{"logprobs", 2}}, {{"logprobs", 3}}, "logprobs"},
      {true,
       {{"logprobs", true}, {"top_logprobs", 2}},
       {{"logprobs", true}, {"top_logprobs", 3}},
       "top_logprobs"},
      {true,
       {{"logprobs", true}, {"top_logprobs", 0}},
       {{"logprobs", false}, {"top_logprobs", 1}},
       "top_logprobs"},
      {true, {{"logprobs", true}}, {{"top_logprobs", 1}}, "top_logprobs"},
      {false, {{"stop", texts(16)}}, {{"stop", texts(17)}}, "stop"},
      {true, {{"stop", texts(16)}}, {{"stop", texts(17)}}, "stop"},
      {false,
       {{"prompt", texts(2, "eleven byte")}},
       {{"prompt", {"a", "twelve bytes"}}},
       "prompt, bytes"},
      {false,
       {{"prompt", "\u00E9\u00E9\u00E9\u00E9\u00E9a"}},
       {{"prompt", "\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9"}},
       "prompt, bytes"},
      {true, messages({11}), messages({12}), "messages, bytes"},
      {true, messages({6, 5}), messages({6, 6}), "messages, bytes"},
      {true, messages({9, 1, 1}), messages({9, 2, 1}), "messages, bytes"},
      {true, messages({1, 0, 10}), messages({1, 1, 10}), "messages, bytes"},
      {true, parts(6, 5), parts(6, 6), "messages, bytes"},
  };
  for (const Bound& bound : bounds) {
    CAPTURE(bound.is_chat, bound.taken.dump(), bound.refused.dump());
    CHECK(refusal(bound.is_chat, bound.taken).empty());
    CHECK(refusal(bound.is_chat, bound.refused) == bound.field);
  }
}

TEST_CASE("a temperature is taken beside what says nothing of the sampler, and nothing else",
          "[serve]") {
  for (const json& tempera : {json::object(), json{{"seed", 5}}, json{{"thinking", true}},
                              json{{"round_events", true}}, json{{"round_events", false}},
                              json{{"sampler", "low-temperature"}}, json{{"powers", nullptr}},
                              json{{"seed", 5}, {"thinking", false}, {"round_events", true}}}) {
    CAPTURE(tempera.dump());
    CHECK(wish_of({{"temperature", 0.5}, {"tempera", tempera}}).sampler.temperature == 0.5);
    CHECK_THROWS_AS(wish_of({{"temperature", 0}, {"tempera", tempera}}), BadInput);
  }
  for (const json& tempera :
       {json{{"powers", {2}}}, json{{"rounds", 2}}, json{{"block", 2}}, json{{"sampler", "ppt"}},
        json{{"prefetch", 1}}, json{{"seed", 5}, {"sweeps", 1}}}) {
    CAPTURE(tempera.dump());
    CHECK(wish_of({{"temperature", 1}, {"tempera", tempera}}).sampler.temperature == std::nullopt);
    for (const double temperature : {0.0, 0.5, 2.0})
      CHECK_THROWS_AS(wish_of({{"temperature", temperature}, {"tempera", tempera}}), BadInput);
  }
}

TEST_CASE("every key of tempera that is no setting of a sampler leaves the temperature alone",
          "[serve]") {
  const json values{{"seed", 5},        {"thinking", true}, {"round_events", true}, {"audit", true},
                    {"estimate", true}, {"log_z", true},    {"digest", true}};
  const auto settings = gpu::body_keys();
  std::size_t others = 0;
  for (const std::string_view each : tempera_keys()) {
    if (std::find(settings.begin(), settings.end(), each) != settings.end()) continue;
    const std::string key(each);
    CAPTURE(key);
    REQUIRE(values.contains(key));
    CHECK(wish_of({{"temperature", 0.5}, {"tempera", {{key, values[key]}}}}).sampler.temperature ==
          0.5);
    ++others;
  }
  CHECK(others == values.size());
}

TEST_CASE("-1 asks for a fresh seed, and every number of 64 bits is one", "[serve]") {
  const auto read = [](const char* format, const std::string& seed) {
    std::string body = format;
    body.replace(body.find('@'), 1, seed);
    return read_generation_request(body, BodyForm::completion, {}, 7);
  };
  for (const char* place : {R"({"prompt": "1?", "seed": @})",
                            R"({"prompt": "1?", "tempera": {"powers": [2], "seed": @}})"}) {
    for (const std::uint64_t seed :
         {std::uint64_t{0}, std::uint64_t{1} << 63, UINT64_MAX - 1, UINT64_MAX}) {
      CAPTURE(place, seed);
      CHECK(read(place, std::to_string(seed)).is_seed_given);
      CHECK(read(place, std::to_string(seed)).seed == seed);
    }
    for (const std::string fresh : {"-1", "-1.0", "null"}) {
      CHECK_FALSE(read(place, fresh).is_seed_given);
      CHECK(read(place, fresh).seed == 7);
    }
    for (const std::string wrong : {"-2", "1.5", "18446744073709551616"})
      CHECK_THROWS_AS(read(place, wrong), BadInput);
  }
  // The same holds for any field: -1 is neutral here, while 2^64 - 1 asks for something.
  for (const char* field : {"top_k", "top_n_sigma", "t_max_predict_ms", "reasoning_budget"}) {
    CAPTURE(field);
    const std::string place = std::string(R"({"prompt": "1?", ")") + field + R"(": @})";
    for (const std::string neutral : {"-1", "-1.0", "-1e0"})
      CHECK_NOTHROW(read(place.c_str(), neutral));
    CHECK_THROWS_AS(read(place.c_str(), std::to_string(UINT64_MAX)), BadInput);
  }
}

}  // namespace tempera::serve::generation_request_test
