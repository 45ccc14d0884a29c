#include "serve/protocol/neutral_fields.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/nearest_name.hpp"
#include "settings/field_json.hpp"

namespace tempera::serve {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view in_body = "is a field of the body and changes nothing in here";
constexpr std::string_view beside = "leave it out, and give it beside \"tempera\"";

bool is_below_0(const json& value) {
  return value.is_number() && !value.is_number_unsigned() && value < 0;
}

bool is_neutral(const NeutralField& field, const JsonObject& object) {
  const json& value = object.at(std::string(field.key));
  switch (field.neutral) {
    case Neutral::none:
      return false;
    case Neutral::listed: {
      const json values = json::parse(field.values);
      return std::any_of(values.begin(), values.end(),
                         [&](const json& neutral) { return is_same(value, neutral); });
    }
    case Neutral::any_text:
      return value.is_string();
    case Neutral::any_flag:
      return value.is_boolean();
    case Neutral::any_object:
      return value.is_object();
    case Neutral::any_number:
      return value.is_number();
    case Neutral::any_list:
      return value.is_array();
    case Neutral::empty_list:
      return value.is_array() && value.empty();
    case Neutral::empty:
      return value.is_structured() && value.empty();
    case Neutral::zeros:
      return (value.is_array() && value.empty()) ||
             (value.is_object() && std::all_of(value.begin(), value.end(),
                                               [](const json& bias) { return bias == json(0); }));
    case Neutral::as_n:
      return value == (object.has("n") ? object.at("n") : json(1));
  }
  return false;
}

const NeutralField* find_field(std::string_view key, Holder holder) {
  const auto fields = neutral_fields();
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const NeutralField& field) {
    return field.key == key && (field.holders & static_cast<unsigned>(holder)) != 0;
  });
  return found == fields.end() ? nullptr : &*found;
}

/// Refuses a field of "tempera" that was written outside it, or one of the body inside.
void refuse_misplaced(const std::string& place, const std::string& key, Holder holder) {
  const auto outside = gpu::body_keys(&gpu::Places::beside);
  if (holder == Holder::tempera && std::find(outside.begin(), outside.end(), key) != outside.end())
    throw BadInput(place + key, std::string(in_body), std::string(beside));
  if (holder != Holder::completion && holder != Holder::chat && holder != Holder::response) return;
  const auto keys = tempera_keys();
  if (std::find(keys.begin(), keys.end(), key) != keys.end())
    throw BadInput(key, "is a field of the object \"tempera\" and changes nothing beside it",
                   "give it as \"tempera\": {" + in_quotes(key) + ": ...}");
}

[[noreturn]] void refuse_unknown(const std::string& place, const std::string& key,
                                 const std::vector<std::string_view>& known) {
  std::string advice;
  if (const auto nearest = nearest_name(key, known)) {
    advice = "did you mean " + in_quotes(*nearest) + "?";
  } else {
    for (const std::string_view each : known)
      advice += (advice.empty() ? "" : ", ") + std::string(each);
    advice = "remove it, or write one of " + advice;
  }
  throw BadInput(place + key, "is not a field that this server knows", advice);
}

}  // namespace

bool is_same(const json& value, const json& other) {
  return value == other && is_below_0(value) == is_below_0(other);
}

