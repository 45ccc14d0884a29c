#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/sample_request.hpp"
#include "serve/protocol/generation_request.hpp"
#include "settings/fields.hpp"

namespace tempera::serve {

/// What every answer says of the server.
struct Identity {
  std::string model;       ///< the name under which the server offers its model
  std::string arithmetic;  ///< of its logits
  std::string
      fingerprint;  ///< model, arithmetic and version: what decides an answer beside the request
  /// Places of this machine, which no answer may show, and what answers call them.
  std::vector<std::pair<std::string, std::string>> hidden_paths = {};
  std::optional<std::string> digest = std::nullopt;  ///< gpu::model_digest

  /// A message in which every place has its name.
  std::string without_paths(std::string message) const;
};

/// A body that names another model than the server's.
class OtherModel : public BadInput {
 public:
  using BadInput::BadInput;
};

/// @throw OtherModel if a body names one; an empty name is none
void require_model(const std::string& named, const Identity& identity);

/// A body with all that the model had to be asked for: its prompts as tokens, its samplers whole.
struct ResolvedGeneration {
  GenerationRequest asked;
  std::vector<gpu::SamplerSettings> settings;  ///< one for each prompt
  std::vector<gpu::SampleRequest> requests;    ///< one for each prompt

  std::size_t choices() const { return asked.wishes.size() * asked.choices_of_a_prompt; }
};

/// The most records, one for each power or particle of each choice, that a request may have.
inline constexpr std::size_t most_records = std::size_t{1} << 16;

/// Reads a body and resolves what it asks for.
/// @param seed taken if the body has none; without it the machine's entropy gives one
/// @throw BadInput as read_generation_request and gpu::resolve, OtherModel; and for a request that
/// costs too much as a whole
ResolvedGeneration resolve_generation(const gpu::OpenedModel& model, const Identity& identity,
                                      std::string_view body, BodyForm form,
                                      const GenerationLimits& limits,
                                      std::optional<std::uint64_t> seed = std::nullopt);

}  // namespace tempera::serve
