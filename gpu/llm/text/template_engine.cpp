#include "gpu/llm/text/template_engine.hpp"

#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/text/template_process.hpp"

namespace tempera::gpu {
namespace {

TemplateEngine& engine() {
  static TemplateEngine one{
      [](const std::string& task) {
        static TemplateProcess process;
        return process.answer(task);
      },
      [](const std::string& line) { std::cerr << "tempera: " << line << '\n'; }};
  return one;
}

void say_once(const TemplateTask& task) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> said;
  const std::scoped_lock lock(mutex);
  if (task.is_tested || !said.emplace(task.digest).second) return;
  engine().say("the chat template (SHA-256 " + std::string(task.digest) +
               ") is none of those that tempera is tested with; Jinja2 renders it");
}

/// "'no system role'" without line breaks, which would make two lines of one.
std::string on_one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

/// The name of an argument that the template never reads, and after it those that it reads.
[[noreturn]] void refuse_argument(const nlohmann::json& names) {
  const auto name = names.at(0).get<std::string>();
  std::string known;
  for (std::size_t i = 1; i < names.size(); ++i)
    known += (known.empty() ? "" : ", ") + names[i].get<std::string>();
  if (name == "enable_thinking")
    throw BadInput("enable_thinking", "has no effect on the model's conversations",
                   "leave it out" + (known.empty() ? "" : "; its template reads " + known));
  throw BadInput("chat_template_kwargs." + name, "the model's chat template never reads it",
                 "leave it out" + (known.empty() ? "" : "; it reads " + known));
}

}  // namespace

void use_template_engine(TemplateEngine other) { engine() = std::move(other); }

std::string render_template(const TemplateTask& task, std::span<const ChatMessage> messages,
                            const std::string& where, const std::string& where_template) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [role, content] : messages) {
    for (const auto* text : {&role, &content})
      if (const auto invalid = first_invalid_utf8(*text); invalid != text->size())
        throw BadInput(where,
                       "message " + std::to_string(list.size() + 1) + ": byte " +
                           std::to_string(invalid) + " is not UTF-8",
                       "give the text in UTF-8");
    list.push_back({{"role", role}, {"content", content}});
  }
  if (first_invalid_utf8(task.source) != task.source.size())
    throw BadInput(where_template, "the chat template is not UTF-8", download_again);
  const auto line = engine().answer(nlohmann::ordered_json{
      {"template", task.source},
      {"messages", list},
      {"tokens", nlohmann::ordered_json::parse(task.tokens)},
      {"arguments",
       task.arguments.object()}}.dump());
  // Python writes half of a surrogate pair, which JSON cannot hold here.
  const auto answer = nlohmann::json::parse(line, nullptr, false);
  if (answer.is_discarded())
    throw BadInput(where_template, "the chat template writes half a character",
                   "give the prompt as plain text");
  if (answer.contains("text")) {
    say_once(task);
    return answer["text"].get<std::string>();
  }
  const auto kind = answer.at("kind").get<std::string>();
  const auto said = on_one_line(answer.at("line").get<std::string>());
  if (kind == "argument") refuse_argument(nlohmann::json::parse(said));
  if (kind == "refused")
    throw BadInput(where, "the model's chat template refuses it (" + said + ")",
                   "give what the template takes");
  if (kind == "date")
    throw BadInput(where, "the chat template writes the date, and none is given (" + said + ")",
                   R"(give it in the chat template's arguments: {"strftime_now": "2026-11-28"})");
  throw BadInput(where_template, "the chat template fails on these messages (" + said + ")",
                 "give the prompt as plain text, in the form that the model wants");
}

}  // namespace tempera::gpu
