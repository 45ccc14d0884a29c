#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/commands/chat_options.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/option_values.hpp"
#include "gpu/llm/models/model_text.hpp"
#include "gpu/llm/models/named_model.hpp"

namespace tempera::cli {
namespace {

constexpr const char* tokens_examples = R"(Examples:
  tempera tokens --model toy_models/worked_sum '4+7?'
  tempera tokens --model smollm2 --chat 'What is 2 + 2?' --json
  printf 'a text' | tempera tokens --model Qwen3-0.6B -)";

struct TokensOptions {
  std::string model;
  std::string text = "-";
  ChatOptions chat;
  bool download = false;
  bool json = false;
};

/// The text, or the conversation of --messages.
gpu::PromptLine read_line(const TokensOptions& options) {
  if (options.chat.reads_messages()) return options.chat.read_messages();
  if (options.text != "-") return {"", options.text, "TEXT"};
  const std::string where = "standard input";
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (std::cin.bad()) throw BadInput(where, "cannot be read", "give the text as TEXT");
  if (text.ends_with('\n')) text.pop_back();
  return {"", std::move(text), where};
}

void run_tokens(const TokensOptions& options) {
  const gpu::PromptLine line = read_line(options);
  const gpu::PromptWish prompt = options.chat.prompt_of(line);
  obtain_if_asked(options.download, options.model);
  const gpu::ModelText model(gpu::resolve_model(options.model));
  const auto* messages = std::get_if<std::vector<gpu::ChatMessage>>(&prompt);
  const auto ids = messages != nullptr
                       ? model.encode_chat(*messages, options.chat.arguments(), line.where)
                       : model.encode(line.text, line.where);
  std::vector<std::string> pieces;
  for (const auto id : ids) pieces.push_back(model.tokenizer().piece(id));
  if (options.json) {
    nlohmann::ordered_json report{
        {"ids", ids}, {"pieces", pieces}, {"text", model.tokenizer().decode(ids)}};
    if (messages != nullptr) {
      const gpu::ChatFormat format = model.chat_format();
      report["chat_template"] = {{"sha256", format.digest()}, {"tested", format.is_tested()}};
    }
    std::cout << report.dump() << '\n';
    return;
  }
  std::printf("%10s   %s\n", "token", "text");
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::printf("%10u   %s\n", ids[i], fitted(pieces[i], table_columns - 13).c_str());
}

}  // namespace

void add_tokens(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "tokens", "The tokens of a text, with those that the model's tokenizer puts before it");
  auto options = std::make_shared<TokensOptions>();
  CLI::Option* text = command->add_option(
      "TEXT", options->text,
      "The text; - or nothing: all of standard input, without one newline at its "
      "end");
  CLI::Option* model =
      add_text(*command, "--model", options->model, "MODEL",
               "Hugging Face folder, GGUF file, or name of a model (see tempera models)");
  add_download(*command, options->download);
  options->chat.add_to(*command);
  CLI::Option* messages = options->chat.add_messages_to(*command);
  command->add_flag(
      "--json", options->json,
      "Print {\"ids\", \"pieces\", \"text\"}: the tokens, the text of each alone, "
      "and of all together; of a conversation also \"chat_template\": its SHA-256, and "
      "whether tempera is tested with it");
  command->footer(tokens_examples);
  command->callback([=] {
    require(*model, "give --model MODEL, a Hugging Face folder, a GGUF file or a name");
    options->chat.check();
    refuse_beside(*messages, *text, "give the text in one way");
    refuse_beside(*command->get_option("--chat"), *messages,
                  "leave it out: messages are a conversation");
    run_tokens(*options);
  });
}

}  // namespace tempera::cli
