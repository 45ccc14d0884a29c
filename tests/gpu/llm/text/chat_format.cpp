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
                     const ChatArguments& arguments = {}) {
  return format.render(messages, arguments, "prompt 1");
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

TEST_CASE("a tested family is known by the published template alone", "[chat_format]") {
  const auto recognise = [](const std::string& text) {
    return ChatFormat::of(text, {{"bos_token", "<b>"}, {"eos_token", "<e>"}},
                          "tokenizer_config.json");
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
    const ChatFormat format = recognise(other);
    CHECK(format.name().empty());
    CHECK_FALSE(format.is_tested());
    CHECK(format.digest() ==
          sha256(other.ends_with("\n\n") ? other.substr(0, other.size() - 1) : other));
  }
}

TEST_CASE("roles come in any order that the template takes", "[chat_format][templates]") {
  const auto format = ChatFormat::of(smollm2, {}, "m");
  const std::string system =
      "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
      "Face<|im_end|>\n";
  const auto turn = [](const std::string& role, const std::string& content) {
    return "<|im_start|>" + role + "\n" + content + "<|im_end|>\n";
  };
  const std::string begin = "<|im_start|>assistant\n";
  // Jinja2 renders what the family's own code does not know.
  CHECK(rendered(format, {{"user", "a"}, {"assistant", "b"}}) ==
        system + turn("user", "a") + turn("assistant", "b") + begin);
  CHECK(rendered(format, {{"system", "a"}}) == turn("system", "a") + begin);
  CHECK(rendered(format, {{"tool", "a"}, {"user", "b"}}) ==
        system + turn("tool", "a") + turn("user", "b") + begin);
  CHECK(rendered(format, {{"user", "a"}, {"system", "b"}, {"user", "c"}}) ==
        system + turn("user", "a") + turn("system", "b") + turn("user", "c") + begin);
  // A client's "developer" is the system of a template that does not name it.
  CHECK(rendered(format, {{"developer", "a"}, {"user", "b"}}) ==
        turn("system", "a") + turn("user", "b") + begin);
  const auto named =
      ChatFormat::of("{% for m in messages %}{{ m.role }},{% endfor %}{# developer #}", {}, "m");
  CHECK(rendered(named, {{"developer", "a"}, {"system", "b"}}) == "developer,system,");
}

TEST_CASE("a conversation that a model cannot answer is refused", "[chat_format][templates]") {
  const auto format = ChatFormat::of(smollm2, {}, "m");
  require_bad_input([&] { rendered(format, {}); }, {"prompt 1", "no message"});
  require_bad_input(
      [&] {
        rendered(format, {{"user", "a"}}, ChatArguments::of_thinking(true));
      },
      {"enable_thinking: has no effect on SmolLM2", "leave it out", "--thinking"});
  CHECK(rendered(format, {{"user", "a"}}, ChatArguments::of_thinking(false)) ==
        rendered(format, {{"user", "a"}}));
  require_bad_input(
      [&] {
        rendered(format, {{"user", "a"}}, ChatArguments::parse(R"({"tools": []})", "x"));
      },
      {"chat_template_kwargs.tools", "never reads it", "leave it out"});
  require_bad_input(
      [&] {
        rendered(format, {{"tool", "a\xFF"}});
      },
      {"prompt 1", "message 1", "byte 1 is not UTF-8"});
}

TEST_CASE("any other template is rendered by Jinja2", "[chat_format][templates]") {
  const std::map<std::string, std::string> tokens{{"bos_token", "<b>"}, {"eos_token", "<e>"}};
  const auto render = [&](const std::string& source, const std::vector<ChatMessage>& messages,
                          const std::string& arguments = "{}") {
    return rendered(ChatFormat::of(source, tokens, "m.jinja"), messages,
                    ChatArguments::parse(arguments, "kwargs"));
  };
  const std::vector<ChatMessage> hi{{"user", "Hi <&> \u00E4"}};
  CHECK(render("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ pad_token }}", hi) ==
        "<b>Hi <&> \u00E4<e>");
  // The block settings, loop controls and a filter that escapes nothing, as transformers has them.
  CHECK(render("{%- for m in messages %}\n  {% if loop.first %}\n{{ m | tojson }}\n  {% break %}\n"
               "  {% endif %}\n{% endfor %}\nx",
               hi) == R"({"role": "user", "content": "Hi <&> )"
                      "\u00E4\"}\nx");
  CHECK(render("{% generation %}{{ messages[0].role }}{% endgeneration %}"
               "{{ add_generation_prompt }}{{ tools is none }}{{ documents is none }}",
               hi) == "userTrueTrueTrue");
  CHECK(render("{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
               "{% endfor %}{{ ns.n }}{{ dict(a=1) }}",
               hi) == "1{'a': 1}");
  // Arguments of any kind, in their order; a null says nothing; they win over tokens.
  CHECK(render("{{ tools | tojson }}{{ x is defined }}{{ enable_thinking }}{{ bos_token }}", hi,
               R"({"tools": [{"z": 1.5, "a": ["b"]}], "x": null, "enable_thinking": false,)"
               R"("bos_token": "<s>"})") == R"([{"z": 1.5, "a": ["b"]}]FalseFalse<s>)");
  CHECK(render("{{ strftime_now('%d %b %Y') }}", hi, R"({"strftime_now": "2026-11-28"})") ==
        "28 Nov 2026");
  // A template can ask if there is a clock; there is none.
  CHECK(render("{{ strftime_now('%Y') if strftime_now is defined else '2024' }}", hi) == "2024");
}

