#include "gpu/llm/transformer/weights/gguf_tensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/llm/transformer/weights/dequantise.hpp"
#include "gpu/llm/transformer/weights/tiled_index.hpp"

namespace tempera::gpu {

namespace {

struct Names {
  std::string_view hugging_face;
  std::string_view gguf;
};

constexpr std::array<Names, 3> whole_names{{{"model.embed_tokens.weight", "token_embd.weight"},
                                            {"model.norm.weight", "output_norm.weight"},
                                            {"lm_head.weight", "output.weight"}}};

/// After "model.layers.N." and "blk.N.", and before ".weight" or ".bias".
constexpr std::array<Names, 22> layer_names{{{"input_layernorm", "attn_norm"},
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
                                             {"mlp.down_proj", "ffn_down"},
                                             {"mlp.gate", "ffn_gate_inp"},
                                             {"mlp.router", "ffn_gate_inp"},
                                             {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
                                             {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
                                             {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
                                             {"mlp.shared_expert.down_proj", "ffn_down_shexp"},
                                             {"mlp.experts.gate_proj", "ffn_gate_exps"},
                                             {"mlp.experts.up_proj", "ffn_up_exps"},
                                             {"mlp.experts.down_proj", "ffn_down_exps"}}};

/// What llama.cpp names otherwise, or alone, in Qwen3.5: convert_hf_to_gguf.py maps these names
/// (gguf-py's tensor_mapping.py), and turns dt_bias into dt_proj.bias first.
bool is_qwen35(std::string_view architecture) {
  return architecture == "qwen35" || architecture == "qwen35moe";
}
constexpr std::array<Names, 8> qwen35_layer_names{
    {{"post_attention_layernorm", "post_attention_norm"},
     {"linear_attn.in_proj_qkv", "attn_qkv"},
     {"linear_attn.in_proj_z", "attn_gate"},
     {"linear_attn.in_proj_b", "ssm_beta"},
     {"linear_attn.in_proj_a", "ssm_alpha"},
     {"linear_attn.conv1d", "ssm_conv1d"},
     {"linear_attn.norm", "ssm_norm"},
     {"linear_attn.out_proj", "ssm_out"}}};
/// These names include what follows the last dot.
constexpr std::array<Names, 2> qwen35_whole_names{
    {{"linear_attn.A_log", "ssm_a"}, {"linear_attn.dt_bias", "ssm_dt.bias"}}};

/// The norms of families that have some after their blocks (the same list).
struct NamesOf {
  std::string_view architecture;
  Names names;
};
constexpr std::array<NamesOf, 6> norm_names{
    {{"gemma3", {"post_attention_layernorm", "post_attention_norm"}},
     {"gemma3", {"pre_feedforward_layernorm", "ffn_norm"}},
     {"gemma3", {"post_feedforward_layernorm", "post_ffw_norm"}},
     {"gpt-oss", {"post_attention_layernorm", "post_attention_norm"}},
     {"olmo2", {"post_attention_layernorm", "post_attention_norm"}},
     {"olmo2", {"post_feedforward_layernorm", "post_ffw_norm"}}}};

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

/// Equal parts of `tiled`, one for each value head, in Hugging Face's order.
void put_in_order(const TiledHeads& heads, std::span<const std::byte> tiled,
                  std::span<std::byte> ordered) {
  const std::size_t size = tiled.size() / heads.value_heads;
  for (std::size_t head = 0; head < heads.value_heads; ++head) {
    const std::size_t index = tiled_index(heads.key_heads, heads.value_heads, head);
    std::memcpy(&ordered[head * size], &tiled[index * size], size);
  }
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// The bytes of a tensor with its value heads in Hugging Face's order; none if it has none, or
/// cannot be put in order. These are the tensors that convert_hf_to_gguf.py reorders.
std::optional<std::vector<std::byte>> in_order(const TiledHeads& heads, std::string_view name,
                                               const StoredTensor& stored) {
  const auto bytes = stored.bytes;
  const std::size_t rows = stored.shape[0];
  const bool is_after_keys = ends_with_any(name, {"in_proj_qkv.weight", "conv1d.weight"});
  const bool is_rows =
      is_after_keys || ends_with_any(name, {"in_proj_z.weight", "in_proj_b.weight",
                                            "in_proj_a.weight", ".A_log", ".dt_bias"});
  if (!is_rows &&
      !(name.ends_with("linear_attn.out_proj.weight") && heads.can_reorder_inputs(stored))) {
    return std::nullopt;
  }
  std::vector<std::byte> result(bytes.begin(), bytes.end());
  if (is_rows) {
    const std::size_t begin = is_after_keys ? heads.leading_rows * (bytes.size() / rows) : 0;
    put_in_order(heads, bytes.subspan(begin), std::span(result).subspan(begin));
    return result;
  }
  const std::size_t row_bytes = bytes.size() / rows;
  for (std::size_t begin = 0; begin < bytes.size(); begin += row_bytes) {
    put_in_order(heads, bytes.subspan(begin, row_bytes),
                 std::span(result).subspan(begin, row_bytes));
  }
  return result;
}

/// True for a tensor from which convert_hf_to_gguf.py takes the extents of 1.
bool is_squeezed(std::string_view name) {
  return ends_with_any(name, {"conv1d.weight", "shared_expert_gate.weight"});
}

/// The name of the tensor that has gate and up of all experts of a layer, of one that has either.
std::string fused_name(const std::string& gguf) {
  const std::size_t part = gguf.rfind("_exps.");
  return gguf.substr(0, gguf.rfind("ffn_")) + "ffn_gate_up" + gguf.substr(part);
}

/// llama.cpp's name of what is after "model.layers.N."; empty if it has none.
std::string name_in_layer(std::string_view name, std::string_view architecture) {
  if (is_qwen35(architecture)) {
    if (const auto whole = translated(qwen35_whole_names, name); !whole.empty())
      return std::string(whole);
  }
  if (name == "self_attn.sinks") return "attn_sinks.weight";
  const std::size_t ending = name.rfind('.');
  if (ending == std::string_view::npos) return "";
  const auto part = name.substr(0, ending);
  auto found = is_qwen35(architecture) ? translated(qwen35_layer_names, part) : std::string_view();
  for (const auto& [of, names] : norm_names)
    if (of == architecture && names.hugging_face == part) found = names.gguf;
  if (found.empty()) found = translated(layer_names, part);
  return found.empty() ? "" : std::string(found) + std::string(name.substr(ending));
}

}  // namespace

std::string gguf_name(const std::string& name, std::string_view architecture) {
  // All experts of a layer are in one tensor.
  if (const auto expert = expert_tensor(name))
    return gguf_name(expert->prefix + expert->part + "." + expert->ending, architecture);
  if (const auto whole = translated(whole_names, name); !whole.empty()) return std::string(whole);
  constexpr std::string_view layers = "model.layers.";
  const std::size_t end_of_number = name.find('.', layers.size());
  if (!name.starts_with(layers) || end_of_number == std::string::npos) return "";
  const auto in_layer =
      name_in_layer(std::string_view(name).substr(end_of_number + 1), architecture);
  if (in_layer.empty()) return "";
  return "blk." + name.substr(layers.size(), end_of_number - layers.size()) + "." + in_layer;
}

bool TiledHeads::can_reorder_inputs(const StoredTensor& map) const {
  const auto block = stored_block(map.dtype);
  return block && map.shape.at(1) / value_heads % block->elements == 0;
}

const StoredTensor& GgufTensors::reordered(const StoredTensor& stored,
                                           std::vector<std::byte> bytes) {
  auto& result = reordered_.emplace_back();
  result.bytes = std::move(bytes);
  result.tensor = stored;
  result.tensor.bytes = result.bytes;
  return result.tensor;
}

GgufTensors::Found GgufTensors::stored(const std::string& name, const Shape& shape) {
  const auto gguf = gguf_name(name, file_.metadata().text("general.architecture"));
  auto found = file_.tensors().find(gguf);
  const auto expert = expert_tensor(name);
  Found result;
  // Newer converters put gate and up of all experts into one tensor, the rows of gate first.
  std::size_t parts = 1;
  if (found == file_.tensors().end() && expert && expert->part != "down_proj") {
    const auto fused = file_.tensors().find(fused_name(gguf));
    if (fused != file_.tensors().end()) {
      found = fused;
      parts = 2;
      result.begin = expert->part == "up_proj" ? static_cast<std::size_t>(shape[0]) : 0;
    }
  }
  if (found == file_.tensors().end()) {
    throw BadInput(file_.metadata().file() + ", tensor " + in_quotes(gguf), "is missing",
                   "convert the model again");
  }
  const auto& stored = found->second;
  Shape in_file = shape;
  if (is_squeezed(name)) std::erase(in_file, 1U);
  if (expert) {
    in_file[0] *= parts;
    in_file.insert(in_file.begin(), order_.experts);
  }
  require_shape(stored, in_file, "metadata");
  used_.use(stored);
  result.tensor = &stored;
  return result;
}

const StoredTensor& GgufTensors::tensor(const std::string& name, const Shape& shape) {
  const Found found = this->stored(name, shape);
  const StoredTensor& stored = *found.tensor;
  if (const auto expert = expert_tensor(name))
    return parts_.emplace_back(part_of_stack(stored, expert->number, found.begin, shape));
  if (name.ends_with("shared_expert_gate.weight")) {
    auto& map = parts_.emplace_back(stored);
    map.shape = shape;
    return map;
  }
  if (order_.pairs_neighbours &&
      (name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight"))) {
    return reordered(stored,
                     halves_from_neighbours(stored.bytes, stored.shape[0], order_.head_dim));
  }
  if (!order_.tiled) return stored;
  auto bytes = in_order(*order_.tiled, name, stored);
  return bytes ? reordered(stored, std::move(*bytes)) : stored;
}

}  // namespace tempera::gpu
