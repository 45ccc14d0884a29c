#include "gpu/llm/text/chat_format.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/json_document.hpp"
#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/gguf/metadata.hpp"
#include "gpu/llm/text/chat_families.hpp"
#include "gpu/llm/text/template_engine.hpp"

namespace tempera::gpu {

struct ChatFormat::Family {
  std::string_view digest;  // of the published template
  std::string_view name;
  ChatStyle style;
  std::string_view system;        // what ChatML says if there is no system turn
  bool writes_beginning = false;  // of the model's begin token

  bool thinks() const { return style == ChatStyle::qwen3 || style == ChatStyle::qwen35; }
};

namespace {

const std::string leave_out =
    "give the prompt as plain text, in the form that the model wants, to sample or /v1/completions";

constexpr std::string_view smollm_system =
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face";
constexpr std::string_view qwen2_system = "You are a helpful assistant";
constexpr std::string_view qwen25_system =
    "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";
constexpr std::string_view math_system =
    "Please reason step by step, and put your final answer within \\boxed{}.";

/// The tokens that templates write by name, as tokenizer_config.json has them.
constexpr std::array<const char*, 7> special_tokens{
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
/// The same of GGUF, with the keys of their numbers.
constexpr std::array<std::pair<const char*, const char*>, 6> gguf_tokens{
    {{"bos_token", "tokenizer.ggml.bos_token_id"},
     {"eos_token", "tokenizer.ggml.eos_token_id"},
     {"unk_token", "tokenizer.ggml.unknown_token_id"},
     {"sep_token", "tokenizer.ggml.seperator_token_id"},
     {"pad_token", "tokenizer.ggml.padding_token_id"},
     {"mask_token", "tokenizer.ggml.mask_token_id"}}};

/// The text of a special token: a string, or an object that has it.
std::optional<std::string> token_text(const JsonObject& config, const std::string& key) {
  if (!config.has(key)) return std::nullopt;
  if (config.at(key).is_object()) return config.object(key).text("content");
  return config.text(key);
}

/// The template of tokenizer_config.json: a string, or of several the one named "default".
std::string template_of(const JsonObject& config) {
  const std::string key = "chat_template";
  if (!config.has(key)) {
    throw BadInput(config.where(), "has no \"chat_template\": the model knows no conversations",
                   leave_out);
  }
  if (!config.at(key).is_array()) return config.text(key);
  for (const auto& entry : config.objects(key)) {
    if (entry.text("name") == "default") return entry.text("template");
  }
  throw BadInput(config.where(), "none of its chat templates is named \"default\"", leave_out);
}

}  // namespace

const ChatFormat::Family* ChatFormat::find(std::string_view digest) {
  // tests/fixtures/chat/make_fixture.py names the sources and prints the digests.
  static constexpr std::array<Family, 12> families{
      {{"872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788", "SmolLM2",
        ChatStyle::chatml, smollm_system},
       {"af9c0233881b083b52ff773580215222b5440ac3d0beeeca99b76329b048f8db", "Qwen2",
        ChatStyle::chatml, qwen2_system},
       {"55b2f4a26ac9ee719330a61a0c39d9e538b0e9322212f048326318cff4f8674a", "Qwen2.5",
        ChatStyle::chatml, qwen25_system},
       {"2976f7de3b9489e3237dc5ad2734060f756d026da00f24464c59c2e3bb40ee37", "Qwen2.5-Math",
        ChatStyle::chatml, math_system},
       {"87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5", "Qwen3",
        ChatStyle::qwen3, ""},
       {"a4aee8afcf2e0711942cf848899be66016f8d14a889ff9ede07bca099c28f715", "Qwen3.5",
        ChatStyle::qwen35, ""},
       {"ba03a121d097859c7b5b9cd03af99aafe95275210d2876f642ad9929a150f122", "Llama 3",
        ChatStyle::llama3, "", true},
       {"93c0e9aa3629bbd77e68dbc0f5621f6e6b23aa8d74b932595cdb8d64684526d7", "Llama 3.1",
        ChatStyle::llama31, "", true},
       {"d82792f95932f1c9cef5c4bd992f171225e3bf8c7b609b4557c9e1ec96be819f", "Llama 3.2",
        ChatStyle::llama31, "", true},
       {"ac7498a36a719da630e99d48e6ebc4409de85a77556c2b6159eeb735bcbd11df", "Tulu 3",
        ChatStyle::tulu, ""},
       {"fe689ffbd6a4e2d0532d7480696b065b10e0e1eff3f9b9fc4bea415761e4bf4a", "Tulu 3",
        ChatStyle::tulu, "", true},
       {"78d976a442bcde2f0be15aafbb8e3050e1104f86732266f68403251b89982a90", "Phi-3.5",
        ChatStyle::phi35, ""}}};
  const auto* found = std::find_if(families.begin(), families.end(),
                                   [&](const Family& family) { return family.digest == digest; });
  return found == families.end() ? nullptr : found;
}

ChatFormat ChatFormat::of(std::string_view chat_template, std::map<std::string, std::string> tokens,
                          std::string where) {
  if (chat_template.ends_with('\n')) chat_template.remove_suffix(1);
  ChatFormat format;
  format.source_ = chat_template;
  format.digest_ = sha256(chat_template);
  format.family_ = find(format.digest_);
  format.tokens_ = std::move(tokens);
  format.where_ = std::move(where);
  return format;
}

ChatFormat ChatFormat::load(const std::filesystem::path& folder) {
  const auto file = folder / "tokenizer_config.json";
  const auto document = read_json_file(file);
  const JsonObject config(document, file.string());
  const auto separate = folder / "chat_template.jinja";
  std::error_code error;
  const bool is_separate = std::filesystem::exists(separate, error);
  std::map<std::string, std::string> tokens;
  for (const char* key : special_tokens)
    if (auto text = token_text(config, key)) tokens.emplace(key, *std::move(text));
  return of(is_separate ? read_text_file(separate) : template_of(config), std::move(tokens),
            is_separate ? separate.string() : config.where());
}

ChatFormat ChatFormat::from_gguf(const GgufMetadata& metadata) {
  const std::string key = "tokenizer.chat_template";
  if (!metadata.has(key)) {
    throw BadInput(metadata.where(key), "is missing: the model knows no conversations", leave_out);
  }
  const auto texts = metadata.texts("tokenizer.ggml.tokens");
  std::map<std::string, std::string> tokens;
  for (const auto& [name, number] : gguf_tokens)
    if (metadata.has(number) && !texts.empty())
      tokens.emplace(name, texts[metadata.whole_number(number, 0, texts.size() - 1)]);
  return of(metadata.text(key), std::move(tokens), metadata.where(key));
}

std::string_view ChatFormat::name() const { return family_ == nullptr ? "" : family_->name; }

std::string ChatFormat::render(std::span<const ChatMessage> messages,
                               const ChatArguments& arguments, const std::string& where) const {
  if (messages.empty())
    throw BadInput(where, "the conversation has no message", "give what the model shall answer");
  std::vector<ChatMessage> turns(messages.begin(), messages.end());
  if (source_.find("developer") == std::string::npos)
    for (ChatMessage& turn : turns)
      if (turn.role == "developer") turn.role = "system";
  // To ask a model that never thinks not to think changes nothing.
  const bool is_without_effect =
      family_ != nullptr && arguments.says_thinking_alone() && !family_->thinks();
  if (is_without_effect && *arguments.thinking())
    throw BadInput("enable_thinking",
                   "has no effect on " + std::string(name()) + "'s conversations",
                   "leave it out (thinking and --thinking are its other names)");
  const ChatArguments none;
  const ChatArguments& said = is_without_effect ? none : arguments;
  if (auto text = render_family(turns, said)) return *std::move(text);
  auto tokens = nlohmann::ordered_json::object();
  for (const auto& [token, text] : tokens_) tokens[token] = replace_invalid_utf8(text);
  return render_template({source_, digest_, tokens.dump(), is_tested(), said}, turns, where,
                         where_);
}

std::optional<std::string> ChatFormat::render_family(std::span<const ChatMessage> messages,
                                                     const ChatArguments& arguments) const {
  if (family_ == nullptr || !(arguments.empty() || arguments.says_thinking_alone()))
    return std::nullopt;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& role = messages[i].role;
    if (role != "user" && role != "assistant" && !(role == "system" && i == 0)) return std::nullopt;
  }
  if (messages.back().role != "user") return std::nullopt;
  if (family_->style == ChatStyle::qwen35 && !last_question(messages, true)) return std::nullopt;
  const auto thinks = arguments.thinking();
  const auto text_of = [&](const char* token) -> std::string_view {
    const auto found = tokens_.find(token);
    return found == tokens_.end() ? std::string_view() : found->second;
  };
  return write_conversation(
      family_->style, {messages, family_->system,
                       family_->writes_beginning ? text_of("bos_token") : "", text_of("eos_token"),
                       !thinks   ? Thinking::as_published
                       : *thinks ? Thinking::on
                                 : Thinking::off});
}

}  // namespace tempera::gpu
