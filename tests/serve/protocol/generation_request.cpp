#include "serve/protocol/generation_request.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"
#include "serve/protocol/error_body.hpp"
#include "tests/catch.hpp"

namespace tempera::serve::generation_request_test {
namespace {

using nlohmann::json;

gpu::SampleWish wish_of(const json& fields) {
  json body{{"messages", {{{"role", "user"}, {"content", "Hi"}}}}};
  body.update(fields);
  return read_generation_request(body.dump(), true, {}, 7).wishes.front();
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
  const auto wish = read_generation_request(body, true, {}, 7).wishes.front();
  CHECK(wish.arguments.json() ==
        R"({"z":{"b":1,"a":[true,"x"]},"effort":"low","enable_thinking":true})");
  CHECK(std::get<std::vector<gpu::ChatMessage>>(wish.prompt).front().role == "developer");
}

TEST_CASE("a refusal names its field as the protocol's param", "[serve]") {
  const auto param_of = [](const std::string& message) {
    return json::parse(wrong_request(message).body)["error"]["param"];
  };
  CHECK(param_of("top_p: is 0.5; leave it out") == "top_p");
  CHECK(param_of("messages[1].refusal: is no field; leave it out") == "messages[1].refusal");
  CHECK(param_of(R"(body: key "n" is 0, not 1; give one)") == "n");
  CHECK(param_of(R"(body: key "tempera"["powers"][0] is null; give one)") == "tempera.powers[0]");
  CHECK(param_of(R"(body, "messages"[2], "content"[0]: is 5; give one)") == "messages[2]");
  for (const std::string message :
       {"body, line 1, column 2: not valid", "body: is not a JSON object; send one",
        "no field at all", "a/b.json: is missing", "two words: are none", R"(body: key "a)"})
    CHECK(param_of(message).is_null());
}

}  // namespace tempera::serve::generation_request_test
