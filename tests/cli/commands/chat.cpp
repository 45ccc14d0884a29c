#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/pseudo_terminal.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/gpu/llm/transformer/architectures/chat_model.hpp"

using nlohmann::json;
using namespace tempera::test;

namespace {

const std::string quick_chat = "--powers 1,2 --horizon 8 --block 4 --rounds 1 --seed 3 ";

struct ChatModel {
  ChatModel() { write_chat_model(folder / "model"); }
  std::string option() const { return "--model " + (folder / "model").string() + " "; }
  TemporaryFolder folder;
};

CommandResult chat(const std::string& arguments, const std::string& input) {
  CommandResult result = run_command("chat " + arguments, input);
  CAPTURE(arguments, input, result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());  // a pipe is no terminal
  return result;
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

std::string written(const std::vector<std::pair<std::string, std::string>>& messages) {
  json list = json::array();
  for (const auto& [role, content] : messages)
    list.push_back({{"role", role}, {"content", content}});
  return list.dump();
}

std::vector<json> answers_of(const std::string& arguments) {
  const CommandResult result = run_command("sample " + arguments + " --json");
  CAPTURE(arguments, result.err);
  REQUIRE(result.exit_code == 0);
  return json::parse(result.out)["answers"];
}

}  // namespace

TEST_CASE("each turn of a chat is answered as sample answers the conversation up to there") {
  const ChatModel model;
  const std::string settings = model.option() + quick_chat;
  for (const std::string& sampler : {std::string(), std::string("--system 'the man' ")}) {
    const auto turns = lines_of(chat(settings + sampler + "--json", "the man\n\nand the aunt").out);
    REQUIRE(turns.size() == 2);
    CHECK(turns[0]["sample"] == 0);
    CHECK(turns[1]["sample"] == 1);
    const auto first = answers_of(settings + sampler + "--chat 'the man'");
    CHECK(turns[0]["tokens"] == first[0]["tokens"]);
    CHECK(turns[0]["answer"] == first[0]["answer"]);
    const TemporaryFile talk(written(
        {{"user", "the man"}, {"assistant", turns[0]["answer"]}, {"user", "and the aunt"}}));
    const auto second = answers_of(settings + sampler + "--samples 2 --messages " + talk.path());
    CHECK(turns[1]["tokens"] == second[1]["tokens"]);
    CHECK(turns[1]["log_p0"] == second[1]["log_p0"]);
    // What was said before matters.
    const auto alone = answers_of(settings + sampler + "--samples 2 --chat 'and the aunt'");
    CHECK(turns[1]["log_p0"] != alone[1]["log_p0"]);
  }
}

TEST_CASE("a chat prints the answers alone, those of a tokenwise sampler as they are drawn") {
  const ChatModel model;
  for (const std::string& sampler :
       {quick_chat, std::string("--temperature 0.5 --max-tokens 9 ")}) {
    const std::string settings = model.option() + sampler;
    const auto turns = lines_of(chat(settings + "--json", "the man\nagain\n").out);
    REQUIRE(turns.size() == 2);
    CHECK(chat(settings, "the man\nagain\n").out == turns[0]["answer"].get<std::string>() + "\n" +
                                                        turns[1]["answer"].get<std::string>() +
                                                        "\n");
  }
}

TEST_CASE("a chat obeys its commands") {
  const ChatModel model;
  const std::string settings = model.option() + quick_chat + "--json ";
  const std::string saved = (model.folder / "talk.json").string();
  const auto turns = lines_of(
      chat(settings, "the man\n/again\n/save " + saved + "\n/new\n//again\n/exit\nnot read\n").out);
  REQUIRE(turns.size() == 3);
  const auto samples = answers_of(model.option() + quick_chat + "--samples 3 --chat 'the man'");
  CHECK(turns[0]["tokens"] == samples[0]["tokens"]);
  CHECK(turns[1]["tokens"] == samples[1]["tokens"]);
  CHECK(turns[0]["tokens"] != turns[1]["tokens"]);
  const auto anew = answers_of(model.option() + quick_chat + "--samples 3 --chat /again");
  CHECK(turns[2]["tokens"] == anew[2]["tokens"]);
  const json messages = json::parse(bytes_of(saved));
  CHECK(messages == json{{{"role", "user"}, {"content", "the man"}},
                         {{"role", "assistant"}, {"content", turns[1]["answer"]}}});
  // A saved conversation goes on.
  const auto more = lines_of(chat(settings + "--messages " + saved, "and the aunt\n").out);
  REQUIRE(more.size() == 1);
  const TemporaryFile whole(
      written({{"user", "the man"}, {"assistant", turns[1]["answer"]}, {"user", "and the aunt"}}));
  CHECK(more[0]["tokens"] ==
        answers_of(model.option() + quick_chat + "--messages " + whole.path())[0]["tokens"]);
  // One that ends with the user's turn is answered at once.
  CHECK(lines_of(chat(settings + "--messages " + whole.path(), "").out)[0]["tokens"] ==
        more[0]["tokens"]);
}

TEST_CASE("lines that end as Windows ends them are the same turns and commands") {
  const ChatModel model;
  const std::string settings = model.option() + quick_chat + "--json ";
  std::string input = "the man\n\nand the aunt\n/again\n/new\n//again\n/exit\nnot read\n";
  const std::string out = chat(settings, input).out;
  CHECK(lines_of(out).size() == 4);
  for (std::size_t at = 0; (at = input.find('\n', at)) != std::string::npos; at += 2)
    input.insert(at, 1, '\r');
  CHECK(chat(settings, input).out == out);
}

TEST_CASE("on a terminal a chat prompts, and goes on after a line that it cannot take") {
  const ChatModel model;
  auto terminal = PseudoTerminal::open(100);
  if (!terminal) return;
  const std::string shown =
      terminal->run("LANG=C", "chat " + model.option() + quick_chat, "/agian\nthe man\n/exit\n");
  CHECK_THAT(shown, Catch::Contains("/help lists commands") && Catch::Contains("> ") &&
                        Catch::Contains("tempera: \"/agian\"") &&
                        Catch::Contains("did you mean /again?"));
  // An answer of 8 tokens, none of them terminal, is cut, and the terminal says so.
  const json answer = answers_of(model.option() + quick_chat + "--chat 'the man'")[0];
  CHECK((shown.find("cut after 8 tokens") != std::string::npos) ==
        (answer["tokens"].size() == 8 && answer["terminated"] == false));
}

TEST_CASE("what makes no chat is refused in one line") {
  const ChatModel model;
  const auto refuse = [&](const std::string& arguments, const std::string& input,
                          const std::string& message) {
    const CommandResult result = run_command("chat " + arguments, input);
    CAPTURE(arguments, input, result.out, result.err);
    CHECK(is_refusal(result));
    CHECK_THAT(result.err, Catch::Contains(message));
  };
  const std::string option = model.option();
  refuse("", "a\n", "--model: is missing");
  refuse("--model " TEMPERA_SOURCE_DIR "/toy_models/worked_sum", "4+7?\n", "tokenizer_config.json");
  refuse(option + "--powers 2,1", "a\n", "powers");
  refuse(option + "--horizon 8 --max-tokens 8", "a\n", "--max-tokens: has no effect beside");
  refuse(option + "--temperature 0", "a\n", "--temperature");
  refuse(option, "/agian\n", "did you mean /again?");
  refuse(option, "/again\n", "has no answer yet");
  refuse(option, "/save\n", "write /save FILE");
  refuse(option, "/new one\n", "//");
  refuse(option, "/save /nowhere/talk.json\n", "/nowhere");
  refuse(option, "\xFF\n", "UTF-8");
  const TemporaryFile system(written({{"system", "x"}, {"user", "a"}}));
  refuse(option + "--system y --messages " + system.path(), "", "give one of the two");
  const TemporaryFile none("[]"), wrong("[{\"role\": \"user\", \"text\": \"a\"}]");
  refuse(option + "--messages " + none.path(), "", "holds no message");
  refuse(option + "--messages " + wrong.path(), "", "[0][\"text\"] is not known");
  // A conversation that outgrows the model.
  write_chat_model(model.folder / "small", 160);
  std::string turns;
  for (int turn = 0; turn < 30; ++turn) turns += "the man and the aunt\n";
  const CommandResult result =
      run_command("chat --model " + (model.folder / "small").string() + " " + quick_chat, turns);
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Catch::Contains("the conversation"));
}

