// Prompts whose tokens are scored: one pass at a time, between those of the others.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpu/session/token_scores.hpp"
#include "tests/catch.hpp"
#include "tests/serve/sessions/served.hpp"

namespace tempera::serve::scored_prompts_test {
namespace {

using nlohmann::json;
using served_test::Asked;
using served_test::Served;

const std::vector<double> one{1.0};

json scored(std::size_t prompts) {
  json body{{"max_tokens", 0}, {"echo", true}, {"logprobs", 1}, {"prompt", json::array()}};
  for (std::size_t i = 0; i < prompts; ++i)
    body["prompt"].push_back(std::to_string(i % 9 + 1) + "+4+7?<");
  return body;
}

}  // namespace

TEST_CASE("prompts that are scored have the figures of the command, whole and in a stream",
          "[serve]") {
  Served served;
  json body = scored(11);
  body["prompt"].push_back("4");   // a single token, which has no probability
  body["prompt"].push_back("4+");  // and two, of which the second has one
  REQUIRE(served.model.encode("4+", "prompt").size() ==
          served.model.encode("4", "prompt").size() + 1);
  const Asked whole = served.ask(body);
  body["stream"] = true;
  const Asked stream = served.ask(body);
  while (served.session.step()) {
  }
  const auto answer = nlohmann::ordered_json::parse(whole.client->body());
  REQUIRE(answer["choices"].size() == 13);
  for (std::size_t i = 0; i < 13; ++i) {
    const auto& choice = answer["choices"][i];
    const auto tokens = served.model.encode(body["prompt"][i].get<std::string>(), "prompt");
    const auto& log_p = choice["logprobs"]["token_logprobs"];
    REQUIRE(log_p.size() == tokens.size());
    CHECK(log_p[0].is_null());
    if (tokens.size() == 1) continue;
    const auto wanted = gpu::score_tokens(served.model.model(), tokens, one);
    for (std::size_t t = 1; t < tokens.size(); ++t) CHECK(log_p[t] == wanted.log_p[t - 1]);
    CHECK(stream.client->sent().find(choice["logprobs"].dump()) != std::string::npos);
  }
  CHECK(stream.client->sent().ends_with("data: [DONE]\n\n"));
}

// A text takes two passes: who leaves before the first leaves two that must not be made. The last
// pass of all is made by a step that says that nothing is left.
constexpr int steps_before[]{6, 7, 8};

TEST_CASE("a client that leaves while its prompts are scored takes no further pass", "[serve]") {
  for (const int steps : steps_before) {
    CAPTURE(steps);
    Served served;
    const Asked gone = served.ask(scored(100));
    for (int i = 0; i < steps; ++i) CHECK(served.session.step());
    gone.generation->leave(served.session);
    const double seconds = served.session.totals().score;
    CHECK_FALSE(served.session.step());
    CHECK(served.session.totals().score == seconds);
    CHECK(gone.client->body().empty());
    CHECK(served.session.totals().cache_bytes == 0);
  }
}

TEST_CASE("a request beyond its time ends while its prompts are scored", "[serve]") {
  for (const int steps : steps_before) {
    CAPTURE(steps);
    Served served;
    const Asked late = served.ask(scored(100));
    for (int i = 0; i < steps; ++i) CHECK(served.session.step());
    late.generation->give_up(400, "too long");
    const double seconds = served.session.totals().score;
    CHECK_FALSE(served.session.step());
    CHECK(served.session.totals().score == seconds);
    CHECK(late.client->body().find("too long") != std::string::npos);
  }
}

TEST_CASE("a request of few prompts does not wait for one of many", "[serve]") {
  Served served;
  const Asked many = served.ask(scored(100));
  for (int i = 0; i < 7; ++i) served.session.step();
  const Asked one = served.ask(scored(1));
  std::size_t steps = 0;
  for (; !one.generation->is_over(); ++steps) REQUIRE(served.session.step());
  CHECK(steps <= 4);  // the two passes of the text before it, and its own
  CHECK_FALSE(many.generation->is_over());
  while (served.session.step()) {
  }
  CHECK(json::parse(many.client->body())["choices"].size() == 100);
}

}  // namespace tempera::serve::scored_prompts_test
