#include "gpu/llm/text/template_process.hpp"

#include <signal.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/open_handles.hpp"

namespace tempera::gpu::template_process_test {

namespace {

std::string task(const std::string& source) {
  return nlohmann::json{{"template", source},
                        {"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                        {"tokens", nlohmann::json::object()},
                        {"arguments", nlohmann::json::object()}}
      .dump();
}

const std::string says_hi = task("{{ messages[0].content }}");
const std::string hi = R"({"text": "Hi"})";
const std::string without_end =
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";

}  // namespace

TEST_CASE("one process renders all templates", "[templates]") {
  TemplateProcess process;
  CHECK(process.child() == 0);
  CHECK(process.answer(says_hi) == hi);
  const auto child = process.child();
  CHECK(child > 0);
  std::vector<std::thread> threads;
  std::vector<std::string> answers(8);
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] {
      answers[i] = process.answer(task(std::to_string(i) + "{{ messages[0].role }}"));
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < answers.size(); ++i)
    CHECK(answers[i] == R"({"text": ")" + std::to_string(i) + R"(user"})");
  CHECK(process.child() == child);
}

TEST_CASE("a process of templates has one socket, and gives it back when it ends", "[templates]") {
  const std::size_t before = test::open_descriptors();
  for (int time = 0; time < 3; ++time) {
    TemplateProcess process({.processor_seconds = 0.5});
    CHECK(process.answer(says_hi) == hi);
    CHECK(test::open_descriptors() == before + 1);
    require_bad_input([&] { process.answer(task(without_end)); }, {"takes more than"});
    CHECK(test::open_descriptors() == before);
    CHECK(process.answer(says_hi) == hi);
  }
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("a template without end is ended, and the next one is rendered", "[templates]") {
  TemplateProcess process({.processor_seconds = 0.5});
  CHECK(process.answer(says_hi) == hi);
  const auto child = process.child();
  // A child that was kept for other tasks is not asked again.
  for (int time = 0; time < 2; ++time)
    require_bad_input([&] { process.answer(task(without_end)); },
                      {"the chat template", "takes more than", "as plain text"});
  CHECK(process.child() == 0);
  CHECK(process.answer(says_hi) == hi);
  CHECK(process.child() != child);
}

TEST_CASE("a template that does not answer in time is ended", "[templates]") {
  TemplateProcess process({.processor_seconds = 1e6, .wait = std::chrono::seconds(0)});
  require_bad_input([&] { process.answer(says_hi); }, {"the chat template", "does not start"});
  CHECK(process.child() == 0);
}

TEST_CASE("a template that grows is refused", "[templates]") {
  TemplateProcess process({.text_bytes = 200000});
  const auto said = process.answer(task("{{ 'a' * 4000000000 }}"));
  CHECK(said.find("MemoryError") != std::string::npos);
  require_bad_input([&] { process.answer(task("{{ 'a' * 900000 }}")); }, {"writes more than"});
  CHECK(process.answer(says_hi) == hi);
}

TEST_CASE("a process that somebody ends is replaced", "[templates]") {
  TemplateProcess process;
  for (int time = 0; time < 2; ++time) {
    CHECK(process.answer(says_hi) == hi);
    REQUIRE(::kill(process.child(), SIGKILL) == 0);
  }
  CHECK(process.answer(says_hi) == hi);
}

}  // namespace tempera::gpu::template_process_test