TEST_CASE("sample takes a conversation from a file, and from lines of a file of prompts") {
  const ChatModel model;
  const std::string settings = model.option() + quick_chat;
  const std::string messages =
      written({{"system", "the"}, {"user", "man"}, {"assistant", "aunt"}, {"user", "and"}});
  const TemporaryFile talk(messages), wrapped("{\"messages\": " + messages + "}");
  const auto answers = answers_of(settings + "--messages " + talk.path());
  CHECK(answers_of(settings + "--messages " + wrapped.path()) == answers);
  const TemporaryFile without(written({{"user", "man"}, {"assistant", "aunt"}, {"user", "and"}}));
  CHECK(answers_of(settings + "--system the --messages " + without.path()) == answers);
  CHECK(answers_of(settings + "--messages " + without.path()) != answers);
  const TemporaryFile lines("{\"id\": \"one\", \"messages\": " + messages + "}\n" +
                            "{\"id\": \"two\", \"prompt\": \"man\"}\n");
  const auto of_lines = answers_of(settings + "--prompts " + lines.path());
  REQUIRE(of_lines.size() == 2);
  const TemporaryFile same("{\"id\": \"one\", \"messages\": " + messages + "}\n");
  CHECK(answers_of(settings + "--prompts " + same.path())[0] == of_lines[0]);
  // Tokens of the same conversation.
  const auto tokens =
      json::parse(run_command("tokens " + model.option() + "--json --messages " + talk.path()).out);
  CHECK_THAT(tokens["text"].get<std::string>(), Catch::Contains("<|im_start|>assistant\naunt"));
  const Refusal refusals[] = {
      {"a --messages " + talk.path(), "--messages: has no effect beside PROMPT"},
      {"--chat --messages " + talk.path(), "messages are a conversation"},
      {"--system x --messages " + talk.path(), "give one of the two"},
      {"--system x a", "--chat: is missing"},
      {"--messages /nowhere", "/nowhere"},
  };
  for (const Refusal& refusal : refusals)
    check_refusal("sample " + settings + refusal.arguments, refusal.message);
}

