#include "settings/prompt_file.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "settings/messages.hpp"

namespace tempera::gpu {

std::vector<PromptLine> read_prompts(std::istream& lines, const std::string& file) {
  std::vector<PromptLine> prompts;
  std::map<std::string, std::size_t> line_of;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = file + ", line " + std::to_string(++number);
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      throw BadInput(where, "is empty",
                     "remove it, or write {\"id\": \"…\", \"prompt\": \"…\"} there");
    const nlohmann::json json = parse_json(line, where);
    const JsonObject prompt(json, where);
    prompt.only({"id", "prompt", "messages"});
    PromptLine& read = prompts.emplace_back();
    read.id = prompt.text("id");
    read.where = where;
    if (!prompt.has("messages")) {
      read.text = prompt.text("prompt");
    } else {
      if (prompt.has("prompt"))
        throw BadInput(where, "has both keys \"prompt\" and \"messages\"", "remove one");
      read.messages = messages_of(prompt.array("messages"), where + ", key \"messages\"");
    }
    const auto [earlier, is_new] = line_of.emplace(prompts.back().id, number);
    if (!is_new)
      throw BadInput(where,
                     "the id " + in_quotes(prompts.back().id) + " is that of line " +
                         std::to_string(earlier->second),
                     "give every prompt an id of its own");
  }
  if (lines.bad()) throw BadInput(file, "cannot be read to its end", "check the file");
  if (prompts.empty())
    throw BadInput(file, "holds no prompt",
                   "write {\"id\": \"…\", \"prompt\": \"…\"} on each line");
  return prompts;
}

std::vector<PromptLine> read_prompt_file(const std::string& file) {
  std::istringstream lines(read_text_file(file, "give a file of prompts, one a line"));
  return read_prompts(lines, file);
}

}  // namespace tempera::gpu