std::span<const NeutralField> neutral_fields() {
  static constexpr auto completion = static_cast<unsigned>(Holder::completion);
  static constexpr auto chat = static_cast<unsigned>(Holder::chat);
  static constexpr auto stream_options = static_cast<unsigned>(Holder::stream_options);
  static constexpr auto message = static_cast<unsigned>(Holder::message);
  static constexpr auto batch = static_cast<unsigned>(Holder::batch);
  static constexpr auto tempera = static_cast<unsigned>(Holder::tempera);
  static constexpr auto part = static_cast<unsigned>(Holder::part);
  static constexpr auto tokenize_text = static_cast<unsigned>(Holder::tokenize_text);
  static constexpr auto tokenize_chat = static_cast<unsigned>(Holder::tokenize_chat);
  static constexpr auto detokenize = static_cast<unsigned>(Holder::detokenize);
  static constexpr auto response = static_cast<unsigned>(Holder::response);
  static constexpr auto input_item = static_cast<unsigned>(Holder::input_item);
  static constexpr unsigned both = completion | chat;
  static constexpr unsigned all = both | response;
  static constexpr unsigned tokenize = tokenize_text | tokenize_chat;

  static constexpr std::string_view leave_out = "leave it out";
  static constexpr std::string_view give_one = "give one or leave it out";
  static constexpr std::string_view not_text = "is not a string";
  static constexpr std::string_view not_object = "is not an object";
  static constexpr std::string_view not_flag = "is neither true nor false";
  static constexpr std::string_view not_number = "is not a number";
  static constexpr std::string_view not_list = "is not a list";

  static constexpr std::string_view cut =
      "of the cuts of a distribution top_k, top_p and min_p alone are offered";
  static constexpr std::string_view sharper =
      "leave it out, and give powers above 1 in \"tempera\" for likelier answers";

  static constexpr std::string_view of_another =
      "it belongs to a sampler of other servers that is not offered, because it samples no law";

  static constexpr std::string_view last_tokens =
      "it looks at the last tokens alone, and the penalties of this server at all of them";
  static constexpr std::string_view give_penalty = "leave it out, and give \"repetition_penalty\"";

  static constexpr std::string_view no_tools =
      "tools are not offered: the answer is text drawn from the model's own law, and nothing reads "
      "calls from it";
  static constexpr std::string_view describe_tools =
      "leave it out, describe the tools in a message, and read the calls from the answer's text";

  static constexpr std::string_view no_structure =
      "structured output is not offered: masking tokens by a grammar changes the law of the answer";
  static constexpr std::string_view describe_form =
      "leave it out, describe the form in the prompt, and check the answers; n asks for several";

  static constexpr std::string_view text_only = "the model reads and writes text only";

  static constexpr std::string_view whole_records =
      "an answer ends at the model's terminal tokens: the target is a law of whole records";

  static constexpr std::string_view other_name = "this server has another name for it";
  static constexpr std::string_view give_max_tokens = "leave it out, and give \"max_tokens\"";
  static constexpr std::string_view one_model = "the server has one model and no adapters";
  static constexpr std::string_view one_process =
      "one process answers the whole request, and hands it to no other";

  static constexpr std::string_view text_has_thoughts =
      "thoughts are part of the answer's text, as the model writes them";
  static constexpr std::string_view choose_thinking =
      "leave it out; \"thinking\" in \"tempera\", true or false, says whether the model thinks";

  static constexpr std::string_view no_memory =
      "this server keeps no responses: each depends on its own request alone";
  static constexpr std::string_view give_input =
      "leave it out, and give the earlier turns as messages in \"input\"";
  static constexpr std::string_view give_max_output_tokens =
      "leave it out, and give \"max_output_tokens\"";

  static constexpr std::string_view no_numbers = "answers have no token numbers";
  static constexpr std::string_view post_text = "leave it out, and POST the text to /tokenize";
  static constexpr std::string_view no_insides = "answers have no parts of the model's insides";

  static constexpr std::string_view thoughts =
      "thoughts of earlier turns are not part of a conversation";

  static constexpr std::array fields{
      // Other distributions.
      NeutralField{"typical_p", all, Neutral::listed, "[1]", cut, sharper},
      NeutralField{"length_penalty", all, Neutral::listed, "[1]",
                   "it belongs to beam search, which samples no law", leave_out},
      NeutralField{"logit_bias", all, Neutral::zeros, "",
                   "a bias is not offered, because it changes the target", leave_out},
      NeutralField{"use_beam_search", both, Neutral::listed, "[false]",
                   "beam search is not offered, because it samples no law",
                   "leave it out; temperature 0 takes the likeliest token"},
      NeutralField{"best_of", chat, Neutral::as_n, "", "it differs from n",
                   "leave it out, or ask for the sampler \"best-of-n\" in \"tempera\""},
      NeutralField{"n_cmpl", both, Neutral::as_n, "", "it differs from n",
                   "leave it out, and give \"n\""},
      NeutralField{"typ_p", both, Neutral::listed, "[1]", cut, sharper},
      NeutralField{"tfs_z", both, Neutral::listed, "[1]", cut, sharper},
      NeutralField{"top_a", both, Neutral::listed, "[0]", cut, sharper},
      NeutralField{"top_n_sigma", both, Neutral::listed, "[-1, 0]", cut, sharper},
      NeutralField{"min_keep", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"allowed_token_ids", both, Neutral::none, "", cut, sharper},
      NeutralField{"bad_words", both, Neutral::empty_list, "", cut, leave_out},
      NeutralField{"dynatemp_range", both, Neutral::listed, "[0]", of_another, sharper},
      NeutralField{"dynatemp_exponent", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"xtc_probability", both, Neutral::listed, "[0]", of_another, sharper},
      NeutralField{"xtc_threshold", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"mirostat", both, Neutral::listed, "[0]", of_another, sharper},
      NeutralField{"mirostat_tau", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"mirostat_eta", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"adaptive_target", both, Neutral::listed, "[-1]", of_another, sharper},
      NeutralField{"adaptive_decay", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"repeat_penalty", both, Neutral::listed, "[1]", last_tokens, give_penalty},
      NeutralField{"repeat_last_n", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"penalize_nl", both, Neutral::any_flag, "", not_flag, give_one},
      NeutralField{"dry_multiplier", both, Neutral::listed, "[0]", of_another, give_penalty},
      NeutralField{"dry_base", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"dry_allowed_length", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"dry_penalty_last_n", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"dry_sequence_breakers", both, Neutral::any_list, "", not_list, give_one},
      NeutralField{"samplers", both, Neutral::none, "", of_another,
                   "leave it out; \"sampler\" in \"tempera\" names one of this server's"},
      NeutralField{"logits_processors", both, Neutral::empty_list, "", "no code of a client is run",
                   leave_out},
      NeutralField{"custom_logit_processor", both, Neutral::none, "", "no code of a client is run",
                   leave_out},
      NeutralField{"custom_params", both, Neutral::empty, "", "no code of a client is run",
                   leave_out},
      NeutralField{"vllm_xargs", both, Neutral::empty, "", "no code of a client is run", leave_out},
      // Forms of the answer.
      NeutralField{"response_format", all, Neutral::listed, R"([{"type": "text"}])", no_structure,
                   describe_form},
      NeutralField{"structured_outputs", all, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_json", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_regex", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_choice", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_grammar", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_decoding_backend", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"guided_whitespace_pattern", both, Neutral::none, "", no_structure,
                   describe_form},
      NeutralField{"structural_tag", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"grammar", both, Neutral::listed, R"([""])", no_structure, describe_form},
      NeutralField{"grammar_lazy", both, Neutral::any_flag, "", not_flag, give_one},
      NeutralField{"json_schema", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"regex", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"ebnf", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"parse_tool_calls", chat, Neutral::any_flag, "", not_flag, give_one},
      NeutralField{"tools", all | tokenize_chat, Neutral::empty_list, "", no_tools, describe_tools},
      NeutralField{"functions", both, Neutral::empty_list, "", no_tools, describe_tools},
      NeutralField{"tool_choice", all, Neutral::listed, R"(["none", "auto"])", no_tools,
                   describe_tools},
      NeutralField{"function_call", chat, Neutral::listed, R"(["none", "auto"])", no_tools,
                   describe_tools},
      NeutralField{"parallel_tool_calls", chat | response, Neutral::any_flag, "", no_tools,
                   describe_tools},
      NeutralField{"modalities", chat, Neutral::listed, R"([["text"]])", text_only,
                   "leave it out, or give [\"text\"]"},
      NeutralField{"audio", chat, Neutral::none, "", text_only, leave_out},
      NeutralField{"web_search_options", chat, Neutral::none, "",
                   "the server searches nothing: the answer depends on the request only",
                   "leave it out, and put what was found into a message"},
      NeutralField{"moderation", chat | response, Neutral::none, "", "the server moderates nothing",
                   leave_out},
      NeutralField{
          "reasoning_effort", chat, Neutral::listed, R"(["medium"])",
          "the model has no levels of effort",
          "leave it out; \"thinking\" in \"tempera\", true or false, says whether it thinks"},
      NeutralField{"include_reasoning", both, Neutral::listed, "[true]", text_has_thoughts,
                   choose_thinking},
      NeutralField{"separate_reasoning", both, Neutral::listed, "[false]", text_has_thoughts,
                   leave_out},
      NeutralField{"stream_reasoning", both, Neutral::listed, "[true]", text_has_thoughts,
                   choose_thinking},
      NeutralField{"reasoning_format", both, Neutral::listed, R"(["none"])", text_has_thoughts,
                   leave_out},
      NeutralField{"reasoning", both, Neutral::empty, "", "the model has no levels of effort",
                   choose_thinking},
      NeutralField{"reasoning_budget", both, Neutral::listed, "[-1]",
                   "thoughts have no limit of their own", choose_thinking},
      NeutralField{"thinking_budget_tokens", both, Neutral::listed, "[-1]",
                   "thoughts have no limit of their own", choose_thinking},
      NeutralField{"thinking_token_budget", both, Neutral::none, "",
                   "thoughts have no limit of their own", choose_thinking},
      NeutralField{"thinking_forced_open", both, Neutral::listed, "[false]",
                   "the model begins its thoughts itself", choose_thinking},
      NeutralField{"verbosity", chat, Neutral::listed, R"(["medium"])",
                   "the model has no levels of verbosity",
                   "leave it out, and ask for the length in a message"},
      NeutralField{"echo", chat, Neutral::listed, "[false]", "a chat is not echoed",
                   "leave it out; POST /v1/completions echoes its prompt"},
      NeutralField{"suffix", completion, Neutral::listed, R"([""])",
                   "the model continues a text and fills no gap", "leave it out"},
      // The end of the answer.
      NeutralField{"stop_token_ids", all, Neutral::empty_list, "", whole_records,
                   "leave it out, or give texts as \"stop\""},
      NeutralField{"include_stop_str_in_output", all, Neutral::listed, "[false]",
                   "an answer is cut before the text that stops it", leave_out},
      NeutralField{"no_stop_trim", both, Neutral::listed, "[false]",
                   "an answer is cut before the text that stops it", leave_out},
      NeutralField{"stop_regex", both, Neutral::empty_list, "",
                   "an answer is stopped by texts and not by patterns",
                   "leave it out, or give texts as \"stop\""},
      NeutralField{"n_indent", both, Neutral::listed, "[0]", whole_records, leave_out},
      NeutralField{"t_max_predict_ms", both, Neutral::listed, "[-1, 0]",
                   "no clock ends an answer, because it would depend on the machine",
                   give_max_tokens},
      NeutralField{"n_predict", both, Neutral::none, "", other_name, give_max_tokens},
      NeutralField{"max_new_tokens", both, Neutral::none, "", other_name, give_max_tokens},
      NeutralField{"max_output_tokens", both, Neutral::none, "", other_name, give_max_tokens},
      NeutralField{"max_completion_tokens", completion, Neutral::none, "", "is a field of chats",
                   give_max_tokens},
      NeutralField{"horizon", both | tempera, Neutral::none, "",
                   "is the command's name for the number of tokens",
                   "leave it out, and give \"max_tokens\" beside \"tempera\""},
      NeutralField{"samples", both, Neutral::none, "",
                   "is the command's name for the number of answers",
                   "leave it out, and give \"n\" beside \"tempera\""},
      // Prompts.
      NeutralField{"messages", completion, Neutral::none, "",
                   "is a field of POST /v1/chat/completions, and a completion continues a text",
                   "leave it out and give \"prompt\", or POST it to /v1/chat/completions"},
      NeutralField{"prompt", chat, Neutral::none, "",
                   "is a field of POST /v1/completions, and a chat has messages",
                   "leave it out and give \"messages\", or POST it to /v1/completions"},
      NeutralField{"input", both, Neutral::none, "", "is a field of /v1/responses",
                   "leave it out and give \"messages\", or POST it to /v1/responses"},
      NeutralField{"instructions", both, Neutral::none, "", "is a field of /v1/responses",
                   "leave it out, and give a message of the role \"system\""},
      NeutralField{"input_ids", both, Neutral::none, "", other_name,
                   "leave it out, and give the tokens as \"prompt\" to POST /v1/completions"},
      NeutralField{"prompt_embeds", both, Neutral::none, "", text_only, leave_out},
      NeutralField{"image_data", both, Neutral::empty_list, "", text_only, leave_out},
      NeutralField{"images_config", both, Neutral::empty, "", text_only, leave_out},
      NeutralField{"max_dynamic_patch", both, Neutral::none, "", text_only, leave_out},
      NeutralField{"min_dynamic_patch", both, Neutral::none, "", text_only, leave_out},
      NeutralField{"use_audio_in_video", both, Neutral::listed, "[false]", text_only, leave_out},
      NeutralField{"mm_processor_kwargs", both | tokenize_chat, Neutral::empty, "", text_only,
                   leave_out},
      NeutralField{"media_io_kwargs", both, Neutral::empty, "", text_only, leave_out},
      NeutralField{"documents", both, Neutral::empty_list, "",
                   "a conversation has no documents beside its messages",
                   "leave it out, and put the documents into a message"},
      NeutralField{"chat_template", all | tokenize_chat, Neutral::none, "",
                   "conversations have the model's own template",
                   "leave it out; POST /v1/completions continues any text"},
      NeutralField{"add_special_tokens", chat | tokenize_chat, Neutral::listed, "[false]",
                   "the template has all special tokens of a conversation", leave_out},
      NeutralField{"add_special_tokens", completion, Neutral::listed, "[true]",
                   "a text begins as the model's tokenizer says",
                   "leave it out, or give the prompt as tokens"},
      NeutralField{"task", chat, Neutral::none, "", "the model's template has no tasks",
                   "leave it out, and say it in a message"},
      NeutralField{"n_keep", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"n_discard", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"add_generation_prompt", chat | tokenize_chat, Neutral::listed, "[true]",
                   "a conversation ends with the user's turn, and the answer follows it",
                   "leave it out; POST /v1/completions continues any text"},
      NeutralField{"continue_final_message", chat | tokenize_chat, Neutral::listed, "[false]",
                   "a conversation ends with the user's turn, and the answer follows it",
                   "leave it out; POST /v1/completions continues any text"},
      NeutralField{"truncate_prompt_tokens", both, Neutral::none, "", "no prompt is cut",
                   "leave it out, and shorten the prompt"},
      NeutralField{
          "prompt_logprobs", both, Neutral::none, "",
          "a prompt's log-probabilities come with its echo",
          "leave it out, and give \"echo\": true and \"logprobs\" to POST /v1/completions"},
      // Spellings of the answer.
      NeutralField{"skip_special_tokens", all, Neutral::listed, "[true]",
                   "an answer never shows the token that ends it",
                   "leave it out; \"logprobs\" shows all tokens"},
      NeutralField{"spaces_between_special_tokens", both, Neutral::any_flag, "", not_flag,
                   give_one},
      NeutralField{"return_token_ids", both, Neutral::listed, "[false]", no_numbers, post_text},
      NeutralField{"return_tokens_as_token_ids", both, Neutral::listed, "[false]", no_numbers,
                   post_text},
      NeutralField{"return_tokens", both, Neutral::listed, "[false]", no_numbers, post_text},
      NeutralField{"return_prompt_token_ids", both, Neutral::listed, "[false]", no_numbers,
                   post_text},
      NeutralField{"detokenize", both, Neutral::listed, "[true]", "answers are texts", leave_out},
      NeutralField{"return_hidden_states", both, Neutral::listed, "[false]", no_insides, leave_out},
      NeutralField{"return_routed_experts", both, Neutral::listed, "[false]", no_insides,
                   leave_out},
      NeutralField{"routed_experts_start_len", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"return_cached_tokens_details", both, Neutral::listed, "[false]",
                   "answers do not tell what was cached", leave_out},
      NeutralField{"return_meta_info", both, Neutral::listed, "[false]",
                   "answers have their figures in \"tempera\"", leave_out},
      NeutralField{"timings_per_token", both, Neutral::listed, "[false]",
                   "answers do not depend on the machine's speed, and do not tell it",
                   "leave it out; GET /metrics has the seconds of the passes"},
      NeutralField{"return_progress", both, Neutral::listed, "[false]",
                   "the progress of a prompt is not told", leave_out},
      NeutralField{"verbose", both, Neutral::listed, "[false]",
                   "answers have their figures in \"tempera\"", leave_out},
      NeutralField{"response_fields", both, Neutral::empty_list, "", "answers are whole",
                   leave_out},
      NeutralField{"n_probs", both, Neutral::listed, "[0]", other_name,
                   "leave it out, and give \"logprobs\""},
      NeutralField{"post_sampling_probs", both, Neutral::listed, "[false]",
                   "log-probabilities are those of the model",
                   "leave it out, and give \"logprobs\""},
      NeutralField{"top_logprobs", completion, Neutral::listed, "[0]", "is a field of chats",
                   "leave it out, and give the number as \"logprobs\""},
      // What the provider of a service keeps, counts or caches. It decides no answer.
      NeutralField{"service_tier", chat | response, Neutral::listed,
                   R"(["auto", "default", "flex"])", "the server has one tier", leave_out},
      NeutralField{"user", all, Neutral::any_text, "", not_text, give_one},
      NeutralField{"safety_identifier", all, Neutral::any_text, "", not_text, give_one},
      NeutralField{"prompt_cache_key", all, Neutral::any_text, "", not_text, give_one},
      NeutralField{"prompt_cache_retention", all, Neutral::any_text, "", not_text, give_one},
      NeutralField{"prompt_cache_options", all, Neutral::any_object, "", not_object, give_one},
      NeutralField{"cache_salt", all, Neutral::any_text, "", not_text, give_one},
      NeutralField{"request_id", all, Neutral::any_text, "", not_text, give_one},
      NeutralField{"rid", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"extra_key", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"session_id", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"session_params", both, Neutral::empty, "",
                   "no request resumes where another has ended",
                   "leave it out, and give the whole prompt"},
      NeutralField{"custom_labels", both, Neutral::any_object, "", not_object, give_one},
      NeutralField{"cache_prompt", both, Neutral::any_flag, "", not_flag, give_one},
      NeutralField{"n_cache_reuse", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"id_slot", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"slot_id", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"speculative.n_max", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"speculative.n_min", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"speculative.p_min", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"sse_ping_interval", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"lora", both, Neutral::empty_list, "", one_model, leave_out},
      NeutralField{"lora_path", both, Neutral::none, "", one_model, leave_out},
      NeutralField{"ngram_corpus_id", both, Neutral::none, "", one_process, leave_out},
      NeutralField{"kv_transfer_params", both, Neutral::empty, "", one_process, leave_out},
      NeutralField{"bootstrap_host", both, Neutral::none, "", one_process, leave_out},
      NeutralField{"bootstrap_port", both, Neutral::none, "", one_process, leave_out},
      NeutralField{"bootstrap_room", both, Neutral::none, "", one_process, leave_out},
      NeutralField{"data_parallel_rank", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"routed_dp_rank", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"disagg_prefill_dp_rank", both, Neutral::any_number, "", not_number, give_one},
      NeutralField{"priority", all, Neutral::listed, "[0]",
                   "requests are served in the order in which they come", leave_out},
      NeutralField{"prediction", chat, Neutral::any_object, "", not_object, give_one},
      NeutralField{"metadata", all, Neutral::any_object, "", not_object, give_one},
      NeutralField{"store", chat, Neutral::any_flag, "", not_flag, give_one},
      // Streams.
      NeutralField{"include_obfuscation", stream_options, Neutral::listed, "[false]",
                   "chunks are not padded, so their sizes show the lengths of their texts",
                   "leave it out"},
      NeutralField{"continuous_usage_stats", stream_options, Neutral::listed, "[false]",
                   "the usage comes once, in the last chunk", "leave it out"},
      // Messages: what earlier answers and clients have beside the text.
      NeutralField{"name", message, Neutral::any_text, "", not_text, give_one},
      NeutralField{"refusal", message, Neutral::listed, R"([""])", "this server never refuses so",
                   "leave it out"},
      NeutralField{"annotations", message, Neutral::empty_list, "",
                   "annotations are not part of a conversation", leave_out},
      NeutralField{"audio", message, Neutral::none, "", text_only, leave_out},
      NeutralField{"tool_calls", message, Neutral::empty_list, "", no_tools,
                   "leave it out, and write the calls as text"},
      NeutralField{"function_call", message, Neutral::none, "", no_tools,
                   "leave it out, and write the calls as text"},
      NeutralField{"tool_call_id", message, Neutral::none, "", no_tools,
                   "leave it out, and write the result as a user's message"},
      NeutralField{"reasoning", message, Neutral::listed, R"([""])", thoughts, leave_out},
      NeutralField{"reasoning_content", message, Neutral::listed, R"([""])", thoughts, leave_out},
      NeutralField{"tools", message, Neutral::empty_list, "", no_tools, describe_tools},
      NeutralField{"prefix", message, Neutral::listed, "[false]",
                   "a conversation ends with the user's turn, and the answer follows it",
                   "leave it out; POST /v1/completions continues any text"},
      NeutralField{"cache_control", message | part, Neutral::any_object, "", not_object, give_one},
      NeutralField{"annotations", part, Neutral::empty_list, "",
                   "annotations are not part of a conversation", leave_out},
      NeutralField{"logprobs", part, Neutral::empty_list, "",
                   "log-probabilities are not part of a conversation", leave_out},
      // These belong beside "tempera".
      NeutralField{"model", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"prompt", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"messages", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"max_tokens", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"max_completion_tokens", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"n", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"samples", tempera, Neutral::none, "",
                   "is the command's name for the number of answers",
                   "leave it out, and give \"n\" beside \"tempera\""},
      NeutralField{"stop", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"temperature", tempera, Neutral::none, "", in_body,
                   "leave it out, and give powers: the power 1/t does what the temperature t does"},
      NeutralField{"stream", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"stream_options", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"logprobs", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"top_logprobs", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"echo", tempera, Neutral::none, "", in_body, beside},
      NeutralField{"chat_template_kwargs", tempera, Neutral::none, "", in_body, beside},
      // Tokens of texts.
      NeutralField{"messages", tokenize_text, Neutral::none, "", "a text has no messages beside it",
                   "give \"prompt\" or \"messages\""},
      NeutralField{"prompt", tokenize_chat, Neutral::none, "",
                   "a conversation has no text beside it", "give \"prompt\" or \"messages\""},
      NeutralField{"chat_template_kwargs", tokenize_text, Neutral::empty, "",
                   "a text is read without a template",
                   "leave it out, or give \"messages\" in place of \"prompt\""},
      NeutralField{"content", tokenize_text, Neutral::none, "", other_name,
                   "leave it out, and give \"prompt\""},
      NeutralField{"text", tokenize_text, Neutral::none, "", other_name,
                   "leave it out, and give \"prompt\""},
      NeutralField{"add_special", tokenize_text, Neutral::none, "", other_name,
                   "leave it out, and give \"add_special_tokens\""},
      NeutralField{"parse_special", tokenize, Neutral::listed, "[true]",
                   "the names of special tokens in a text are those tokens", leave_out},
      NeutralField{"with_pieces", tokenize, Neutral::listed, "[false]", other_name,
                   "leave it out, and give \"return_token_strs\""},
      NeutralField{"skip_special_tokens", detokenize, Neutral::listed, "[false]",
                   "the text shows every token", "leave it out, and give the other tokens alone"},
      NeutralField{"spaces_between_special_tokens", detokenize, Neutral::any_flag, "", not_flag,
                   give_one},
      // Responses.
      NeutralField{"previous_response_id", response, Neutral::none, "", no_memory, give_input},
      NeutralField{"conversation", response, Neutral::none, "", no_memory, give_input},
      NeutralField{"store", response, Neutral::listed, "[false]", no_memory,
                   "leave it out, or give false"},
      NeutralField{"background", response, Neutral::listed, "[false]",
                   "a response is drawn while its client waits, and stops when it leaves",
                   "leave it out; POST /v1/batches draws chats without a client that waits"},
      NeutralField{"prompt", response, Neutral::none, "", "this server keeps no templates",
                   "leave it out, and give the conversation as \"input\""},
      NeutralField{"messages", response, Neutral::none, "",
                   "is a field of POST /v1/chat/completions, and a response has an input",
                   "leave it out and give \"input\", or POST it to /v1/chat/completions"},
      NeutralField{"reasoning", response, Neutral::listed,
                   R"([{}, {"effort": null}, {"effort": "medium"},)"
                   R"( {"effort": null, "summary": null}, {"effort": "medium", "summary": null}])",
                   "the model has no levels of effort", choose_thinking},
      NeutralField{"text", response, Neutral::listed,
                   R"([{}, {"format": {"type": "text"}}, {"verbosity": "medium"},)"
                   R"( {"format": {"type": "text"}, "verbosity": "medium"}])",
                   no_structure, describe_form},
      NeutralField{"truncation", response, Neutral::listed, R"(["disabled"])",
                   "no conversation is cut", "leave it out, and shorten the conversation"},
      NeutralField{"context_management", response, Neutral::empty_list, "",
                   "no conversation is cut", "leave it out, and shorten the conversation"},
      NeutralField{"max_tool_calls", response, Neutral::any_number, "", not_number, give_one},
      NeutralField{"n", response, Neutral::listed, "[1]", "a response has one answer",
                   "leave it out, or POST the conversation to /v1/chat/completions"},
      NeutralField{"max_tokens", response, Neutral::none, "", other_name, give_max_output_tokens},
      NeutralField{"max_completion_tokens", response, Neutral::none, "", other_name,
                   give_max_output_tokens},
      NeutralField{"access_programs", response, Neutral::empty, "", "the server has no programs",
                   leave_out},
      NeutralField{"background_options", response, Neutral::empty, "",
                   "a response is drawn while its client waits", leave_out},
      NeutralField{"image", response, Neutral::none, "", text_only, leave_out},
      NeutralField{"id", input_item, Neutral::any_text, "", not_text, give_one},
      NeutralField{"status", input_item, Neutral::any_text, "", not_text, give_one},
      NeutralField{"phase", input_item, Neutral::any_text, "", not_text, give_one},
      // Batches.
      NeutralField{"output_expires_after", batch, Neutral::none, "",
                   "files of this server do not expire", "leave it out, and DELETE the file"},
      NeutralField{"expires_after", static_cast<unsigned>(Holder::file), Neutral::none, "",
                   "files of this server do not expire", "leave it out, and DELETE the file"},
  };
  return fields;
}

