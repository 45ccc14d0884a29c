#include "gpu/transformer/weights/gguf_tensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "gpu/input/bad_input.hpp"
#include "gpu/input/in_quotes.hpp"

namespace tempera::gpu {

namespace {

struct Names {
  std::string_view hugging_face;
  std::string_view gguf;
};

constexpr std::array<Names, 3> whole_names{{{"model.embed_tokens.weight", "token_embd.weight"},
                                            {"model.norm.weight", "output_norm.weight"},
                                            {"lm_head.weight", "output.weight"}}};

/// Behind "model.layers.N." and "blk.N.", and before ".weight" or ".bias".
constexpr std::array<Names, 13> layer_names{{{"input_layernorm", "attn_norm"},
                                             {"self_attn.q_proj", "attn_q"},
                                             {"self_attn.k_proj", "attn_k"},
                                             {"self_attn.v_proj", "attn_v"},
                                             {"self_attn.qkv_proj", "attn_qkv"},
                                             {"self_attn.q_norm", "attn_q_norm"},
                                             {"self_attn.k_norm", "attn_k_norm"},
                                             {"self_attn.o_proj", "attn_output"},
                                             {"post_attention_layernorm", "ffn_norm"},
                                             {"mlp.gate_proj", "ffn_gate"},
                                             {"mlp.up_proj", "ffn_up"},
                                             {"mlp.gate_up_proj", "ffn_up"},
                                             {"mlp.down_proj", "ffn_down"}}};

template <std::size_t Size>
std::string_view translated(const std::array<Names, Size>& names, std::string_view name) {
  const auto* found = std::find_if(names.begin(), names.end(),
                                   [&](const Names& each) { return each.hugging_face == name; });
  return found == names.end() ? std::string_view() : found->gguf;
}

/// Rows d and d + size / 2 of every head of `size` rows, from rows 2d and 2d + 1.
std::vector<std::byte> halves_from_neighbours(std::span<const std::byte> bytes, std::size_t rows,
                                              std::size_t size) {
  const std::size_t row_bytes = bytes.size() / rows;
  std::vector<std::byte> result(bytes.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t of_head = row % size;
    const std::size_t half = size / 2;
    const std::size_t source = row - of_head + of_head % half * 2 + of_head / half;
    std::memcpy(&result[row * row_bytes], &bytes[source * row_bytes], row_bytes);
  }
  return result;
}

}  // namespace

std::string gguf_name(const std::string& name) {
  if (const auto whole = translated(whole_names, name); !whole.empty()) return std::string(whole);
  constexpr std::string_view layers = "model.layers.";
  const std::size_t end_of_number = name.find('.', layers.size());
  const std::size_t ending = name.rfind('.');
  if (!name.starts_with(layers) || end_of_number >= ending) return "";
  const auto part = translated(
      layer_names, std::string_view(name).substr(end_of_number + 1, ending - end_of_number - 1));
  if (part.empty()) return "";
  return "blk." + name.substr(layers.size(), end_of_number - layers.size()) + "." +
         std::string(part) + name.substr(ending);
}

const StoredTensor& GgufTensors::tensor(const std::string& name, const Shape& shape) {
  const auto gguf = gguf_name(name);
  const auto found = file_.tensors().find(gguf);
  if (found == file_.tensors().end()) {
    throw BadInput(file_.metadata().file() + ", tensor " + in_quotes(gguf), "is missing",
                   "convert the model again");
  }
  const auto& stored = found->second;
  require_shape(stored, shape, "metadata");
  used_.use(stored);
  if (!pairs_neighbours_ || !(name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight"))) {
    return stored;
  }
  auto& reordered = reordered_.emplace_back();
  reordered.bytes = halves_from_neighbours(stored.bytes, stored.shape[0], head_dim_);
  reordered.tensor = stored;
  reordered.tensor.bytes = reordered.bytes;
  return reordered.tensor;
}

}  // namespace tempera::gpu
