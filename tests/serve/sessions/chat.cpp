// Conversations, and characters of several tokens: a model with a chat template and a vocabulary of
// bytes.
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/session.hpp"
#include "serve/sessions/counters.hpp"
#include "serve/sessions/generation.hpp"
#include "serve/sessions/resolved_generation.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/architectures/chat_model.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::serve::chat_test {
namespace {

using nlohmann::json;

constexpr std::size_t positions = 160;

/// A client that takes a whole answer, or a stream.
class Client final : public Exchange {
 public:
  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse response) override { response_ = std::move(response); }
  void begin_stream(unsigned /*status*/, std::string /*content_type*/) override {}
  void write(std::string part) override { stream_ += part; }
  void end() override {}
  void on_leave(std::function<void()> /*left*/) override {}
  const HttpResponse& response() const { return response_; }
  /// The data of a stream's events, but for its mark of the end.
  std::vector<json> chunks() const {
    std::vector<json> all;
    std::istringstream lines(stream_);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("data: {")) all.push_back(json::parse(line.substr(6)));
    return all;
  }

 private:
  HttpRequest request_;
  HttpResponse response_;
  std::string stream_;
};

class Chat {
 public:
  json answer(const json& body, BodyForm form = BodyForm::chat) {
    const auto client = answered(body, form);
    REQUIRE(client->response().status == 200);
    return json::parse(client->response().body);
  }
  std::shared_ptr<Client> answered(const json& body, BodyForm form = BodyForm::chat) {
    const auto client = std::make_shared<Client>();
    Counters counters;
    const auto generation = std::make_shared<Generation>(
        model_, identity_, counters, resolved(body, form), GenerationName::fresh(form), client);
    gpu::Session session(model_, {});
    generation->begin(session);
    while (session.step()) {
    }
    return client;
  }
  ResolvedGeneration resolved(const json& body, BodyForm form = BodyForm::chat) const {
    return resolve_generation(model_, identity_, body.dump(), form, {}, 7);
  }
  std::size_t horizon_of(const json& body) const {
    return resolved(body).requests.front().plan.stages.back().horizon;
  }

 private:
  static gpu::OpenedModel opened(const std::filesystem::path& folder) {
    test::write_chat_model(folder, positions);
    return gpu::OpenedModel::open(folder.string());
  }
  test::TemporaryFolder folder_;
  gpu::OpenedModel model_ = opened(folder_ / "model");
  Identity identity_{"chat", "float32", "chat-float32", {}};
};

json question() { return {{"messages", {{{"role", "user"}, {"content", "Hello?"}}}}}; }

std::size_t characters_in(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += utf8_character_length(text.substr(at))) ++count;
  return count;
}

}  // namespace

TEST_CASE("a chat without a length may fill its model's context", "[serve]") {
  const Chat chat;
  json body = question();
  const std::size_t prompt = chat.resolved(body).requests.front().prompt.size();
  REQUIRE(prompt < positions - 64);
  CHECK(chat.horizon_of(body) == positions - prompt);
  body["temperature"] = 0.5;
  CHECK(chat.horizon_of(body) == positions - prompt);
  // Tempering costs more with each token: its length stays that of the command.
  body.erase("temperature");
  body["tempera"] = {{"powers", {1, 2}}};
  CHECK(chat.horizon_of(body) == 64);
  body = question();
  body["max_completion_tokens"] = 9;
  CHECK(chat.horizon_of(body) == 9);
  body["max_completion_tokens"] = positions;
  CHECK_THROWS_AS(chat.horizon_of(body), BadInput);
}

TEST_CASE("an answer names the horizon that its prompt left", "[serve]") {
  Chat chat;
  json body = question();
  body["stop"] = json::array({" ", "a", "e", "i"});
  const json answer = chat.answer(body);
  CHECK(answer["tempera"]["horizon"] == chat.horizon_of(body));
}

TEST_CASE("an earlier answer comes back with what its client has for it", "[serve]") {
  const Chat chat;
  json body = question();
  body["messages"].push_back({{"role", "assistant"},
                              {"content", "Hi."},
                              {"refusal", nullptr},
                              {"annotations", json::array()},
                              {"audio", nullptr},
                              {"tool_calls", nullptr},
                              {"function_call", nullptr}});
  body["messages"].push_back({{"role", "user"}, {"content", "And?"}});
  json bare = body;
  bare["messages"][1] = {{"role", "assistant"}, {"content", "Hi."}};
  CHECK(chat.resolved(body).requests.front().prompt == chat.resolved(bare).requests.front().prompt);
  body["messages"][1]["tool_calls"] = {{{"id", "1"}}};
  CHECK_THROWS_WITH(chat.resolved(body), Catch::Contains("tool_calls"));
}

