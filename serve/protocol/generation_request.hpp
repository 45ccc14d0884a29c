#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_document.hpp"
#include "serve/protocol/body_form.hpp"
#include "serve/protocol/served_samplers.hpp"
#include "settings/resolve.hpp"

namespace tempera::serve {

/// The most that a client may ask for, and what it gets where it asks for nothing.
struct GenerationLimits {
  std::size_t choices = 128;    ///< prompts times n of one request
  std::size_t prompts = 1024;   ///< prompts of one request
  std::size_t horizon = 32768;  ///< max_tokens
  /// max_tokens of a chat that gives none and is drawn token by token: it ends where the model ends
  /// it, or its context does.
  std::size_t open_horizon = 4096;
  std::size_t top_logprobs = 20;  ///< alternatives of each token
  std::size_t prompt_bytes = std::size_t{4} << 20;
  ServedSamplers samplers = {};
};

/// The parts of a request that its response repeats.
struct AskedResponse {
  std::optional<std::string> instructions;
  std::optional<std::size_t> max_output_tokens;
  double temperature = 1.0;
  double top_p = 1.0;
  std::string metadata = "{}";  ///< as JSON
};

/// The body of a request for text, read and checked; no model was asked.
struct GenerationRequest {
  BodyForm form = BodyForm::completion;
  AskedResponse response = {};          ///< of BodyForm::response
  std::string model;                    ///< as the client named it, without a sampler; may be empty
  std::vector<gpu::SampleWish> wishes;  ///< one for each prompt, in order
  std::size_t choices_of_a_prompt = 1;  ///< n
  /// Where the body says whether the model thinks.
  std::string thinking_field = "chat_template_kwargs.enable_thinking";
  std::uint64_t seed = 0;
  bool is_seed_given = false;
  bool logprobs = false;         ///< log p0 of each token of the answer
  std::size_t top_logprobs = 0;  ///< and of its likeliest alternatives
  bool echo = false;             ///< the prompt is part of the text and of the logprobs
  bool is_horizon_open = false;  ///< the horizon of the wishes is cut to the model's context
  bool generates = true;         ///< false for max_tokens = 0: the prompt is only scored
  bool stream = false;
  bool include_usage = false;  ///< a last chunk of a stream with the usage
  bool estimate = false;       ///< only what the answer would cost, by a pilot
  bool audit = false;          ///< what `tempera audit` reads is part of the answer
  bool log_z = false;          ///< log Z of each token of the answer
  bool digest = false;         ///< the digest of the model's files
  bool round_events = false;   ///< a chunk for each round of a sampler that has rounds
};

/// The "messages" of a body: roles with texts, or with parts that are texts.
/// @throw BadInput naming the part that is wrong
std::vector<gpu::ChatMessage> read_messages(const JsonObject& body);

/// The conversation of a response: its "instructions" as a system's message, and its "input", a
/// text or a list of messages.
/// @throw BadInput naming the part that is wrong
std::vector<gpu::ChatMessage> read_input(const JsonObject& body);

/// The "chat_template_kwargs" of a body, whose text this is.
/// @throw BadInput as gpu::ChatArguments::read
gpu::ChatArguments read_chat_arguments(const JsonObject& body, std::string_view body_text);

/// Reads the body of a request for text.
///
/// Without a "tempera" object the request is drawn by the sampler that its model names
/// ("smollm2:ppt"), or by the server's default. If there is neither it is tokenwise sampling at its
/// "temperature" (1 if there is none), as with every other server. temperature 0 is the power 2^20,
/// the largest that a ladder takes. The object's keys are those of SamplerWish.
/// @throw BadInput naming the field: for what is no JSON, unknown fields (with the nearest known
/// one), fields of the protocol that would change the law (logit_bias, tools),
/// and what is beyond `limits`
/// @param seed of a body that has none; without it the machine's entropy gives one
GenerationRequest read_generation_request(std::string_view body, BodyForm form,
                                          const GenerationLimits& limits,
                                          std::optional<std::uint64_t> seed = std::nullopt);

}  // namespace tempera::serve
