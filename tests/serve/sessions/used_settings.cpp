// An answer says what was used: a client that asks for that again has the same answer.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch.hpp"
#include "tests/serve/sessions/served.hpp"

namespace tempera::serve::used_settings_test {
namespace {

using nlohmann::json;

json answer_of(const json& body) {
  served_test::Served served;
  const auto asked = served.ask(body);
  while (served.session.step()) {
  }
  return json::parse(asked.client->body());
}

}  // namespace

TEST_CASE("an answer says what was used, and that gives the same answer again", "[serve]") {
  json body{{"prompt", "4+7+9?"}, {"max_tokens", 12}};
  const json asked{{"powers", {1, 2, 4}},
                   {"block", 4},
                   {"rounds", {1, 2, 3}},
                   {"local_moves", {2, 1, 1}},
                   {"sweeps", {1, 2, 1}},
                   {"schedule", "deo"},
                   {"restart_weights", {3, 2, 1, 1}},
                   {"restart_range", "record"},
                   {"output_rung", 2}};
  body["tempera"] = asked;
  const json whole = answer_of(body);
  const json& used = whole["tempera"];
  for (const auto& [key, value] : asked.items()) {
    CAPTURE(key);
    CHECK(used[key] == value);
  }
  CHECK(used["sampler"] == "ppt");
  CHECK(used["horizon"] == 12);
  for (const auto& [key, value] : asked.items()) body["tempera"][key] = used[key];
  body["seed"] = used["seed"];
  const json again = answer_of(body);
  CHECK(again["choices"] == whole["choices"]);
  CHECK(again["tempera"] == whole["tempera"]);
}

TEST_CASE("a request without local moves answers what its blocks have left", "[serve]") {
  const auto asked = [](std::size_t rounds, std::size_t local_moves) {
    return answer_of(
        {{"prompt", "4+7+9?"},
         {"max_tokens", 12},
         {"seed", 3},
         {"tempera",
          {{"powers", {2}}, {"block", 4}, {"rounds", rounds}, {"local_moves", local_moves}}}});
  };
  const json still = asked(3, 0), extended = asked(0, 1);
  CHECK(still["choices"][0]["text"] == extended["choices"][0]["text"]);
  CHECK(still["usage"] == extended["usage"]);
  CHECK(still["choices"][0]["text"] != asked(3, 2)["choices"][0]["text"]);
}

TEST_CASE("what nobody asked for is said as it is by default, and only where it means something",
          "[serve]") {
  json body{{"prompt", "4+7+9?"}, {"max_tokens", 8}};
  const json tokenwise = answer_of(body)["tempera"];
  CHECK_FALSE(tokenwise.contains("restart_range"));
  CHECK(tokenwise["powers"] == json::array({1.0}));
  body["tempera"] = json::object();
  const json tempered = answer_of(body)["tempera"];
  CHECK(tempered["restart_range"] == "horizon");
  CHECK_FALSE(tempered.contains("restart_weights"));
  CHECK(tempered["powers"] == json::array({1.0, 2.0, 4.0}));
  body["tempera"] = {{"sampler", "best-of-n"}, {"particles", 3}};
  CHECK(answer_of(body)["tempera"]["particles"] == 3);
}

TEST_CASE("a request has 2^16 records and 64 rungs at most", "[serve]") {
  const auto body_of = [](const json& tempera, std::size_t n) {
    return json{{"prompt", "4+7?"}, {"max_tokens", 1}, {"n", n}, {"tempera", tempera}};
  };
  const auto best_of = [&](std::size_t particles, std::size_t n) {
    return body_of({{"sampler", "best-of-n"}, {"particles", particles}}, n);
  };
  const auto ladder_of = [&](std::size_t rungs) {
    json powers = json::array();
    for (std::size_t rung = 0; rung < rungs; ++rung) powers.push_back(1.0 + 0.5 * double(rung));
    return body_of({{"powers", powers}}, 1);
  };
  const auto model = gpu::OpenedModel::open(TEMPERA_SOURCE_DIR "/toy_models/worked_sum");
  const Identity identity{"sums", "", "sums"};
  const auto is_taken = [&](const json& body) {
    try {
      resolve_generation(model, identity, body.dump(), BodyForm::completion, {});
      return true;
    } catch (const BadInput&) {
      return false;
    }
  };
  CHECK(is_taken(best_of(32768, 2)));
  CHECK_FALSE(is_taken(best_of(32769, 2)));
  CHECK(is_taken(best_of(512, 128)));
  CHECK_FALSE(is_taken(best_of(513, 128)));
  CHECK(is_taken(ladder_of(64)));
  CHECK_FALSE(is_taken(ladder_of(65)));
}

}  // namespace tempera::serve::used_settings_test
