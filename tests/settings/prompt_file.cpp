#include "settings/prompt_file.hpp"

#include <sstream>

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu {

TEST_CASE("a file of prompts is read line by line") {
  const test::TemporaryFile file(
      "{\"id\": \"one\", \"prompt\": \"a b\"}\n{\"prompt\": \"\", \"id\": \"zwei\"}");
  const auto prompts = read_prompt_file(file.path());
  REQUIRE(prompts.size() == 2);
  CHECK(prompts[0].id == "one");
  CHECK(prompts[0].text == "a b");
  CHECK(prompts[0].where == file.path() + ", line 1");
  CHECK(prompts[1].id == "zwei");
  CHECK(prompts[1].text.empty());
  CHECK(prompts[1].messages.empty());
}

TEST_CASE("a line of a file of prompts may hold a conversation") {
  std::istringstream lines(
      R"({"id": "a", "messages": [{"role": "system", "content": "s"}, {"content": "u", "role": "user"}]})");
  const auto prompts = read_prompts(lines, "prompts");
  REQUIRE(prompts.size() == 1);
  REQUIRE(prompts[0].messages.size() == 2);
  CHECK(prompts[0].messages[0].role == "system");
  CHECK(prompts[0].messages[0].content == "s");
  CHECK(prompts[0].messages[1].role == "user");
  CHECK(prompts[0].messages[1].content == "u");
}

TEST_CASE("what is not a prompt is refused by file, line and remedy") {
  const std::string good = "{\"id\": \"a\", \"prompt\": \"x\"}\n";
  const auto refuse = [&](const std::string& line, const std::string& what,
                          const std::string& where = "prompts, line 2: ") {
    std::istringstream lines(good + line + "\n" + "{\"id\": \"b\", \"prompt\": \"x\"}\n");
    CAPTURE(line);
    require_bad_input([&] { read_prompts(lines, "prompts"); }, {where, what, "; "});
  };
  refuse("", "is empty");
  refuse("  \r", "is empty");
  refuse("x", "not valid JSON");
  refuse("[1]", "not a JSON object");
  refuse(R"({"id": "c"})", "key \"prompt\" is missing");
  refuse(R"({"prompt": "c"})", "key \"id\" is missing");
  refuse(R"({"id": 3, "prompt": "c"})", "key \"id\" is 3, not a string");
  refuse(R"({"id": "c", "promt": "c"})", "key \"promt\" is not known");
  refuse(R"({"id": "c", "prompt": "c", "more": 1})", "key \"more\" is not known");
  refuse(R"({"id": "c", "id": "d", "prompt": "c"})", "key \"id\" occurs twice");
  refuse(R"({"id": "c", "prompt": "c", "messages": []})", "has both keys");
  const std::string messages = "prompts, line 2, key \"messages\"";
  refuse(R"({"id": "c", "messages": []})", "holds no message", messages + ": ");
  refuse(R"({"id": "c", "messages": [1]})", "not a JSON object", messages + ", [0]: ");
  refuse(R"({"id": "c", "messages": [{"role": "user"}]})", "key [0][\"content\"] is missing",
         messages + ": ");
  refuse(R"({"id": "a", "prompt": "c"})", "the id \"a\" is that of line 1");
  refuse(std::string("{\"id\": \"c\", \"prompt\": \"c\"}\0x", 28), "not valid JSON");
  std::istringstream none("");
  require_bad_input([&] { read_prompts(none, "prompts"); }, {"prompts: holds no prompt"});
  require_bad_input([] { read_prompt_file("/nowhere"); }, {"/nowhere: cannot be read"});
  require_bad_input([] { read_prompt_file("/tmp"); }, {"/tmp: cannot be read"});
}

}  // namespace tempera::gpu
