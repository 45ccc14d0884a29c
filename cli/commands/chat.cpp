#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/nearest_name.hpp"
#include "cli/commands/chat_options.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/conversation.hpp"
#include "cli/commands/open_model.hpp"
#include "cli/commands/sampler_flags.hpp"
#include "cli/terminal/interruption.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/thread_limit.hpp"
#include "settings/messages.hpp"

namespace tempera::cli {
namespace {

constexpr const char* chat_examples = R"(What begins with / is a command:
  /again      draw another answer to the last turn
  /new        begin a new conversation, with the same system message
  /save FILE  write the conversation as JSON, for --messages
  /help       print this list
  /exit       end, as the end of the input does (Ctrl-D)
A turn that begins with / is written with two of them: //

Examples:
  tempera chat --model smollm2 --temperature 0.7 --max-tokens 200
  tempera chat --model smollm2 --powers 1.5,2,3 --horizon 96 --system 'Answer in one sentence.'
  printf 'What is 2 + 2?\nAnd twice that?\n' | tempera chat --model smollm2 --json)";

struct ChatCommandOptions {
  std::string model;
  std::string device;
  std::optional<gpu::Arithmetic> arithmetic;
  std::optional<gpu::RopeFactors> rope_factors;
  std::size_t threads = 0;  ///< 0: as many as there are
  bool json = false;
  bool download = false;
  ChatOptions chat;
  SamplerFlags sampler;
};

/// Reads turns and commands from standard input, and prints the answers.
class ChatLoop {
 public:
  ChatLoop(Conversation& conversation, bool json) : conversation_(conversation), json_(json) {}

  void run() {
    if (is_terminal_)
      std::cerr << "Each line is a turn of yours. /help lists commands; Ctrl-D ends.\n";
    if (conversation_.awaits_answer()) answer();
    for (std::string line; !has_ended_ && read(line);) {
      try {
        take(line);
      } catch (const BadInput& error) {
        // A person can say it again; a program that wrote the lines has to be told at once.
        if (!is_terminal_) throw;
        std::cerr << "tempera: " << error.what() << '\n';
      }
    }
  }

 private:
  bool read(std::string& line) {
    if (is_terminal_) std::cerr << "> " << std::flush;
    if (std::getline(std::cin, line)) {
      if (line.ends_with('\r')) line.pop_back();
      return true;
    }
    if (std::cin.bad()) throw BadInput("standard input", "cannot be read", "check what feeds it");
    if (is_terminal_) std::cerr << '\n';
    return false;
  }

  void take(const std::string& line) {
    if (line.find_first_not_of(" \t") == std::string::npos) return;
    if (line.starts_with('/') && !line.starts_with("//")) return obey(line);
    conversation_.say(line.starts_with("//") ? line.substr(1) : line);
    answer();
  }

  void obey(const std::string& line) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string command = line.substr(0, space);
    const std::string rest = space < line.size() ? line.substr(space + 1) : "";
    if (command != "/save" && !rest.empty())
      throw BadInput(in_quotes(command), "takes nothing after it",
                     "write a turn that begins with / with two of them: //");
    if (command == "/again") {
      conversation_.take_answer_back();
      answer();
    } else if (command == "/new") {
      conversation_.begin_anew();
    } else if (command == "/save") {
      if (rest.empty()) throw BadInput("/save", "has no file", "write /save FILE");
      Disk::real().require_replaceable(rest);
      Disk::real().replace(rest, gpu::to_text(conversation_.messages()));
    } else if (command == "/help") {
      std::cerr << chat_examples << '\n';
    } else if (command == "/exit") {
      has_ended_ = true;
    } else {
      const auto nearest = nearest_name(
          command, std::vector<std::string>{"/again", "/new", "/save", "/help", "/exit"});
      throw BadInput(in_quotes(command), "is not a command of tempera chat",
                     nearest ? "did you mean " + *nearest + "?"
                             : "see /help; a turn that begins with / is written with two of them");
    }
  }