std::vector<std::string_view> tempera_keys() {
  std::vector<std::string_view> keys = gpu::body_keys();
  keys.insert(keys.end(),
              {"seed", "thinking", "round_events", "audit", "estimate", "log_z", "digest"});
  return keys;
}

void check_fields(const JsonObject& object, Holder holder, std::span<const std::string_view> known,
                  const std::string& place) {
  for (const std::string& key : object.keys()) {
    if (!object.has(key) || std::find(known.begin(), known.end(), key) != known.end()) continue;
    const NeutralField* field = find_field(key, holder);
    if (field == nullptr) {
      refuse_misplaced(place, key, holder);
      refuse_unknown(place, key, {known.begin(), known.end()});
    }
    if (!is_neutral(*field, object))
      throw BadInput(place + key, std::string(field->why), std::string(field->instead));
  }
}

void check_fields(const JsonObject& object, Holder holder,
                  std::initializer_list<std::string_view> known,
                  std::initializer_list<std::string_view> further, const std::string& place) {
  std::vector<std::string_view> all(known);
  all.insert(all.end(), further.begin(), further.end());
  check_fields(object, holder, all, place);
}

void check_part(const std::string& name, Holder holder,
                std::initializer_list<std::string_view> known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const NeutralField* field = find_field(name.substr(0, name.find('[')), holder);
  if (field == nullptr) refuse_unknown("", name, known);
  throw BadInput(name, std::string(field->why), std::string(field->instead));
}

