// What a client may send, mutated: every body is either read or refused in one line. ./test runs
// some thousands under the sanitizers; TEMPERA_FUZZ_INPUTS=10000000 asks for more.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "serve/batches/batch.hpp"
#include "serve/protocol/generation_request.hpp"
#include "serve/protocol/multipart.hpp"
#include "tests/catch.hpp"
#include "tests/serve/mutated.hpp"

namespace tempera::serve {
namespace {

const std::vector<std::string>& good_bodies() {
  static const std::vector<std::string> bodies{
      R"({"prompt": "4+7?", "max_tokens": 28, "seed": 5, "n": 2, "temperature": 0.5, "stop": ["a", "b"]})",
      R"({"prompt": ["1?", "2?"], "logprobs": 3, "echo": true, "max_tokens": 0, "user": "u", "best_of": 1})",
      R"({"prompt": [[1, 2], [3]], "stream": true, "stream_options": {"include_usage": true}, "top_p": 1})",
      R"({"model": "m", "prompt": [5, 6, 7], "tempera": {"powers": [1, 1.5, 4], "block": 4, "rounds": [1, 2],)"
      R"( "schedule": "deo", "restart_weights": [1, 2, 3], "seed": 18446744073709551615}})",
      R"({"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": )"
      R"([{"type": "text", "text": "\u00e9\ud83d\ude00"}]}], "max_completion_tokens": 9, "logprobs": true, "top_logprobs": 2})",
      R"({"input": "Hi", "instructions": "be brief", "max_output_tokens": 9, "store": false, "metadata": {"a": "b"}})",
      R"({"input": [{"role": "user", "content": "Hi"}, {"type": "message", "role": "assistant", "id": "msg_1", )"
      R"("content": [{"type": "output_text", "text": "Ho", "annotations": []}]}], "stream": true})",
      R"({"prompt": "x", "tempera": {"preset": "qwen3/math500", "sampler": "ppt", "round_events": true,)"
      R"( "thinking": false, "particles": 3, "prefetch": 2, "early_rejection": true, "output_rung": 1}})",
  };
  return bodies;
}

const std::vector<std::string>& good_lines() {
  static const std::vector<std::string> lines{
      R"({"custom_id": "a", "method": "POST", "url": "/v1/completions", "body": {"prompt": "1?"}})"
      "\n"
      R"({"custom_id": "b", "method": "POST", "url": "/v1/completions", "body": {"prompt": "2?"}})"
      "\r\n\n",
  };
  return lines;
}

const std::vector<std::string>& good_forms() {
  static const std::vector<std::string> forms{
      "--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\n"
      "Content-Disposition: form-data; name=\"file\"; filename=\"in \\\"1\\\".jsonl\"\r\n"
      "Content-Type: application/jsonl\r\n\r\n{\"custom_id\": \"a\"}\r\n--b--\r\n",
  };
  return forms;
}

/// What readers stumble over.
const std::vector<std::string>& stones() {
  static const std::vector<std::string> all{"\"",
                                            "\\",
                                            "{",
                                            "}",
                                            "[",
                                            "]",
                                            ",",
                                            ":",
                                            "null",
                                            "true",
                                            "-",
                                            "1e999",
                                            "-0",
                                            "0.0",
                                            "1e-400",
                                            "18446744073709551616",
                                            "99999999999999999999999999",
                                            "\"\\ud800\"",
                                            "\\u0000",
                                            "\xff",
                                            "\xc0\xaf",
                                            "\xed\xa0\x80",
                                            std::string(1, '\0'),
                                            std::string(70, '['),
                                            "\"prompt\":",
                                            "\"tempera\": {",
                                            "\r\n",
                                            "\r\n\r\n",
                                            "--b",
                                            "--b--",
                                            "\r\n--b\r\n",
                                            "name=\"",
                                            "; ",
                                            "=",
                                            "\"n\": 0",
                                            "\"seed\": -1",
                                            "NaN",
                                            "\"max_tokens\": 4294967296,"};
  return all;
}

/// How many of the inputs `read` takes; the others it must refuse in one line.
template <class Read>
std::uint64_t taken_of(std::uint64_t inputs, std::uint64_t seed,
                       const std::vector<std::string>& good, const Read& read) {
  Chance chance(seed);
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < inputs; ++i) {
    const std::string text = mutated(chance, good, stones());
    try {
      read(text, chance);
      ++taken;
    } catch (const BadInput& error) {
      const std::string_view message = error.what();
      if (message.empty() || message.size() > 2000 || message.find('\n') != message.npos)
        FAIL("no short line for: " << text);
    }
    // Anything else that is thrown ends the test.
  }
  return taken;
}

}  // namespace

