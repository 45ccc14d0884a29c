#include "serve/protocol/neutral_fields.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/nearest_name.hpp"

namespace tempera::serve {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

bool is_neutral(const NeutralField& field, const json& value) {
  switch (field.neutral) {
    case Neutral::none:
      return false;
    case Neutral::listed: {
      const json values = json::parse(field.values);
      return std::find(values.begin(), values.end(), value) != values.end();
    }
    case Neutral::any_text:
      return value.is_string();
    case Neutral::any_flag:
      return value.is_boolean();
    case Neutral::any_object:
      return value.is_object();
    case Neutral::empty_list:
      return value.is_array() && value.empty();
    case Neutral::zeros:
      return value.is_object() && std::all_of(value.begin(), value.end(),
                                              [](const json& bias) { return bias == json(0); });
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

std::span<const NeutralField> neutral_fields() {
  static constexpr auto completion = static_cast<unsigned>(Holder::completion);
  static constexpr auto chat = static_cast<unsigned>(Holder::chat);
  static constexpr auto stream_options = static_cast<unsigned>(Holder::stream_options);
  static constexpr auto message = static_cast<unsigned>(Holder::message);
  static constexpr auto batch = static_cast<unsigned>(Holder::batch);
  static constexpr unsigned both = completion | chat;

  static constexpr std::string_view leave_out = "leave it out";
  static constexpr std::string_view give_one = "give one or leave it out";
  static constexpr std::string_view not_text = "is not a string";
  static constexpr std::string_view not_object = "is not an object";
  static constexpr std::string_view not_flag = "is neither true nor false";

  static constexpr std::string_view cut =
      "cutting the distribution is not offered, because the sampler keeps the model's support";
  static constexpr std::string_view sharper =
      "leave it out, and give powers above 1 in \"tempera\" for likelier answers";

  static constexpr std::string_view penalty =
      "penalties are not offered, because they change the target";

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

  static constexpr std::string_view thoughts =
      "thoughts of earlier turns are not part of a conversation";

  static constexpr std::array fields{
      // Other distributions.
      NeutralField{"top_p", both, Neutral::listed, "[1]", cut, sharper},
      NeutralField{"top_k", both, Neutral::listed, "[-1, 0]", cut, sharper},
      NeutralField{"min_p", both, Neutral::listed, "[0]", cut, sharper},
      NeutralField{"typical_p", both, Neutral::listed, "[1]", cut, sharper},
      NeutralField{"frequency_penalty", both, Neutral::listed, "[0]", penalty, leave_out},
      NeutralField{"presence_penalty", both, Neutral::listed, "[0]", penalty, leave_out},
      NeutralField{"repetition_penalty", both, Neutral::listed, "[1]", penalty, leave_out},
      NeutralField{"length_penalty", both, Neutral::listed, "[1]", penalty, leave_out},
      NeutralField{"logit_bias", both, Neutral::zeros, "",
                   "a bias is not offered, because it changes the target", leave_out},
      NeutralField{"use_beam_search", both, Neutral::listed, "[false]",
                   "beam search is not offered, because it samples no law",
                   "leave it out; temperature 0 takes the likeliest token"},
      NeutralField{"best_of", chat, Neutral::listed, "[1]", "a chat has no best_of",
                   "ask for the sampler \"best-of-n\" in \"tempera\""},
      // Forms of the answer.
      NeutralField{"response_format", both, Neutral::listed, R"([{"type": "text"}])", no_structure,
                   describe_form},
      NeutralField{"structured_outputs", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_json", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_regex", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_choice", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"guided_grammar", both, Neutral::none, "", no_structure, describe_form},
      NeutralField{"tools", chat, Neutral::empty_list, "", no_tools, describe_tools},
      NeutralField{"functions", chat, Neutral::empty_list, "", no_tools, describe_tools},
      NeutralField{"tool_choice", chat, Neutral::listed, R"(["none", "auto"])", no_tools,
                   describe_tools},
      NeutralField{"function_call", chat, Neutral::listed, R"(["none", "auto"])", no_tools,
                   describe_tools},
      NeutralField{"parallel_tool_calls", chat, Neutral::any_flag, "", no_tools, describe_tools},
      NeutralField{"modalities", chat, Neutral::listed, R"([["text"]])", text_only,
                   "leave it out, or give [\"text\"]"},
      NeutralField{"audio", chat, Neutral::none, "", text_only, leave_out},
      NeutralField{"web_search_options", chat, Neutral::none, "",
                   "the server searches nothing: the answer depends on the request only",
                   "leave it out, and put what was found into a message"},
      NeutralField{"moderation", chat, Neutral::none, "", "the server moderates nothing",
                   leave_out},
      NeutralField{
          "reasoning_effort", chat, Neutral::listed, R"(["medium"])",
          "the model has no levels of effort",
          "leave it out; \"thinking\" in \"tempera\", true or false, says whether it thinks"},
      NeutralField{"verbosity", chat, Neutral::listed, R"(["medium"])",
                   "the model has no levels of verbosity",
                   "leave it out, and ask for the length in a message"},
      NeutralField{"echo", chat, Neutral::listed, "[false]", "a chat is not echoed",
                   "leave it out; POST /v1/completions echoes its prompt"},
      NeutralField{"suffix", completion, Neutral::listed, R"([""])",
                   "the model continues a text and fills no gap", "leave it out"},
      // The end of the answer.
      NeutralField{"ignore_eos", both, Neutral::listed, "[false]", whole_records, leave_out},
      NeutralField{"min_tokens", both, Neutral::listed, "[0]", whole_records, leave_out},
      NeutralField{"stop_token_ids", both, Neutral::empty_list, "", whole_records,
                   "leave it out, or give texts as \"stop\""},
      NeutralField{"include_stop_str_in_output", both, Neutral::listed, "[false]",
                   "an answer is cut before the text that stops it", leave_out},
      // Prompts.
      NeutralField{"add_generation_prompt", chat, Neutral::listed, "[true]",
                   "a conversation ends with the user's turn, and the answer follows it",
                   "leave it out; POST /v1/completions continues any text"},
      NeutralField{"continue_final_message", chat, Neutral::listed, "[false]",
                   "a conversation ends with the user's turn, and the answer follows it",
                   "leave it out; POST /v1/completions continues any text"},
      NeutralField{"truncate_prompt_tokens", both, Neutral::none, "", "no prompt is cut",
                   "leave it out, and shorten the prompt"},
      NeutralField{
          "prompt_logprobs", both, Neutral::none, "",
          "a prompt's log-probabilities come with its echo",
          "leave it out, and give \"echo\": true and \"logprobs\" to POST /v1/completions"},
      // Spellings of the answer.
      NeutralField{"skip_special_tokens", both, Neutral::listed, "[true]",
                   "an answer never shows the token that ends it",
                   "leave it out; \"logprobs\" shows all tokens"},
      NeutralField{"spaces_between_special_tokens", both, Neutral::any_flag, "", not_flag,
                   give_one},
      NeutralField{"return_token_ids", both, Neutral::listed, "[false]",
                   "answers have no token numbers", "leave it out, and POST the text to /tokenize"},
      NeutralField{"return_tokens_as_token_ids", both, Neutral::listed, "[false]",
                   "answers have no token numbers", "leave it out, and POST the text to /tokenize"},
      // What the provider of a service keeps, counts or caches. It decides no answer.
      NeutralField{"service_tier", chat, Neutral::listed, R"(["auto", "default", "flex"])",
                   "the server has one tier", leave_out},
      NeutralField{"user", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"safety_identifier", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"prompt_cache_key", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"prompt_cache_retention", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"prompt_cache_options", both, Neutral::any_object, "", not_object, give_one},
      NeutralField{"cache_salt", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"request_id", both, Neutral::any_text, "", not_text, give_one},
      NeutralField{"priority", both, Neutral::listed, "[0]",
                   "requests are served in the order in which they come", leave_out},
      NeutralField{"prediction", chat, Neutral::any_object, "", not_object, give_one},
      NeutralField{"metadata", both, Neutral::any_object, "", not_object, give_one},
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
      // Batches.
      NeutralField{"output_expires_after", batch, Neutral::none, "",
                   "files of this server do not expire", "leave it out, and DELETE the file"},
      NeutralField{"expires_after", static_cast<unsigned>(Holder::file), Neutral::none, "",
                   "files of this server do not expire", "leave it out, and DELETE the file"},
  };
  return fields;
}

void check_fields(const JsonObject& object, Holder holder,
                  std::initializer_list<std::string_view> known,
                  std::initializer_list<std::string_view> further, const std::string& place) {
  std::vector<std::string_view> all(known);
  all.insert(all.end(), further.begin(), further.end());
  for (const std::string& key : object.keys()) {
    if (std::find(all.begin(), all.end(), key) != all.end()) continue;
    const NeutralField* field = find_field(key, holder);
    if (field == nullptr) refuse_unknown(place, key, all);
    if (object.has(key) && !is_neutral(*field, object.at(key)))
      throw BadInput(place + key, std::string(field->why), std::string(field->instead));
  }
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
    case Neutral::empty_list:
      with_null({{"type", "array"}, {"maxItems", 0}});
      break;
    case Neutral::zeros:
      with_null({{"type", "object"}, {"additionalProperties", {{"const", 0}}}});
      break;
  }
  const bool is_refused = field.neutral != Neutral::any_flag &&
                          field.neutral != Neutral::any_text &&
                          field.neutral != Neutral::any_object;
  schema["description"] =
      is_refused ? "Changes nothing. Other values are refused: " + std::string(field.why) + "."
                 : "Changes nothing.";
  return schema;
}

}  // namespace tempera::serve