TEST_CASE("sample knows temperature, max-tokens and stop") {
  const std::string worked_sum = "'4+7+9?' --model " TEMPERA_SOURCE_DIR "/toy_models/worked_sum ";
  const auto document = [&](const std::string& arguments) {
    const CommandResult result = run_command("sample " + worked_sum + arguments + " --json");
    CAPTURE(arguments, result.err);
    REQUIRE(result.exit_code == 0);
    return json::parse(result.out);
  };
  CHECK(document("--temperature 0.25 --max-tokens 20") ==
        document("--sampler low-temperature --powers 4 --horizon 20"));
  const std::string ladder = "--powers 1,2 --horizon 24 --block 6 --rounds 1 ";
  const json whole = document(ladder), cut = document(ladder + "--stop = --stop ','");
  CHECK(cut["settings"]["stop"] == json{"=", ","});
  const std::string text = whole["answers"][0]["answer"], shown = cut["answers"][0]["answer"];
  REQUIRE(text.find_first_of("=,") != std::string::npos);
  CHECK(shown == text.substr(0, text.find_first_of("=,")));
  CHECK(cut["answers"][0]["terminated"] == false);
  const Refusal refusals[] = {
      {"--temperature 0.5 --powers 2", "--temperature: says the same as --powers"},
      {"--temperature 0.5 --sampler ppt", "--temperature: has no effect on the sampler ppt"},
      {"--temperature warm", "--temperature: \"warm\" is not a temperature"},
      {"--temperature 0", "--temperature: is not a number above 0"},
      {"--temperature 1e-9", "--temperature"},
      {"--max-tokens 0", "--max-tokens: \"0\" is out of range"},
      {"--max-tokens 8 --horizon 8", "--max-tokens: has no effect beside --horizon"},
      {"--stop ''", "--stop: \"\" is empty"},
      {"--resume /nowhere --stop x", "beside --resume"},
  };
  for (const Refusal& refusal : refusals)
    check_refusal("sample " + worked_sum + refusal.arguments, refusal.message);
}
