#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_document.hpp"
#include "gpu/llm/transformer/architectures/rope_factors.hpp"
#include "gpu/llm/transformer/kernels/variant_kernels.hpp"
#include "gpu/llm/transformer/weights/folder_quantisation.hpp"
#include "gpu/llm/transformer/weights/gguf.hpp"

namespace tempera::gpu {

/// The longest text that a file may speak of, in tokens.
inline constexpr std::uint64_t largest_position = std::uint64_t{1} << 24;
/// The most tokens that logits are computed of, and how many more a model may hold that stand for
/// images or for nothing.
inline constexpr std::uint64_t largest_vocabulary_size = std::uint64_t{1} << 18;
inline constexpr std::uint64_t most_tokens_of_images = 1024;
/// What it may say of layers, of heads of one kind, and of the elements of a head.
inline constexpr std::uint64_t most_layers = 1024;
inline constexpr std::uint64_t most_heads = 1024;
inline constexpr std::uint64_t largest_head = 1024;
/// The experts of a layer, and their sizes and those of all other rows.
inline constexpr std::uint64_t most_experts = 1024;
inline constexpr std::uint64_t largest_width = std::uint64_t{1} << 17;

/// How one layer attends, of a model whose layers differ in that.
struct LayerAttention {
  enum class Rotation : char {
    usual,  ///< by the model's rotary frequencies
    local,  ///< by those of local_rope_theta, which nothing scales
    none,   ///< queries and keys have no positions
  };
  std::size_t window = 0;  ///< positions up to its own that a token sees; 0: all of them
  Rotation rotation = Rotation::usual;
};

/// The experts of a model whose layers, or some of them, have these for a feed-forward.
struct ExpertsConfig {
  std::size_t experts = 0;       ///< of a layer
  std::size_t chosen = 0;        ///< those that a token goes through
  std::size_t inner = 0;         ///< the intermediate size of each
  bool renormalises = false;     ///< the weights of the chosen ones are divided by their sum
  std::size_t shared_inner = 0;  ///< that of an expert that all tokens go through; 0: none
  std::vector<bool> layers;      ///< true for each layer that has them; the others are dense
  /// The gate of every expert of gpt-oss, whose router and maps have biases; none: SwiGLU.
  std::optional<ClampedGate> clamped = std::nullopt;
};

/// The shape of a decoder of any of the architectures, named as in Hugging Face's config.json.
struct DecoderConfig {
  std::size_t vocab_size = 0;
  std::size_t hidden_size = 0;
  std::size_t intermediate_size = 0;
  std::size_t num_hidden_layers = 0;
  std::size_t num_attention_heads = 0;
  std::size_t num_key_value_heads = 0;
  std::size_t head_dim = 0;
  /// Elements of a head that rotate, the first ones; 0: all.
  std::size_t rotary_dim = 0;
  /// Rows of the stored embedding; logits are those of the first vocab_size. 0: of all.
  std::size_t stored_vocabulary = 0;
  /// The longest text, in tokens.
  std::size_t max_position_embeddings = 0;
  double rms_norm_eps = 1e-6;
  /// The rotary frequencies and the magnitude of their cosines and sines, as RotaryAngles has them.
  double rope_theta = 10000.0;
  std::vector<double> rope_factors;
  double rope_magnitude = 1.0;
  std::optional<RopeFactors> rope_choice;  ///< of a model that has two sets of factors
  /// For each layer; empty if every one sees the whole text and rotates alike.
  std::vector<LayerAttention> layer_attention;
  double local_rope_theta = 10000.0;
  double attention_scale = 0.0;  ///< of the scores; 0: 1 / sqrt(head_dim)
  double embedding_scale = 1.0;  ///< of the stream where the layers begin
  double residual_scale = 1.0;   ///< of what each block adds to the stream
  double logits_divisor = 1.0;
  /// True if the weights of norms are stored as their difference from 1.
  bool norms_are_differences = false;
  std::optional<ExpertsConfig> experts;
  bool tie_word_embeddings = false;
  /// The tokens that are named as ends of a text. Ascending, without repetition; may be empty.
  std::vector<std::uint32_t> eos_token_ids;
  /// How a folder's linear maps are stored, unless as they are used.
  std::optional<FolderQuantisation> quantisation;
  /// What a user has to know of how the model is computed, as one clause; may be empty.
  std::string remark;
};

/// The key of the activation in a config.json, and the only one that is computed.
struct NamedActivation {
  const char* key;
  const char* only;
};

/// What all architectures say alike in a config.json, which is everything but the rotary positions
/// beyond `rope_theta`; and the tokens of its `eos_token_id`. `others` are keys that the
/// architecture reads itself; any key beyond them that may change logits is refused
/// (require_known_keys). Checks sizes as below.
/// @throw BadInput naming file, key and remedy for what is missing or out of range, and for
/// another activation
DecoderConfig read_decoder_config(const JsonObject& json,
                                  std::initializer_list<std::string_view> others,
                                  const NamedActivation& activation = {"hidden_act", "silu"});

/// A key of a GGUF file's own architecture: its name, a dot and `name`.
std::string key_of(const GgufMetadata& metadata, std::string_view name);
/// The same of a GGUF file, under llama.cpp's names: `general.architecture` followed by a dot and
/// the key. `others` are keys that the architecture reads itself; any other key of this prefix is
/// refused, since it asks for something that would be left out, unless it asks for nothing (a
/// factor of 1, no experts, a window that no text outgrows); keys of experts are taken of those
/// whose name ends in "moe", which read them. An architecture that reads
/// attention.sliding_window, attention.scale or rope.scaling.factor itself is refused none of them
/// here. Vocabulary and tied head are those
/// of the tensors; tokens that end a text are those that tokenizer.ggml names for the end of a
/// text, a turn or a message.
/// @throw BadInput naming file, key and remedy
DecoderConfig read_decoder_config(const GgufFile& file,
                                  std::initializer_list<std::string_view> others);

/// Refuses a sliding window shorter than `longest` tokens; a window of 0 is none.
/// @throw BadInput naming file and key
void require_full_attention(const GgufMetadata& metadata, std::size_t longest);

/// Has the first 2^18 of the stored tokens as the vocabulary, and says so if there are more.
void leave_out_tokens_of_images(DecoderConfig& config, std::size_t stored);

/// Gives the layers that slide a window of so many tokens, unless no text outgrows it, and the
/// rotation `of_sliding`. sliding: for each layer.
void set_windows(DecoderConfig& config, const std::vector<bool>& sliding, std::size_t window,
                 LayerAttention::Rotation of_sliding = LayerAttention::Rotation::usual);

/// Which layers of a GGUF file slide: those that attention.sliding_window_pattern says, one truth
/// value for each or a period; where it is missing, all but every `period`-th.
/// @throw BadInput naming file and key
std::vector<bool> read_sliding_layers(const GgufMetadata& metadata, std::size_t layers,
                                      std::size_t period);
/// All layers but every `period`-th.
std::vector<bool> all_but_every(std::size_t period, std::size_t layers);

/// The factors of the rotary frequencies that a GGUF file holds as a tensor, [head_dim / 2]; none
/// if it has no such tensor.
/// @throw BadInput naming file and tensor for another shape and for a factor that is not above 0
std::vector<double> read_rope_factors(const GgufFile& file, const std::string& tensor,
                                      std::size_t head_dim);

/// @throw BadInput naming `where` unless heads share keys evenly and have an even size
void require_consistent(const DecoderConfig& config, const std::string& where);

/// How many elements of a head rotate.
inline std::size_t rotated_elements(const DecoderConfig& config) {
  return config.rotary_dim == 0 ? config.head_dim : config.rotary_dim;
}

/// How a row of queries, keys and values is laid out in its buffer: three parts of a stacked
/// matrix.
AttentionShape attention_shape(const DecoderConfig& config);

}  // namespace tempera::gpu