  void answer() {
    bool is_streamed = false;
    const auto show_text = [&](std::string_view text) {
      const WholeLines whole;
      std::cout << text << std::flush;
      is_streamed = true;
    };
    const auto show_progress = [&](const gpu::SamplingProgress& progress) { line_.show(progress); };
    std::optional<gpu::Answer> answer;
    {
      const NotedInterrupts noted;
      line_.restart_clock();
      answer = conversation_.answer(
          {json_ ? nullptr : std::function(show_text), show_progress, NotedInterrupts::any});
      line_.clear();
      if (!answer && !(is_terminal_ && NotedInterrupts::forget_interrupt())) end_interrupted();
    }
    if (answer)
      print(*answer, is_streamed);
    else
      std::cerr << "\n(given up; your turn is forgotten)\n";
  }

  void print(const gpu::Answer& answer, bool is_streamed) {
    const WholeLines whole;
    if (json_) {
      nlohmann::ordered_json json{{"sample", conversation_.drawn() - 1},
                                  {"tokens", answer.tokens},
                                  {"answer", answer.text},
                                  {"log_p0", answer.log_p0},
                                  {"terminated", answer.terminated}};
      if (answer.stopped) json["stopped"] = true;
      std::cout << json.dump() << '\n';
    } else {
      if (!is_streamed) std::cout << answer.text;
      std::cout << '\n';
    }
    std::cout.flush();
    if (is_terminal_ && answer.is_cut())
      std::cerr << "(cut after " << answer.tokens.size()
                << " tokens; --horizon or --max-tokens says how many)\n";
  }

  Conversation& conversation_;
  const bool json_;
  const bool is_terminal_ = isatty(STDIN_FILENO) == 1;
  bool has_ended_ = false;
  ProgressLine line_;
};

void run_chat(const ChatCommandOptions& options) {
  const gpu::CurrentDevice here(gpu::require_device(options.device));
  std::optional<gpu::ThreadLimit> limit;
  if (options.threads > 0) limit.emplace(options.threads);
  const gpu::SamplerWish wish = options.sampler.wish();
  gpu::resolve_sampler(wish, gpu::Spelling::flags);
  std::vector<gpu::ChatMessage> messages;
  std::string where = "--messages";
  if (options.chat.reads_messages()) {
    gpu::PromptLine file = options.chat.read_messages();
    messages = std::move(file.messages);
    where = file.where;
  }
  messages = options.chat.with_system(std::move(messages), where);
  end_on_interrupt("");
  obtain_if_asked(options.download, options.model);
  const gpu::OpenedModel model =
      open_model(options.model, options.arithmetic, options.rope_factors);
  Conversation conversation(model, wish, options.chat.arguments(), std::move(messages));
  ChatLoop(conversation, options.json).run();
}

}  // namespace

void add_chat(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "chat", "Talk with a model: each line of standard input is a turn, and is answered");
  auto options = std::make_shared<ChatCommandOptions>();
  CLI::Option* model =
      add_text(*command, "--model", options->model, "MODEL",
               "Hugging Face folder, GGUF file, or name of a model (see tempera models)");
  add_download(*command, options->download);
  options->chat.add_conversation_to(*command);
  options->sampler.add_to(*command, SamplerFlags::Of::one_answer);
  add_device(*command, options->device);
  add_arithmetic(*command, options->arithmetic);
  add_rope_factors(*command, options->rope_factors);
  CLI::Option* threads = add_threads(*command, options->threads);
  command->add_flag("--json", options->json,
                    "Print each answer as one line of JSON: sample, tokens, answer, log_p0, "
                    "terminated");
  command->footer(chat_examples);
  command->callback([=] {
    require(*model, "give --model MODEL, a Hugging Face folder, a GGUF file or a name");
    options->chat.check();
    refuse_idle_threads(*threads);
    run_chat(*options);
  });
}

}  // namespace tempera::cli