ordered_json schema_of(const NeutralField& field) {
  const ordered_json null{{"type", "null"}};
  ordered_json schema;
  const auto with_null = [&](ordered_json values) {
    schema["anyOf"] = ordered_json::array({std::move(values), null});
  };
  switch (field.neutral) {
    case Neutral::none:
      schema = null;
      break;
    case Neutral::listed:
      with_null({{"enum", ordered_json::parse(field.values)}});
      break;
    case Neutral::any_text:
      with_null({{"type", "string"}});
      break;
    case Neutral::any_flag:
      with_null({{"type", "boolean"}});
      break;
    case Neutral::any_object:
      with_null({{"type", "object"}});
      break;
    case Neutral::any_number:
      with_null({{"type", "number"}});
      break;
    case Neutral::any_list:
      with_null({{"type", "array"}});
      break;
    case Neutral::empty_list:
      with_null({{"type", "array"}, {"maxItems", 0}});
      break;
    case Neutral::empty:
      with_null({{"enum", {ordered_json::object(), ordered_json::array()}}});
      break;
    case Neutral::as_n:
      with_null({{"type", "integer"}, {"minimum", 1}});
      break;
    case Neutral::zeros:
      with_null({{"type", "object"}, {"additionalProperties", {{"const", 0}}}});
      break;
  }
  constexpr std::array whole_types{Neutral::any_flag, Neutral::any_text, Neutral::any_object,
                                   Neutral::any_number, Neutral::any_list};
  const bool is_refused =
      std::find(whole_types.begin(), whole_types.end(), field.neutral) == whole_types.end();
  const std::string taken =
      field.neutral == Neutral::as_n ? "Changes nothing if it is n." : "Changes nothing.";
  schema["description"] =
      is_refused ? taken + " Other values are refused: " + std::string(field.why) + "." : taken;
  return schema;
}

}  // namespace tempera::serve