TEST_CASE("every chunk has a choice, and the last of the last choice the figures of all",
          "[serve]") {
  Chat chat;
  json body = question();
  body["n"] = 3;
  body["max_tokens"] = 12;
  body["seed"] = 4;
  const json whole = chat.answer(body);
  body["stream"] = true;
  const auto chunks = chat.answered(body)->chunks();
  REQUIRE(chunks.size() > 6);
  std::vector<std::string> texts(3);
  for (const json& chunk : chunks) {
    REQUIRE(chunk["choices"].size() == 1);
    const json& choice = chunk["choices"][0];
    texts[choice["index"]] += choice["delta"].value("content", "");
    CHECK(chunk.contains("tempera") == (&chunk == &chunks.back()));
  }
  for (std::size_t i = 0; i < 3; ++i) CHECK(texts[i] == whole["choices"][i]["message"]["content"]);
  CHECK(chunks.back()["tempera"] == whole["tempera"]);
  body["stream_options"] = {{"include_usage", true}};
  const auto counted = chat.answered(body)->chunks();
  CHECK(counted.back()["choices"].empty());
  CHECK(counted.back()["usage"] == whole["usage"]);
}

TEST_CASE("no chunk of a stream splits a character, whether its tokens are drawn or tempered",
          "[serve]") {
  Chat chat;
  bool is_long = false;
  bool is_parted = false;
  for (int seed = 0; seed < 12; ++seed)
    for (const bool is_tempered : {false, true}) {
      CAPTURE(seed, is_tempered);
      json body = question();
      body["max_tokens"] = 40;
      body["seed"] = seed;
      if (is_tempered) body["tempera"] = {{"powers", {1, 2}}, {"block", 8}, {"round_events", true}};
      const std::string whole = chat.answer(body)["choices"][0]["message"]["content"];
      body["stream"] = true;
      std::string together;
      std::size_t parts = 0;
      // A part of a character would be sent as U+FFFD: the texts would not be those of the whole.
      for (const json& chunk : chat.answered(body)->chunks()) {
        if (chunk["choices"].empty()) continue;
        const std::string text = chunk["choices"][0]["delta"].value("content", "");
        parts += text.empty() ? 0 : 1;
        together += text;
      }
      CHECK(together == whole);
      CHECK((!is_tempered || parts <= 1));
      is_long = is_long || characters_in(whole) < whole.size();
      is_parted = is_parted || (parts > 2 && characters_in(whole) < whole.size());
    }
  // Not degenerate: there are characters of several bytes, also in answers that come in parts.
  CHECK(is_long);
  CHECK(is_parted);
}

TEST_CASE("the texts of scored tokens are together the answer, and its offsets count characters",
          "[serve]") {
  Chat chat;
  bool is_split = false;
  bool is_other_part = false;
  bool is_long = false;
  for (int seed = 0; seed < 8; ++seed) {
    CAPTURE(seed);
    json body = question();
    body["max_tokens"] = 60;
    body["seed"] = seed;
    body["logprobs"] = true;
    body["top_logprobs"] = 2;
    const json spoken = chat.answer(body)["choices"][0];
    std::string together, bytes;
    for (const json& token : spoken["logprobs"]["content"]) {
      const std::string text = token["token"];
      for (const int byte : token["bytes"]) bytes += static_cast<char>(byte);
      REQUIRE(token["top_logprobs"].size() == 2);
      for (const json& likely : token["top_logprobs"]) {
        const std::string name = likely["token"];
        const bool is_part = name.starts_with("bytes:\\x");
        is_other_part = is_other_part || is_part;
        if (is_part) CHECK(name.size() == 6 + 4 * likely["bytes"].size());
      }
      CHECK(token["top_logprobs"][0]["token"] != token["top_logprobs"][1]["token"]);
      is_split = is_split || text.empty();
      together += text;
    }
    if (spoken["finish_reason"] == "length") CHECK(together == spoken["message"]["content"]);
    CHECK(replace_invalid_utf8(bytes) == together);

    json continued{{"prompt", "Hello \u00e9?"},
                   {"max_tokens", 60},
                   {"seed", seed},
                   {"logprobs", 2},
                   {"echo", true}};
    const json choice = chat.answer(continued, BodyForm::completion)["choices"][0];
    const json& scores = choice["logprobs"];
    together.clear();
    for (std::size_t t = 0; t < scores["tokens"].size(); ++t) {
      CHECK(scores["text_offset"][t] == characters_in(together));
      is_long = is_long || characters_in(together) < together.size();
      const std::string text = scores["tokens"][t];
      if (t > 0) {
        const json& top = scores["top_logprobs"][t];
        CHECK(top.contains(text));
        CHECK((top.size() == 2 || top.size() == 3));  // the token itself beside the two
      }
      together += text;
    }
    if (choice["finish_reason"] == "length") CHECK(together == choice["text"]);
  }
  // Not degenerate: there are characters of several tokens, and of several bytes.
  CHECK(is_split);
  CHECK(is_other_part);
  CHECK(is_long);
}

}  // namespace tempera::serve::chat_test
