#include "gpu/llm/text/chat_format.hpp"

#include "base/sha256.hpp"
#include "gpu/llm/text/chat_families.hpp"
#include "gpu/llm/transformer/weights/gguf.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/weights/gguf_bytes.hpp"

namespace tempera::gpu::chat_format_test {

namespace {

/// SmolLM2's, which is short enough to be here.
const std::string smollm2 =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
    "}}{% endif %}";

/// Phi-3.5's likewise.
const std::string phi35 =
    "{% for message in messages %}{% if message['role'] == 'system' and message['content'] "
    "%}{{'<|system|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'user' "
    "%}{{'<|user|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'assistant' "
    "%}{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endif %}{% endfor %}{% if "
    "add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}";

struct Style {
  ChatStyle style;
  std::string_view system;
  bool writes_beginning = false;
};

/// What each published template must come to; the names are those of renderings.json.
const std::map<std::string, Style>& styles() {
  static const std::map<std::string, Style> styles{
      {"SmolLM2",
       {ChatStyle::chatml, "You are a helpful AI assistant named SmolLM, trained by Hugging Face"}},
      {"Qwen2", {ChatStyle::chatml, "You are a helpful assistant"}},
      {"Qwen2.5",
       {ChatStyle::chatml, "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."}},
      {"Qwen2.5-Math",
       {ChatStyle::chatml,
        "Please reason step by step, and put your final answer within \\boxed{}."}},
      {"Qwen3", {ChatStyle::qwen3, ""}},
      {"Qwen3.5", {ChatStyle::qwen35, ""}},
      {"Llama 3", {ChatStyle::llama3, "", true}},
      {"Llama 3.1", {ChatStyle::llama31, "", true}},
      {"Llama 3.2", {ChatStyle::llama31, "", true}},
      {"Tulu 3", {ChatStyle::tulu, ""}},
      {"Tulu 3 with a begin of text", {ChatStyle::tulu, "", true}},
      {"Phi-3.5", {ChatStyle::phi35, ""}}};
  return styles;
}

std::vector<ChatMessage> messages_of(const nlohmann::json& json) {
  std::vector<ChatMessage> messages;
  for (const auto& message : json) messages.push_back({message["role"], message["content"]});
  return messages;
}

Thinking thinking_of(const nlohmann::json& json) {
  if (json.is_null()) return Thinking::as_published;
  return json.get<bool>() ? Thinking::on : Thinking::off;
}

nlohmann::json renderings() {
  return nlohmann::json::parse(read_bytes(std::filesystem::path(TEMPERA_SOURCE_DIR) /
                                          "tests/fixtures/chat/renderings.json"));
}

/// The cases of a template that a style renders otherwise than jinja2.
std::vector<std::string> mistakes(const nlohmann::json& published, const Style& style) {
  std::vector<std::string> wrong;
  const std::string beginning = published["bos_token"];
  const std::string end = published["eos_token"];
  for (const auto& entry : published["cases"]) {
    if (entry["text"].is_null()) continue;
    const auto messages = messages_of(entry["messages"]);
    const Conversation conversation{messages, style.system,
                                    style.writes_beginning ? std::string_view(beginning) : "", end,
                                    thinking_of(entry["thinking"])};
    const auto text = write_conversation(style.style, conversation);
    if (text != entry["text"].get<std::string>())
      wrong.push_back(entry.dump() + " became " + nlohmann::json(text).dump());
  }
  return wrong;
}

std::string rendered(const ChatFormat& format, const std::vector<ChatMessage>& messages,
                     Thinking thinking = Thinking::as_published) {
  return format.render(messages, thinking, "prompt 1");
}

}  // namespace

TEST_CASE("conversations read as jinja2 renders the published templates", "[chat_format]") {
  const auto all = renderings();
  CHECK(all.size() == styles().size());
  std::size_t compared = 0;
  for (const auto& published : all) {
    INFO(published["name"]);
    CHECK(published["cases"].size() >= 14);
    CHECK(mistakes(published, styles().at(published["name"])) == std::vector<std::string>{});
    for (const auto& entry : published["cases"]) compared += entry["text"].is_null() ? 0 : 1;
  }
  CHECK(compared == 221);  // Qwen3.5's template refuses three
}

TEST_CASE("the cases tell every two families apart", "[chat_format]") {
  const auto all = renderings();
  for (const auto& published : all) {
    for (const auto& [name, style] : styles()) {
      const auto own = styles().at(published["name"]);
      const bool is_same = own.style == style.style && own.system == style.system &&
                           own.writes_beginning == style.writes_beginning;
      INFO(published["name"] << " rendered as " << name);
      CHECK(mistakes(published, style).empty() == is_same);
    }
  }
}

TEST_CASE("a format is known by the published template alone", "[chat_format]") {
  const auto recognise = [](const std::string& text) {
    return ChatFormat::recognise(text, "<b>", "<e>", "tokenizer_config.json");
  };
  CHECK(recognise(smollm2).name() == "SmolLM2");
  CHECK(recognise(smollm2 + "\n").name() == "SmolLM2");
  CHECK(rendered(recognise(smollm2), {{"user", "Hi"}}) ==
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
        "Face<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  CHECK(recognise(phi35).name() == "Phi-3.5");
  CHECK(rendered(recognise(phi35), {{"user", "Hi"}}) == "<|user|>\nHi<|end|>\n<|assistant|>\n");
  // The digests of the tree are those of the templates that jinja2 rendered.
  for (const auto& published : renderings()) {
    if (published["name"] == "SmolLM2") CHECK(published["sha256"] == sha256(smollm2));
    if (published["name"] == "Phi-3.5") CHECK(published["sha256"] == sha256(phi35));
  }
  for (const std::string& other :
       {smollm2 + "\n\n", smollm2 + " ", smollm2.substr(1), std::string(),
        std::string(smollm2).replace(smollm2.find("helpful"), 7, "helpfu1")}) {
    require_bad_input(
        [&] { recognise(other); },
        {"tokenizer_config.json",
         sha256(other.ends_with("\n\n") ? other.substr(0, other.size() - 1) : other),
         "as plain text, in the form that the model wants, to sample or /v1/completions"});
  }
}

TEST_CASE("a conversation that a model cannot answer is refused", "[chat_format]") {
  const auto format = ChatFormat::recognise(smollm2, "", "", "m");
  const auto refused = [&](const std::vector<ChatMessage>& messages,
                           std::initializer_list<std::string> parts) {
    require_bad_input([&] { rendered(format, messages); }, parts);
  };
  refused({}, {"prompt 1", "user's turn"});
  refused({{"user", "a"}, {"assistant", "b"}}, {"prompt 1", "user's turn"});
  refused({{"system", "a"}}, {"prompt 1", "user's turn"});
  refused({{"tool", "a"}, {"user", "b"}}, {"message 1", "\"tool\""});
  refused({{"user", "a"}, {"system", "b"}, {"user", "c"}}, {"message 2", "\"system\""});
  for (const auto thinking : {Thinking::on, Thinking::off}) {
    require_bad_input(
        [&] {
          rendered(format, {{"user", "a"}}, thinking);
        },
        {"--thinking", "SmolLM2", "leave it out"});
  }
}

TEST_CASE("the format of a folder is in tokenizer_config.json or beside it", "[chat_format]") {
  const ModelFolder folder("untied_float32");
  const auto write = [&](const nlohmann::json& config) {
    folder.write("tokenizer_config.json", config.dump());
  };
  const auto refused = [&](std::initializer_list<std::string> parts) {
    require_bad_input([&] { ChatFormat::load(folder.path()); }, parts);
  };
  refused({"tokenizer_config.json", "cannot be read"});
  write(nlohmann::json::object());
  refused({"tokenizer_config.json", "has no \"chat_template\"",
           "as plain text, in the form that the model wants, to sample or /v1/completions"});
  write({{"chat_template", 3}});
  refused({"tokenizer_config.json", "chat_template"});
  write({{"chat_template", nlohmann::json::array()}});
  refused({"tokenizer_config.json", "named \"default\""});
  write({{"chat_template", smollm2}, {"bos_token", {{"content", "<b>"}}}, {"eos_token", "<e>"}});
  CHECK(ChatFormat::load(folder.path()).name() == "SmolLM2");
  write({{"chat_template",
          {{{"name", "tool_use"}, {"template", "x"}},
           {{"name", "default"}, {"template", smollm2}}}}});
  CHECK(ChatFormat::load(folder.path()).name() == "SmolLM2");
  folder.write("chat_template.jinja", phi35);
  CHECK(ChatFormat::load(folder.path()).name() == "Phi-3.5");
  folder.write("chat_template.jinja", "{{ x }}");
  refused({"chat_template.jinja", "SHA-256"});
}

TEST_CASE("the format of a GGUF file is in its metadata", "[chat_format]") {
  const auto load = [](const GgufBytes& file) {
    const auto bytes = file.bytes();
    return ChatFormat::from_gguf(
        read_gguf(std::as_bytes(std::span<const char>(bytes)), "m.gguf").metadata);
  };
  GgufBytes file;
  file.add_texts("tokenizer.ggml.tokens", {"a", "<b>", "<e>"});
  require_bad_input([&] { load(file); }, {"m.gguf", "tokenizer.chat_template", "is missing"});
  GgufBytes other = file;
  other.add_text("tokenizer.chat_template", "{{ x }}");
  require_bad_input([&] { load(other); }, {"m.gguf", "tokenizer.chat_template", "SHA-256"});
  file.add_text("tokenizer.chat_template", smollm2);
  CHECK(load(file).name() == "SmolLM2");
  file.add("tokenizer.ggml.bos_token_id", gguf_type::uint32, little_endian(3U));
  require_bad_input([&] { load(file); }, {"bos_token_id", "from 0 to 2"});
}

}  // namespace tempera::gpu::chat_format_test
