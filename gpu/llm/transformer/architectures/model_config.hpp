#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
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

/// The value of a key that a config.json lacks: the default of the class of transformers that reads
/// it. A key whose value is null is not lacking.
struct DefaultValue {
  const char* key;
  const char* json;
};
/// Returns a copy of the configuration with the defaults of the keys that it lacks.
nlohmann::json with_defaults(const JsonObject& config, std::span<const DefaultValue> defaults);

/// Weights are F32, BF16 or F16.
void require_unquantised(const JsonObject& config);
/// Refuses a sliding window shorter than `longest` tokens; a window of 0 is none. `is_switched`:
/// whether the window is used only if `use_sliding_window` is true, and only in the layers from
/// `max_window_layers` on, as in Qwen2 and Qwen3.
void require_full_attention(const JsonObject& config, std::size_t longest, bool is_switched);

/// The tokens of a sliding window, at least `least`; 0 where none is given.
std::size_t read_window(const JsonObject& config, std::size_t least = 0);
/// Which of `layers` layers slide, by `layer_types`; by `otherwise` if that is missing.
/// @throw BadInput unless it has the type of every layer, one of the two that attend
std::vector<bool> read_sliding_layers(const JsonObject& config, std::size_t layers,
                                      std::vector<bool> otherwise);

/// The base of rotary positions where none is given.
inline constexpr double default_rope_theta = 10000.0;

/// The rotary positions, in both spellings: `rope_parameters` with its `rope_theta`, or the older
/// `rope_theta` and `rope_scaling`. Where both are given, they must agree.
struct RopeParameters {
  double theta;
  std::string type;                   // "default" if they are not scaled, or one that was allowed
  std::optional<JsonObject> scaling;  // if it is not "default"; refers to the configuration
  double rotation = 1.0;              // the share of a head that rotates: partial_rotary_factor
};
/// Refuses a scaling whose type is none of `scalings`, unless it scales by 1. `usual_rotation`:
/// the share of a head that rotates where none is given; usual_theta: the base where none is.
RopeParameters read_partial_rope(const JsonObject& config,
                                 std::initializer_list<std::string_view> scalings,
                                 double usual_rotation, double usual_theta = default_rope_theta);
/// The same, and refuses heads that are rotated in part.
RopeParameters read_rope(const JsonObject& config, std::initializer_list<std::string_view> scalings,
                         double usual_theta = default_rope_theta);

/// The part of a configuration that tells the rotary positions of one type of layers: the member
/// `type` of `rope_parameters` if these are parted by types, and otherwise what is said of all.
nlohmann::json rope_of_layers(const JsonObject& config, const std::string& type);

/// The base of the rotary positions; refuses scaled ones.
double read_rope_theta(const JsonObject& config);

/// The tokens that a file names as ends of a text: `eos_token_id`, one or a list, ascending,
/// without repetition; empty if the key is missing.
std::vector<std::uint32_t> read_named_ends(const JsonObject& config, std::size_t vocabulary_size);

}  // namespace tempera::gpu
