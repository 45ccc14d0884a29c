#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/cache_admission.hpp"
#include "gpu/session/sample_request.hpp"
#include "gpu/session/sampler_settings.hpp"

namespace tempera::gpu {

/// What a user may say about the sampler, more than the public API takes. The defaults are those of
/// gpu/session/defaults.hpp.
struct SamplerWish : SamplerOptions {
  std::optional<RestartRange> restart_range = {};  ///< horizon
  std::optional<std::size_t> samples = {};         ///< defaults::samples
  std::optional<std::uint64_t> seed = {};          ///< defaults::seed
  std::vector<std::string> stop = {};              ///< none
  ChainOptions options = {};                       ///< what is at its default is not asked for
};

/// A prompt as a user gives it: plain text, tokens, or a conversation of any number of turns, whose
/// first message may be the system's.
using PromptWish = std::variant<std::string, std::vector<TokenId>, std::vector<ChatMessage>>;

/// All that a user may say about one request.
struct SampleWish {
  PromptWish prompt = {};
  ChatArguments arguments = {};  ///< of a conversation's chat template
  /// What tells the prompt's draws from those of others (prompt_number); none: the number 0.
  std::optional<std::string> id = {};
  SamplerWish sampler = {};
};

/// How error messages name what a user said.
enum class Spelling : std::uint8_t {
  keys,   ///< "local_moves"
  flags,  ///< "--local-moves"
};
/// "local_moves" as the spelling has it.
std::string spelt(std::string_view key, Spelling spelling);

/// Fills in what was left open and refuses what cannot be, before any model is opened.
/// @throw BadInput naming what the user said: for a value out of its range, one that has no effect
/// on the sampler, an unknown sampler or preset (with the nearest name), and as
/// SamplerSettings::plan
SamplerSettings resolve_sampler(const SamplerWish& wish, Spelling spelling = Spelling::keys);

/// Refuses what a user said of a sampler that does not take it.
/// @throw BadInput for the first such value
void refuse_without_effect(const SamplerWish& wish, const NamedSampler& sampler, Spelling spelling);

/// Refuses to prefetch more than most_prefetch moves, or if no move can begin ahead of another.
/// @throw BadInput
void check_prefetch(const SamplerSettings& settings, Spelling spelling = Spelling::keys);

/// A prompt's tokens, and the horizon that fits after it if that is less than T.
struct ResolvedPrompt {
  std::vector<TokenId> tokens;
  std::optional<std::size_t> horizon;
};

/// The horizon that is asked for.
struct AskedHorizon {
  std::size_t tokens = 0;  ///< T
  bool is_given = false;   ///< whether the user gave it: then it fits, or is refused
  std::size_t margin = 0;  ///< positions to leave free if it was not given
};
/// The horizon that a wish asks for; a preset leaves preset_margin positions free.
AskedHorizon asked_horizon(const SamplerWish& wish, const SamplerSettings& settings);

/// Encodes a prompt and checks that the model can answer it. If no horizon was given, and less than
/// T fits after the prompt, it has a horizon of its own.
/// @throw BadInput naming `where` for a prompt that the model cannot take, or whose answer it
/// cannot hold
ResolvedPrompt resolve_prompt(const OpenedModel& model, const PromptWish& prompt,
                              const ChatArguments& arguments, const AskedHorizon& horizon,
                              const std::string& where);

/// The bytes that a user gave for caches, or, if these are 0, half of the memory that is free on
/// the current device now, the weights being there, and that this process may still take of it; no
/// limit if that cannot be told. It decides which samples are under way at once, and no bit of any.
CacheBudget resolve_cache_memory(std::size_t given);

/// Where a model's packed weights are kept: in the folder that a user names; in memory for "none".
/// If nothing is said they are in memory, but for a shard, whose machine may draw others: weights
/// of at least 64 MiB are then mapped from packed_weights_folder(). It decides no bit.
PackedWeights resolve_packed_weights(const std::string& asked, bool is_shard);

struct SamplingSettings;

/// A prompt of a run as a user gives it: with an id, if there are several, and where it comes from.
struct RunPrompt {
  std::optional<std::string> id;
  PromptWish prompt;
  std::string where;
};

/// Takes prompts into the settings of a run, with all that config.json says of the model that is
/// open: its place, its arithmetic, its rotary factors, its terminal tokens.
/// @pre settings.model names the model
/// @throw BadInput as resolve_prompt and SamplingSettings::plan, and if two ids share a number
void resolve_prompts(SamplingSettings& settings, const OpenedModel& model,
                     const std::vector<RunPrompt>& prompts, const ChatArguments& arguments,
                     const AskedHorizon& horizon);

/// The whole request that a wish means.
/// @throw BadInput as resolve_sampler and resolve_prompt
SampleRequest resolve(const OpenedModel& model, const SampleWish& wish,
                      Spelling spelling = Spelling::keys, const std::string& where = "prompt");

}  // namespace tempera::gpu