TEST_CASE("what a template refuses or cannot do is one line", "[chat_format][templates]") {
  const auto refused = [&](const std::string& source, std::initializer_list<std::string> parts,
                           const std::string& arguments = "{}") {
    require_bad_input(
        [&] {
          rendered(ChatFormat::of(source, {}, "m.jinja"), {{"user", "a"}},
                   ChatArguments::parse(arguments, "kwargs"));
        },
        parts);
  };
  refused("{{ raise_exception('Roles\\nmust alternate') }}",
          {"prompt 1", "refuses it (Roles must alternate)"});
  refused("{% for m in %}", {"m.jinja", "line 1"});
  refused("{{ 1 / 0 }}", {"m.jinja", "ZeroDivisionError"});
  refused("{{ strftime_now('%Y') }}", {"prompt 1", "writes the date", "strftime_now", "2026"});
  refused("{{ strftime_now('%Y') }}", {"prompt 1", "'28.11.' is not a date"},
          R"({"strftime_now": "28.11."})");
  refused("{{ [1, 2] | random }}", {"m.jinja", "random"});
  refused("{{ lipsum() }}", {"m.jinja", "lipsum"});
  refused("{{ messages.append(1) }}", {"m.jinja", "SecurityError"});
  refused("{{ cycler.__init__.__globals__ }}", {"m.jinja", "unsafe"});
  refused("{% set n = namespace(_a=1) %}", {"m.jinja", "SecurityError"});
  refused("{% include '/etc/passwd' %}", {"m.jinja", "no loader"});
  refused("\xFF", {"m.jinja", "not UTF-8"});
  refused("{{ budget }}{{ messages }}", {"chat_template_kwargs.effort", "it reads budget"},
          R"({"effort": "low"})");
  refused("{{ budget }}", {"enable_thinking", "reads budget"}, R"({"enable_thinking": true})");
  for (const auto& [text, part] : std::map<std::string, std::string>{
           {"[]", "is not a JSON object"},
           {"{", "kwargs"},
           {R"({"a": 1, "a": 2})", "twice"},
           {R"({"messages": []})", "kwargs.messages"},
           {R"({"add_generation_prompt": false})", "kwargs.add_generation_prompt"},
           {R"({"enable_thinking": 1})", "kwargs.enable_thinking: is neither true nor false"},
           {R"({"strftime_now": 5})", "kwargs.strftime_now: is not a date"}}) {
    const std::string json = text;
    require_bad_input([&] { ChatArguments::parse(json, "kwargs"); }, {part});
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
  folder.write("chat_template.jinja", "{{ eos_token }}{{ unk_token }}{{ pad_token }}");
  CHECK(rendered(ChatFormat::load(folder.path()), {{"user", "a"}}).empty());
  write({{"eos_token", "<e>"}, {"unk_token", {{"content", "<u>"}}}, {"pad_token", nullptr}});
  CHECK(rendered(ChatFormat::load(folder.path()), {{"user", "a"}}) == "<e><u>");
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
  other.add_text("tokenizer.chat_template", "{{ eos_token }}{{ unk_token }}{{ bos_token }}");
  other.add("tokenizer.ggml.eos_token_id", gguf_type::uint32, little_endian(2U));
  other.add("tokenizer.ggml.unknown_token_id", gguf_type::uint32, little_endian(0U));
  CHECK(rendered(load(other), {{"user", "x"}}) == "<e>a");
  file.add_text("tokenizer.chat_template", smollm2);
  CHECK(load(file).name() == "SmolLM2");
  file.add("tokenizer.ggml.bos_token_id", gguf_type::uint32, little_endian(3U));
  require_bad_input([&] { load(file); }, {"bos_token_id", "from 0 to 2"});
}

}  // namespace tempera::gpu::chat_format_test