TEST_CASE("a mutated body is read or refused", "[fuzz]") {
  const std::uint64_t inputs = asked_inputs() * 6 / 10;
  const GenerationLimits limits;
  const std::uint64_t taken =
      taken_of(inputs, 1, good_bodies(), [&](const std::string& text, Chance& chance) {
        const GenerationRequest read =
            read_generation_request(text, static_cast<BodyForm>(chance.below(3)), limits, 7);
        REQUIRE(!read.wishes.empty());
        REQUIRE(read.choices_of_a_prompt >= 1);
        REQUIRE(read.choices_of_a_prompt <= limits.choices);
        REQUIRE(read.top_logprobs <= limits.top_logprobs);
        for (const auto& wish : read.wishes) {
          REQUIRE(wish.sampler.seed == read.seed);
          REQUIRE(wish.sampler.horizon.value_or(1) <= limits.horizon);
        }
      });
  // Not degenerate: both outcomes are common.
  CHECK(taken > inputs / 20);
  CHECK(taken < inputs * 19 / 20);
}

TEST_CASE("a mutated batch is read or refused", "[fuzz]") {
  const std::uint64_t inputs = asked_inputs() * 2 / 10;
  std::uint64_t good = 0;
  taken_of(inputs, 2, good_lines(), [&](const std::string& text, Chance&) {
    if (!errors_in(text, "/v1/completions").empty()) return;
    ++good;
    for (const auto line : lines_of(text))
      REQUIRE(nlohmann::json::parse(read_batch_line(line, "/v1/completions").body).is_object());
  });
  CHECK(good > inputs / 20);
  CHECK(good < inputs * 19 / 20);
}

TEST_CASE("a mutated form is read or refused", "[fuzz]") {
  const std::uint64_t inputs = asked_inputs() * 2 / 10;
  const std::uint64_t taken =
      taken_of(inputs, 3, good_forms(), [&](const std::string& text, Chance& chance) {
        const std::string type = chance.below(4) == 0
                                     ? mutated(chance,
                                               {"multipart/form-data; boundary=\"b\"",
                                                "multipart/form-data; boundary=b"},
                                               stones())
                                     : "multipart/form-data; boundary=b";
        for (const FormPart& part : read_multipart(type, text)) {
          if (part.content.empty()) continue;
          REQUIRE(part.content.data() >= text.data());
          REQUIRE(part.content.data() + part.content.size() <= text.data() + text.size());
        }
      });
  CHECK(taken > inputs / 20);
  CHECK(taken < inputs * 19 / 20);
}

TEST_CASE("a form has 16 parts at most", "[serve]") {
  for (const std::size_t count : {15, 16, 17}) {
    std::string form;
    for (std::size_t part = 0; part < count; ++part)
      form += "--b\r\nContent-Disposition: form-data; name=\"" + std::to_string(part) +
              "\"\r\n\r\nx\r\n";
    form += "--b--\r\n";
    const auto read = [&] { return read_multipart("multipart/form-data; boundary=b", form); };
    if (count <= 16)
      CHECK(read().size() == count);
    else
      CHECK_THROWS_AS(read(), BadInput);
  }
}

TEST_CASE("a form's parts are those that were sent", "[serve]") {
  const auto parts = read_multipart("multipart/form-data; boundary=b", good_forms().front());
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].name == "purpose");
  CHECK(parts[0].content == "batch");
  CHECK(parts[1].filename == "in \"1\".jsonl");
  CHECK(parts[1].content == "{\"custom_id\": \"a\"}");
  CHECK_THROWS_AS(read_multipart("text/plain", good_forms().front()), BadInput);
}

}  // namespace tempera::serve
