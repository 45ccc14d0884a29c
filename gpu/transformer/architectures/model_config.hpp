#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_document.hpp"

// What the config.json of Hugging Face says in the same words whatever the architecture. All throw
// BadInput naming file, key and remedy.

namespace tempera::gpu {

/// The `model_type` of `folder`/config.json.
std::string read_model_type(const std::filesystem::path& folder);

/// The key is there and says `only`.
void require_text(const JsonObject& config, const std::string& key, const std::string& only);

/// The key is missing, null or false.
void require_false(const JsonObject& config, const std::string& key);

/// Refuses a key that none of the lists has: it may ask for a part that would be left out. `read`
/// are the keys that the caller reads. Known besides, whatever the architecture, are those that
/// change no logits (names and versions, numbers of tokens, defaults of training, generation and
/// output), and those that ask for no more than is computed here at the one value that they may
/// have. A key that is null says nothing.
void require_known_keys(const JsonObject& config, std::span<const std::string_view> read,
                        std::initializer_list<std::string_view> others = {});

/// Weights are F32, BF16 or F16, and every layer attends to the whole text.
void require_unquantised(const JsonObject& config);
void require_full_attention(const JsonObject& config);

/// The rotary positions, in both spellings: `rope_parameters` with its `rope_theta`, or the older
/// `rope_theta` and `rope_scaling`.
struct RopeParameters {
  double theta;
  std::string type;                   // "default", or one of those that were allowed
  std::optional<JsonObject> scaling;  // if it is not "default"; refers to the configuration
};
/// Refuses heads that are rotated in part, and a scaling whose type is none of `scalings`.
RopeParameters read_rope(const JsonObject& config,
                         std::initializer_list<std::string_view> scalings);

/// The base of the rotary positions; refuses scaled ones.
double read_rope_theta(const JsonObject& config);

/// The tokens that a file names as ends of a text: `eos_token_id`, one or a list, ascending,
/// without repetition; empty if the key is missing.
std::vector<std::uint32_t> read_named_ends(const JsonObject& config, std::size_t vocabulary_size);

}  // namespace tempera::gpu
