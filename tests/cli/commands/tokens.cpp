#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/cli/run_command.hpp"
#include "tests/gpu/llm/transformer/weights/gguf_bytes.hpp"

namespace tempera::tokens_test {

using nlohmann::json;
using namespace tempera::test;
using tempera::gpu::GgufBytes;

namespace {

const std::string source = TEMPERA_SOURCE_DIR;
const std::string worked_sum = "--model " + source + "/toy_models/worked_sum ";
const std::string phi_like = "--model " + source + "/tests/fixtures/tokenizer/phi_like ";
const std::string qwen_like = "--model " + source + "/tests/fixtures/tokenizer/qwen_like ";

json answer(const std::string& arguments, const std::string& input = "") {
  const auto result = run_command("tokens " + arguments + " --json", input);
  CAPTURE(arguments, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.empty());
  return json::parse(result.out);
}

/// A small GGUF file: ChatML tokens, the bytes of "user" and a few more.
std::string small_gguf(const std::string& chat_template) {
  GgufBytes file;
  std::vector<std::string> tokens{"<|im_start|>", "<|im_end|>"};
  std::vector<std::int32_t> types{3, 3};
  for (int c = 0x21; c < 0x7F; ++c) {
    tokens.emplace_back(1, static_cast<char>(c));
    types.push_back(1);
  }
  for (const char* stand_in : {"\xC4\xA0", "\xC4\x8A", "\xC3\xA2", "\xC4\xBC", "\xC4\xA5"}) {
    tokens.emplace_back(stand_in);  // the space, the newline, and E2 9A 83's
    types.push_back(1);
  }
  file.add_text("general.architecture", "llama");
  file.add_text("tokenizer.ggml.model", "gpt2");
  file.add_text("tokenizer.ggml.pre", "smollm");
  file.add_texts("tokenizer.ggml.tokens", tokens);
  file.add_numbers("tokenizer.ggml.token_type", tempera::gpu::gguf_type::int32, types);
  file.add_texts("tokenizer.ggml.merges", {});
  if (!chat_template.empty()) file.add_text("tokenizer.chat_template", chat_template);
  return file.bytes();
}

const std::string smollm2 =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
    "}}{% endif %}";

}  // namespace

TEST_CASE("tokens prints ids, pieces and text, and nothing else") {
  const json report = answer(worked_sum + "'4+7?<|end|>'");
  CHECK(report.size() == 3);
  REQUIRE(report["pieces"].size() == report["ids"].size());
  CHECK(report["text"] == "4+7?<|end|>");
  std::string joined;
  for (const json& piece : report["pieces"]) joined += piece.get<std::string>();
  CHECK(joined == "4+7?<|end|>");
  // What belongs before a text is there; a half character is shown as such.
  const json phi = answer(phi_like + "'\xE2\x98\x83'");
  CHECK(phi["ids"][0] == 1);
  CHECK(phi["pieces"][0] == "<s>");
  CHECK(phi["pieces"].back() == "\xEF\xBF\xBD");
  CHECK(phi["text"] == "<s> \xE2\x98\x83");
  CHECK(answer(qwen_like + "'the dog'")["text"] == "the dog");
}

TEST_CASE("tokens reads standard input where no text is given") {
  const json given = answer(worked_sum + "'4+7?'");
  CHECK(answer(worked_sum, "4+7?") == given);
  CHECK(answer(worked_sum, "4+7?\n") == given);
  CHECK(answer(worked_sum + "-", "4+7?") == given);
  CHECK(answer(qwen_like, "a\n\n")["text"] == "a\n");
  CHECK(answer(qwen_like, "")["ids"].empty());
}

TEST_CASE("the table of tokens has a line for each, of at most 100 columns") {
  const auto result = run_command("tokens " + qwen_like + "'the\n" + std::string(300, '-') + "'");
  REQUIRE(result.exit_code == 0);
  std::istringstream lines(result.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(line.size() <= 100);
  const json report = answer(qwen_like + "'the\n" + std::string(300, '-') + "'");
  CHECK(count == report["ids"].size() + 1);
}

TEST_CASE("tokens reads a GGUF file and writes its conversations") {
  const TemporaryFile model(small_gguf(smollm2));
  const std::string arguments = "--model " + model.path() + " ";
  CHECK(answer(arguments + "'Hi <|im_end|>'")["pieces"] == json{"H", "i", " ", "<|im_end|>"});
  CHECK(answer(arguments + "'\xE2\x9A\x83'")["pieces"] ==
        json{"\xEF\xBF\xBD", "\xEF\xBF\xBD", "\xEF\xBF\xBD"});
  const json chat = answer(arguments + "--chat Hi");
  CHECK(chat["text"] ==
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
        "Face<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  CHECK(chat["ids"][0] == 0);
  CHECK(chat["chat_template"]["tested"] == true);
}

TEST_CASE("a chat template that tempera is not tested with is rendered, and one line says so") {
  const TemporaryFile file(small_gguf(
      "{% for m in messages %}<|im_start|>{{ m.role[0] }}{{ m.content }}{{ effort }}{% endfor %}"));
  const auto result = run_command("tokens --model " + file.path() +
                                  " --chat --system a --chat-template-kwargs '{\"effort\": \"!\"}' "
                                  "'H<|im_end|>' --json");
  REQUIRE(result.exit_code == 0);
  const json chat = json::parse(result.out);
  // Special tokens are found in what the template writes, in what a message holds too.
  CHECK(chat["pieces"] ==
        json{"<|im_start|>", "s", "a", "!", "<|im_start|>", "u", "H", "<|im_end|>", "!"});
  CHECK(chat["chat_template"]["tested"] == false);
  CHECK_THAT(result.err, Catch::StartsWith("tempera: the chat template (SHA-256 " +
                                           chat["chat_template"]["sha256"].get<std::string>() +
                                           ") is none of those that tempera is tested with"));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

TEST_CASE("tokens of a Qwen3.5 file are those of its folder") {
  const std::string folder = source + "/tests/fixtures/gguf/qwen3_5";
  const std::string of_file = "--model " + folder + "/float32.gguf ";
  const std::string of_folder = "--model " + folder + " ";
  for (const std::string text : {"'the man and the aunt, 2012!'", "'<|im_start|>he <think>the'",
                                 // An accent that NFC joins with its letter.
                                 "\"$(printf 'e\\314\\201a the\\n\\n a')\""}) {
    const json tokens = answer(of_file + text);
    CHECK(tokens == answer(of_folder + text));
    CHECK(tokens["ids"].size() < tokens["text"].get<std::string>().size());
  }
  check_refusal("tokens " + of_file + "'[PAD40]'", "has no token");
  check_refusal("tokens " + of_file + "--chat Hi", "tokenizer.chat_template\": is missing");
}

TEST_CASE("what has no tokens ends in one line and exit code 2") {
  const TemporaryFile silent(small_gguf(""));
  const TemporaryFile strange(small_gguf("{{ raise_exception('no') }}"));
  const TemporaryFile chat(small_gguf(smollm2));
  const TemporaryFile broken(small_gguf(smollm2).substr(0, 700));
  const std::string folder = source + "/tests/fixtures/tokenizer/qwen_like";
  const Refusal refusals[] = {
      {"Hi", "--model: is missing"},
      {"--model /nowhere Hi", "/nowhere: does not exist"},
      {"--model " + source + "/toy_models/four_state.json a", "neither a folder nor a GGUF file"},
      {"--model " + source + "/docs a", "tokenizer.json"},
      {worked_sum + "x", "TEXT: \"x\" has no token in "},
      {worked_sum + "x", "worked_sum/tokenizer.json"},
      {worked_sum + "\"$(printf '3\\377')\"", "TEXT: byte 1 is not UTF-8"},
      {worked_sum + "3 4", "one argument too many"},
      {qwen_like + "--chat Hi", folder + "/tokenizer_config.json: cannot be read"},
      {"--model " + silent.path() + " --chat Hi", "tokenizer.chat_template\": is missing"},
      {"--model " + strange.path() + " --chat Hi", "the model's chat template refuses it (no)"},
      {"--model " + chat.path() + " --chat --chat-template-kwargs '{\"a\": 1}' Hi",
       "chat_template_kwargs.a: the model's chat template never reads it"},
      {"--model " + chat.path() + " --chat --chat-template-kwargs '[]' Hi",
       "--chat-template-kwargs: is not a JSON object"},
      {"--model " + chat.path() +
           " --chat --thinking on --chat-template-kwargs '{\"enable_thinking\": false}' Hi",
       "--thinking: differs from"},
      {"--model " + chat.path() + " --chat --thinking on Hi",
       "enable_thinking: has no effect on SmolLM2"},
      {"--model " + chat.path() + " --chat --thinking maybe Hi", "--thinking"},
      {"--model " + chat.path() + " --thinking off Hi", "--chat: is missing"},
      {"--model " + broken.path() + " Hi", broken.path()},
  };
  for (const Refusal& refusal : refusals) {
    for (const char* form : {"", " --json"})
      check_refusal("tokens " + refusal.arguments + form, refusal.message);
  }
}

TEST_CASE("sample takes a prompt as a turn of a conversation, where the model has them") {
  const std::string finite = "--model " + source + "/toy_models/four_state.json ";
  check_refusal("sample a " + finite + "--chat", "--chat: the model has no tokenizer");
  check_refusal("sample a " + finite + "--thinking on", "--chat: is missing");
  check_refusal("sample 4+7? " + worked_sum + "--chat", "tokenizer_config.json");
}

}  // namespace tempera::tokens_test
