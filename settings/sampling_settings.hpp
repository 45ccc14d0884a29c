#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gpu/core/model/arithmetic.hpp"
#include "gpu/llm/models/opened_model.hpp"
#include "gpu/llm/text/chat_message.hpp"
#include "gpu/llm/transformer/architectures/rope_factors.hpp"
#include "gpu/session/draw_answers.hpp"
#include "settings/fields.hpp"

namespace tempera::gpu {

/// A prompt of `tempera sample`: the one that the user gave, which has no id, or one of a file.
struct SamplePrompt {
  std::optional<std::string> id;
  std::vector<TokenId> tokens;
  /// T of its own, if less fits after it than the settings' T.
  std::optional<std::size_t> horizon = std::nullopt;
};

/// Everything that decides the answers of `tempera sample`, resolved: what config.json holds.
struct SamplingSettings : SamplerSettings {
  /// How the prompts that were conversations became tokens, which a resumed run has already.
  struct Chat {
    std::string digest;      ///< SHA-256 of the chat template
    bool is_tested = false;  ///< whether it is one that tempera is tested with
    ChatArguments arguments;
  };

  std::string model;       ///< as the user named it
  std::string model_path;  ///< the same place from any current directory
  /// The commit and the model_digest of a model that the user named as on the Hugging Face Hub.
  struct Snapshot {
    std::string commit;
    std::string digest;
  };
  std::optional<Snapshot> snapshot;
  /// None for a model whose logits are given, and in folders that older versions made: these
  /// computed in float32, and go on in it.
  std::optional<Arithmetic> arithmetic;
  /// The program that computes the logits, if they are not tempera's: only it can resume the run.
  std::optional<ForeignArithmetic> foreign;
  /// The set of rotary factors that the run computes with, if the model has two.
  std::optional<RopeFactors> rope_factors;
  std::optional<Chat> chat;  ///< if a prompt is a conversation
  /// The part of the record that an audit compares first, if the run is auditable.
  struct Audit {
    static constexpr std::uint64_t format_now = 1;
    std::uint64_t format = format_now;  ///< of what events hold for it
    std::optional<std::string> model;   ///< model_digest, or what a program says of its own model
  };
  std::optional<Audit> audit;
  std::vector<SamplePrompt> prompts;
  std::vector<TokenId> terminal;

  /// "prompt" holds the tokens of the one prompt without an id, "prompt_horizon" its own T;
  /// "prompts" lists those with an id.
  nlohmann::ordered_json to_json() const;
  /// @throw BadInput naming `file` and the key for what config.json should not hold
  static SamplingSettings from_json(const nlohmann::json& json, const std::string& file);
  /// @throw BadInput as SamplerSettings::plan, and for a horizon of a prompt that makes no run
  Plan plan() const;
  /// What draw_answers is asked for.
  /// @throw BadInput as plan, and if two ids share a number
  DrawSettings draw_settings() const;
  std::vector<Prompt> numbered_prompts() const;
};

}  // namespace tempera::gpu
