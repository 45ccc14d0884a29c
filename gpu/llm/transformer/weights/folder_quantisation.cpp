#include "gpu/llm/transformer/weights/folder_quantisation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/weights/dequantise.hpp"
#include "gpu/llm/transformer/weights/quantised_block.hpp"
#include "gpu/llm/transformer/weights/weight_value.hpp"

namespace tempera::gpu {

namespace {

using Method = FolderQuantisation::Method;
using Shape = std::vector<std::uint64_t>;

const std::string another_model =
    "choose the model unquantised, as FP8 with blocks, AWQ or GPTQ of 4 bits, or as GGUF";

[[noreturn]] void refuse(const JsonObject& config, const std::string& key,
                         const std::string& fault) {
  throw BadInput(config.where(), in_quotes(key) + " " + fault, another_model);
}

/// Refuses a key unless it is missing, null, or one of the texts.
void require_text(const JsonObject& config, const std::string& key,
                  std::initializer_list<std::string_view> texts) {
  const auto text = config.optional_text(key);
  if (text && std::find(texts.begin(), texts.end(), *text) == texts.end())
    refuse(config, key, "is " + in_quotes(*text) + ", which is not supported");
}
void require_boolean(const JsonObject& config, const std::string& key, bool value) {
  if (config.boolean_or(key, value) != value)
    refuse(config, key,
           std::string("is ") + (value ? "false" : "true") + ", which is not supported");
}
/// Refuses a key unless it is missing, null or empty.
void require_empty(const JsonObject& config, const std::string& key) {
  if (config.has(key) && !config.at(key).empty()) refuse(config, key, "is not supported");
}

/// Inputs that share a scale: -1, which stands for all, or so many.
std::size_t read_group(const JsonObject& config) {
  if (config.at("group_size") == -1) return 0;
  return static_cast<std::size_t>(config.whole_number("group_size", 1, 1 << 20));
}

/// "torch_dtype" is its older name.
std::string model_dtype(const JsonObject& config) {
  const std::string key = config.has("dtype") ? "dtype" : "torch_dtype";
  const std::string dtype = config.text(key);
  if (dtype == "bfloat16") return "BF16";
  if (dtype == "float16") return "F16";
  if (dtype == "float32") return "F32";
  throw BadInput(config.where(), in_quotes(key) + " is " + in_quotes(dtype),
                 "write bfloat16, float16 or float32: FP8 weights are rounded to it");
}

FolderQuantisation read_fp8(const JsonObject& config, const JsonObject& model) {
  config.check_keys({"quant_method", "weight_block_size"},
                    {"activation_scheme", "fmt", "modules_to_not_convert", "ignored_layers",
                     "modules_to_convert", "dequantize", "scale_fmt", "expert_dtype"});
  require_text(config, "activation_scheme", {"dynamic"});
  require_text(config, "fmt", {"e4m3"});
  require_text(config, "scale_fmt", {"float", "ue8m0"});
  require_text(config, "expert_dtype", {"fp8"});
  FolderQuantisation result{.method = Method::fp8};
  result.block = config.whole_numbers("weight_block_size", 1, 1 << 20);
  if (result.block.size() != 2) refuse(config, "weight_block_size", "is not a pair");
  result.dtype = model_dtype(model);
  return result;
}

FolderQuantisation read_awq(const JsonObject& config) {
  config.check_keys({"quant_method", "bits", "group_size"},
                    {"version", "zero_point", "modules_to_not_convert", "backend", "do_fuse",
                     "fuse_max_seq_len", "modules_to_fuse", "exllama_config"});
  require_text(config, "version", {"gemm", "GEMM"});
  require_boolean(config, "zero_point", true);
  if (config.at("bits") != 4) refuse(config, "bits", "is not 4");
  return {.method = Method::awq, .bits = 4, .group = read_group(config), .has_zeros = true};
}

FolderQuantisation read_gptq(const JsonObject& config) {
  // All but the first line say how the model was quantised, or how another tool multiplies.
  config.check_keys({"quant_method", "bits", "group_size"}, {"checkpoint_format",
                                                             "format",
                                                             "pack_dtype",
                                                             "dynamic",
                                                             "lm_head",
                                                             "desc_act",
                                                             "sym",
                                                             "batch_size",
                                                             "block_name_to_quantize",
                                                             "cache_block_outputs",
                                                             "damp_percent",
                                                             "damp_auto_increment",
                                                             "dataset",
                                                             "exllama_config",
                                                             "max_input_length",
                                                             "meta",
                                                             "mse",
                                                             "model_file_base_name",
                                                             "model_name_or_path",
                                                             "model_seqlen",
                                                             "module_name_preceding_first_block",
                                                             "modules_in_block_to_quantize",
                                                             "pad_token_id",
                                                             "static_groups",
                                                             "tokenizer",
                                                             "true_sequential",
                                                             "use_cuda_fp16",
                                                             "use_exllama",
                                                             "backend",
                                                             "modules_to_not_convert",
                                                             "use_marlin",
                                                             "version"});
  require_text(config, "pack_dtype", {"int32"});
  require_empty(config, "dynamic");
  std::string format = "gptq";
  for (const char* key : {"format", "checkpoint_format"}) {
    require_text(config, key, {"gptq", "gptq_v2"});
    format = config.optional_text(key).value_or(format);
  }
  if (config.at("bits") != 4 && config.at("bits") != 8) refuse(config, "bits", "is not 4 or 8");
  return {.method = Method::gptq,
          .bits = static_cast<unsigned>(config.whole_number("bits", 4, 8)),
          .group = read_group(config),
          .has_zeros = true,
          .zeros_lack_one = format == "gptq"};
}

FolderQuantisation read_mxfp4(const JsonObject& config) {
  config.check_keys({"quant_method"}, {"modules_to_not_convert", "dequantize"});
  return {.method = Method::mxfp4};
}

FolderQuantisation read_compressed(const JsonObject& config) {
  config.check_keys({"quant_method", "format", "config_groups"},
                    {"quantization_status", "global_compression_ratio", "ignore", "kv_cache_scheme",
                     "sparsity_config", "transform_config", "version"});
  require_text(config, "quantization_status", {"compressed"});
  for (const char* key : {"kv_cache_scheme", "sparsity_config", "transform_config"})
    require_empty(config, key);
  const auto groups = config.object("config_groups");
  if (groups.keys().size() != 1) refuse(config, "config_groups", "holds other than one group");
  const auto group = groups.object(groups.keys()[0]);
  group.check_keys({"targets", "weights"}, {"input_activations", "output_activations", "format"});
  const auto weights = group.object("weights");
  weights.check_keys({"num_bits", "strategy"},
                     {"type", "symmetric", "group_size", "block_structure", "dynamic", "actorder",
                      "observer", "observer_kwargs", "scale_dtype", "zp_dtype"});
  const std::string format = group.optional_text("format").value_or(config.text("format"));
  const std::string type = weights.optional_text("type").value_or("int");
  require_empty(group, "output_activations");
  // Eight bits of a float with inputs rounded anew for each product are what FP8 is elsewhere.
  if (type != "float") require_empty(group, "input_activations");
  require_boolean(weights, "dynamic", false);
  require_text(weights, "actorder", {"weight", "static"});
  require_empty(weights, "block_structure");
  FolderQuantisation result{.method = format == "pack-quantized" ? Method::packed : Method::naive};
  if (type != "int" && type != "float") refuse(weights, "type", "is " + in_quotes(type));
  const bool is_float = type == "float";
  const bool is_known = is_float ? format == "float-quantized" || format == "naive-quantized"
                                 : format == "pack-quantized" || format == "int-quantized" ||
                                       format == "naive-quantized";
  if (!is_known) refuse(config, "format", "is " + in_quotes(format) + ", which is not supported");
  if (weights.at("num_bits") != 8 &&
      (weights.at("num_bits") != 4 || result.method != Method::packed))
    refuse(weights, "num_bits", "is not 8, or 4 packed");
  result.bits = static_cast<unsigned>(weights.whole_number("num_bits", 4, 8));
  result.has_zeros = !weights.boolean_or("symmetric", true);
  if (is_float && result.has_zeros) refuse(weights, "symmetric", "is false");
  result.dtype = is_float ? "F8_E4M3" : "I8";
  const std::string strategy = weights.text("strategy");
  require_text(weights, "strategy", {"group", "channel", "tensor"});
  if (strategy == "group") result.group = read_group(weights);
  if (strategy == "tensor" && result.has_zeros) refuse(weights, "symmetric", "is false");
  return result;
}

/// NAME of NAME.weight; empty for another tensor.
std::string map_of(const std::string& name) {
  constexpr std::string_view ending = ".weight";
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : "";
}

const StoredTensor* find(const TensorFiles& files, const std::string& name) {
  const auto found = files.tensors().find(name);
  return found == files.tensors().end() ? nullptr : &found->second;
}

std::string place_of(const StoredTensor& tensor) {
  return tensor.file + ", tensor " + in_quotes(tensor.name);
}

const StoredTensor* part(const TensorFiles& files, const std::string& name, const Shape& shape,
                         std::initializer_list<std::string_view> dtypes) {
  const auto& tensor = files.tensor(name, shape);
  if (std::find(dtypes.begin(), dtypes.end(), tensor.dtype) == dtypes.end()) {
    throw BadInput(place_of(tensor),
                   "has dtype " + tensor.dtype +
                       " where config.json's \"quantization_config\" asks for " +
                       std::string(*dtypes.begin()),
                   "use the config.json that belongs to these weights");
  }
  return &tensor;
}

/// The value of a float8 e4m3: a sign, four bits of an exponent with bias 7 and three of a
/// fraction; 0x7F is NaN, and nothing is infinite.
float e4m3_value(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15;
  const int fraction = bits & 7;
  if (exponent == 15 && fraction == 7) return NAN;
  const float magnitude = exponent == 0
                              ? std::ldexp(static_cast<float>(fraction), -9)
                              : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

/// The values of all float8 e4m3, by their bits.
const std::array<float, 256>& e4m3_values() {
  static const auto values = [] {
    std::array<float, 256> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = e4m3_value(static_cast<std::uint8_t>(i));
    return all;
  }();
  return values;
}

/// The float16 nearest to a finite float, of two as near the even one.
std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const float magnitude = std::abs(value);
  if (!(magnitude < 65520.0F)) return sign | (std::isnan(value) ? 0x7E00U : 0x7C00U);
  if (magnitude < 0x1p-14F) {
    // Whole multiples of 2^-24, which is what the last place of 0.5 has.
    const float shifted = magnitude + 0.5F;
    return sign | static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U);
  }
  const std::uint32_t whole = bits & 0x7FFFFFFFU;
  const std::uint32_t rounded = whole + 0xFFFU + (whole >> 13 & 1U);
  return sign | static_cast<std::uint16_t>((rounded >> 13) - (112U << 10));
}

/// Scales as floats, checked; those of FP8 have no reason to be 0.
std::vector<float> read_scales(const StoredTensor& scales, Method method) {
  const bool is_fp8 = method == Method::fp8;
  std::size_t size = 1;
  for (const auto extent : scales.shape) size *= static_cast<std::size_t>(extent);
  std::vector<float> values(size);
  dequantise(scales.dtype, scales.bytes, values);
  for (std::size_t i = 0; i < size; ++i) {
    if (!std::isfinite(values[i]) || (is_fp8 && !(values[i] > 0.0F))) {
      throw BadInput(
          place_of(scales),
          "element " + std::to_string(i) + " is not a finite number" + (is_fp8 ? " above 0" : ""),
          "download the file again, or choose another model");
    }
  }
  return values;
}

/// Fills the map with value_of(output, input), rounded to a dtype.
template <class ValueOf>
DequantisedMap filled(const std::string& name, const StoredTensor& quants, const std::string& dtype,
                      const Shape& shape, const ValueOf& value_of) {
  const auto out = static_cast<std::size_t>(shape[0]);
  const auto in = static_cast<std::size_t>(shape[1]);
  const std::size_t size = dtype == "F32" ? 4 : 2;
  DequantisedMap result;
  result.bytes.resize(out * in * size);
  on_host_threads(out, [&](std::size_t output) {
    std::byte* const row = &result.bytes[output * in * size];
    for (std::size_t i = 0; i < in; ++i) {
      const float value = value_of(output, i);
      if (size == 4) {
        std::memcpy(row + 4 * i, &value, 4);
      } else {
        const std::uint16_t rounded = dtype == "F16" ? to_float16(value) : to_bfloat16(value);
        std::memcpy(row + 2 * i, &rounded, 2);
      }
    }
  });
  result.tensor = {name, dtype, shape, result.bytes, quants.file};
  return result;
}

std::uint64_t divided(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

/// Quant `index` of `bits` bits of words that begin at word `begin` and are `stride` apart.
unsigned quant_at(const StoredTensor& words, unsigned bits, std::size_t begin, std::size_t stride,
                  std::size_t index) {
  const std::size_t in_word = 32 / bits;
  const auto word = number_at<std::uint32_t>(words.bytes.data(), begin + index / in_word * stride);
  return word >> (bits * (index % in_word)) & ((1U << bits) - 1U);
}

/// Which nibble of a word AutoAWQ puts output j of eight in.
constexpr std::array<std::size_t, 8> awq_nibble{0, 4, 1, 5, 2, 6, 3, 7};

float awq_quant(const StoredTensor& words, std::size_t row, std::size_t out, std::size_t output) {
  const auto word = number_at<std::uint32_t>(words.bytes.data(), row * (out / 8) + output / 8);
  return static_cast<float>(word >> (4 * awq_nibble[output % 8]) & 15U);
}

}  // namespace

std::optional<FolderQuantisation> read_quantisation(const JsonObject& config) {
  const std::string key = "quantization_config";
  if (!config.has(key)) return std::nullopt;
  const auto quantisation = config.object(key);
  const auto method = quantisation.optional_text("quant_method");
  if (method == "fp8") return read_fp8(quantisation, config);
  if (method == "awq") return read_awq(quantisation);
  if (method == "gptq") return read_gptq(quantisation);
  if (method == "compressed-tensors") return read_compressed(quantisation);
  if (method == "mxfp4" && config.optional_text("model_type") == "gpt_oss")
    return read_mxfp4(quantisation);
  refuse(config, key,
         method ? "asks for " + in_quotes(*method) + ", which is not supported"
                : std::string("has no \"quant_method\""));
}

std::vector<const StoredTensor*> QuantisedMap::all() const {
  std::vector<const StoredTensor*> tensors{quants, scales, zeros, groups, shape};
  std::erase(tensors, nullptr);
  return tensors;
}

std::optional<QuantisedMap> quantised_map(const TensorFiles& files,
                                          const FolderQuantisation& quantisation,
                                          const std::string& name, const Shape& shape) {
  const std::string map = map_of(name);
  if (map.empty() || shape.size() != 2 || quantisation.method == Method::mxfp4) return std::nullopt;
  const auto* const weight = find(files, name);
  const bool is_by_words = quantisation.method == Method::packed ||
                           quantisation.method == Method::awq ||
                           quantisation.method == Method::gptq;
  if (weight != nullptr && (is_by_words || stored_block(weight->dtype).has_value())) {
    return std::nullopt;  // stored as it is
  }
  const std::uint64_t out = shape[0];
  const std::uint64_t in = shape[1];
  const std::uint64_t group = quantisation.group == 0 ? in : quantisation.group;
  const std::uint64_t in_word = 32 / quantisation.bits;
  const std::uint64_t groups = divided(in, group);
  const auto require_multiple = [&](const char* what, std::uint64_t extent, std::uint64_t of) {
    if (extent % of == 0) return;
    throw BadInput(
        files.file() + ", tensors of " + in_quotes(map),
        std::to_string(extent) + " " + what + " are not a multiple of " + std::to_string(of),
        another_model);
  };
  QuantisedMap parts;
  switch (quantisation.method) {
    case Method::fp8:
      parts.quants = part(files, name, shape, {"F8_E4M3"});
      parts.scales = part(files, map + ".weight_scale_inv",
                          {divided(out, quantisation.block[0]), divided(in, quantisation.block[1])},
                          {"F32", "BF16"});
      break;
    case Method::packed:
    case Method::naive: {
      require_multiple("inputs", in, group);
      if (quantisation.method == Method::packed) {
        parts.quants = part(files, map + ".weight_packed", {out, divided(in, in_word)}, {"I32"});
        parts.shape = part(files, map + ".weight_shape", {2}, {"I64", "I32"});
      } else {
        parts.quants = part(files, name, shape, {quantisation.dtype});
      }
      const auto* const scale = find(files, map + ".weight_scale");
      const bool is_one = scale != nullptr && scale->bytes.size() <= 4 && out != 1;
      const Shape of_scales = is_one ? scale->shape : Shape{out, groups};
      parts.scales = part(files, map + ".weight_scale", of_scales, {"BF16", "F16", "F32"});
      if (!quantisation.has_zeros) break;
      const bool is_packed = quantisation.method == Method::packed;
      parts.zeros =
          part(files, map + ".weight_zero_point", {is_packed ? divided(out, in_word) : out, groups},
               {is_packed ? "I32" : "I8"});
      break;
    }
    case Method::awq:
      require_multiple("outputs", out, in_word);
      require_multiple("inputs", in, group);
      parts.quants = part(files, map + ".qweight", {in, out / in_word}, {"I32"});
      parts.zeros = part(files, map + ".qzeros", {groups, out / in_word}, {"I32"});
      parts.scales = part(files, map + ".scales", {groups, out}, {"F16", "BF16"});
      break;
    case Method::gptq:
      require_multiple("outputs", out, in_word);
      require_multiple("inputs", in, in_word);
      parts.quants = part(files, map + ".qweight", {in / in_word, out}, {"I32"});
      parts.zeros = part(files, map + ".qzeros", {groups, out / in_word}, {"I32"});
      parts.scales = part(files, map + ".scales", {groups, out}, {"F16", "BF16"});
      if (find(files, map + ".g_idx") != nullptr)
        parts.groups = part(files, map + ".g_idx", {in}, {"I32"});
      break;
    case Method::mxfp4:
      break;
  }
  return parts;
}

DequantisedMap dequantised_map(const QuantisedMap& map, const FolderQuantisation& quantisation,
                               const std::string& name, const Shape& shape) {
  const StoredTensor& quants = *map.quants;
  const auto out = static_cast<std::size_t>(shape[0]);
  const auto in = static_cast<std::size_t>(shape[1]);
  const unsigned bits = quantisation.bits;
  const std::size_t group = quantisation.group == 0 ? in : quantisation.group;
  const std::size_t groups = divided(in, group);
  const auto scales = read_scales(*map.scales, quantisation.method);
  switch (quantisation.method) {
    case Method::fp8: {
      const auto& values = e4m3_values();
      const auto [outputs, inputs] = std::pair(quantisation.block[0], quantisation.block[1]);
      const std::size_t columns = divided(in, inputs);
      return filled(name, quants, quantisation.dtype, shape,
                    [&, outputs = outputs, inputs = inputs](std::size_t o, std::size_t i) {
                      return values[std::to_integer<std::size_t>(quants.bytes[o * in + i])] *
                             scales[o / outputs * columns + i / inputs];
                    });
    }
    case Method::packed:
    case Method::naive: {
      if (map.shape != nullptr) {
        const bool is_wide = map.shape->dtype == "I64";
        for (std::size_t i = 0; i < 2; ++i) {
          const auto extent = is_wide ? number_at<std::uint64_t>(map.shape->bytes.data(), i)
                                      : number_at<std::uint32_t>(map.shape->bytes.data(), i);
          if (extent != shape[i]) {
            throw BadInput(place_of(*map.shape), "is not the shape that config.json asks for",
                           "use the config.json that belongs to these weights");
          }
        }
      }
      const bool is_packed = quantisation.method == Method::packed;
      const bool is_float = quants.dtype == "F8_E4M3";
      const int middle = is_packed ? 1 << (bits - 1) : 0;
      const std::size_t words = divided(in * bits, 32);
      const bool is_one = scales.size() == 1;
      const auto& values = e4m3_values();
      const auto zero_of = [&](std::size_t o, std::size_t g) {
        if (map.zeros == nullptr) return 0;
        if (!is_packed) return int{number_at<std::int8_t>(map.zeros->bytes.data(), o * groups + g)};
        return static_cast<int>(quant_at(*map.zeros, bits, g, groups, o)) - middle;
      };
      return filled(name, quants, map.scales->dtype, shape, [&](std::size_t o, std::size_t i) {
        const std::size_t g = i / group;
        const float scale = scales[is_one ? 0 : o * groups + g];
        if (is_float) return values[std::to_integer<std::size_t>(quants.bytes[o * in + i])] * scale;
        const int quant = is_packed
                              ? static_cast<int>(quant_at(quants, bits, o * words, 1, i)) - middle
                              : int{number_at<std::int8_t>(quants.bytes.data(), o * in + i)};
        return static_cast<float>(quant - zero_of(o, g)) * scale;
      });
    }
    case Method::awq:
      return filled(name, quants, map.scales->dtype, shape, [&](std::size_t o, std::size_t i) {
        const std::size_t g = i / group;
        return (awq_quant(quants, i, out, o) - awq_quant(*map.zeros, g, out, o)) *
               scales[g * out + o];
      });
    default: {  // gptq
      std::vector<std::size_t> group_of(in);
      for (std::size_t i = 0; i < in; ++i) {
        group_of[i] = map.groups == nullptr ? i / group
                                            : number_at<std::uint32_t>(map.groups->bytes.data(), i);
        if (map.groups != nullptr && group_of[i] >= groups) {
          throw BadInput(place_of(*map.groups),
                         "element " + std::to_string(i) + " is not the number of one of the " +
                             std::to_string(groups) + " groups",
                         "download the file again, or choose another model");
        }
      }
      const unsigned most = (1U << bits) - 1U;
      std::vector<float> zeros(groups * out);
      for (std::size_t g = 0; g < groups; ++g) {
        for (std::size_t o = 0; o < out; ++o) {
          const unsigned zero = quant_at(*map.zeros, bits, g * (out * bits / 32), 1, o);
          if (quantisation.zeros_lack_one && zero == most) {
            throw BadInput(place_of(*map.zeros),
                           "the zero point of group " + std::to_string(g) + " and output " +
                               std::to_string(o) + " is " + std::to_string(most) +
                               ", which tools take for 0 or for " + std::to_string(most + 1),
                           "convert the model to the format \"gptq_v2\"");
          }
          zeros[g * out + o] = static_cast<float>(zero + (quantisation.zeros_lack_one ? 1U : 0U));
        }
      }
      return filled(name, quants, map.scales->dtype, shape, [&](std::size_t o, std::size_t i) {
        const std::size_t at = group_of[i] * out + o;
        return (static_cast<float>(quant_at(quants, bits, o, out, i)) - zeros[at]) * scales[at];
      });
    }
  }
}

bool is_bias_of_zeros(const TensorFiles& files, const std::string& name) {
  constexpr std::string_view ending = ".bias";
  if (!name.ends_with(ending)) return false;
  const auto* const bias = find(files, name);
  const std::string map = name.substr(0, name.size() - ending.size());
  return bias != nullptr && find(files, map + ".qweight") != nullptr &&
         std::all_of(bias->bytes.begin(), bias->bytes.end(),
                     [](std::byte byte) { return byte == std::byte{}; });
}

}  // namespace tempera::gpu
