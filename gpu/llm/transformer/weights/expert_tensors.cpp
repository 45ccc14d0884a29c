#include "gpu/llm/transformer/weights/expert_tensors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/device/host_threads.hpp"
#include "gpu/llm/transformer/weights/dequantise.hpp"

namespace tempera::gpu {

namespace {

using Shape = std::vector<std::uint64_t>;

constexpr std::uint64_t mxfp4_inputs = 32;
constexpr std::size_t mxfp4_bytes = 16;

std::string where_of(const StoredTensor& tensor) {
  return tensor.file + ", tensor " + in_quotes(tensor.name);
}

const StoredTensor& mxfp4_part(const TensorFiles& files, const std::string& name,
                               const Shape& shape) {
  const auto& tensor = files.tensor(name, shape);
  if (tensor.dtype == "U8") return tensor;
  throw BadInput(where_of(tensor), "has dtype " + tensor.dtype + ", and bytes of MXFP4 are U8",
                 "download the file again, or choose another model");
}

/// Refuses a dtype with blocks.
const StoredTensor& plain_stack(const StoredTensor& tensor) {
  const auto block = stored_block(tensor.dtype);
  if (block && block->elements == 1) return tensor;
  throw BadInput(where_of(tensor), "has dtype " + tensor.dtype, "store it as F16, F32 or BF16");
}

/// The output that a stack has as its output `o` of a part.
struct OutputsInTurn {
  std::size_t first;
  std::size_t step;

  std::size_t operator()(std::size_t o) const { return first + o * step; }
};
OutputsInTurn outputs_in_stack(const ExpertTensor& expert) {
  if (expert.part == "down_proj") return {0, 1};
  return {expert.part == "up_proj" ? std::size_t{1} : 0, 2};
}

/// A block as GGUF has it: the byte of the scale, and 16 bytes whose low quants are the first 16
/// and whose high ones the others. The folder's bytes hold neighbours.
void write_mxfp4(std::byte scale, const std::byte* pairs, std::byte* block) {
  block[0] = scale;
  const auto quant = [&](std::size_t i) {
    return i % 2 == 0 ? pairs[i / 2] & std::byte{0x0F} : pairs[i / 2] >> 4;
  };
  for (std::size_t i = 0; i < mxfp4_bytes; ++i)
    block[1 + i] = quant(i) | quant(i + mxfp4_bytes) << 4;
}

}  // namespace

std::optional<ExpertTensor> expert_tensor(const std::string& name) {
  constexpr std::string_view experts = ".mlp.experts.";
  const auto at = name.find(experts);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + experts.size();
  const std::size_t dot = name.find('.', begin);
  const std::size_t end = name.rfind('.');
  ExpertTensor result{name.substr(0, begin), 0, "", name.substr(end + 1)};
  if (result.ending != "weight" && result.ending != "bias") return std::nullopt;
  const auto [stop, error] =
      std::from_chars(name.data() + begin, name.data() + std::min(dot, name.size()), result.number);
  if (error != std::errc() || dot >= end || stop != name.data() + dot) return std::nullopt;
  result.part = name.substr(dot + 1, end - dot - 1);
  return result;
}

StoredTensor part_of_stack(const StoredTensor& stored, std::size_t number, std::size_t begin,
                           const std::vector<std::uint64_t>& shape) {
  const std::size_t rows = stored.shape[0] * stored.shape[1];
  const std::size_t row_bytes = stored.bytes.size() / rows;
  StoredTensor part = stored;
  part.shape = shape;
  part.bytes = stored.bytes.subspan((number * stored.shape[1] + begin) * row_bytes,
                                    static_cast<std::size_t>(shape[0]) * row_bytes);
  return part;
}

std::vector<const StoredTensor*> InterleavedExpert::all() const {
  if (scales == nullptr) return {values};
  return {values, scales};
}

std::optional<InterleavedExpert> interleaved_expert(const TensorFiles& files,
                                                    const std::string& name, const Shape& shape,
                                                    std::size_t experts) {
  const auto expert = expert_tensor(name);
  if (!expert || files.tensors().contains(name)) return std::nullopt;
  const bool is_down = expert->part == "down_proj";
  const std::string stack = expert->prefix + (is_down ? expert->part : "gate_up_proj");
  const std::uint64_t out = shape[0] * (is_down ? 1 : 2);
  if (expert->ending == "bias") {
    return InterleavedExpert{*expert,
                             &plain_stack(files.tensor(stack + "_bias", Shape{experts, out}))};
  }
  const std::uint64_t in = shape[1];
  if (!files.tensors().contains(stack + "_blocks"))
    return InterleavedExpert{*expert, &plain_stack(files.tensor(stack, Shape{experts, in, out}))};
  if (in % mxfp4_inputs != 0) {
    throw BadInput(
        files.file() + ", tensor " + in_quotes(stack + "_blocks"),
        std::to_string(in) + " inputs are not a multiple of " + std::to_string(mxfp4_inputs),
        "use the config.json that belongs to these weights");
  }
  const std::uint64_t blocks = in / mxfp4_inputs;
  return InterleavedExpert{
      *expert, &mxfp4_part(files, stack + "_blocks", {experts, out, blocks, mxfp4_bytes}),
      &mxfp4_part(files, stack + "_scales", {experts, out, blocks})};
}

DequantisedMap rows_of_expert(const InterleavedExpert& stored, const std::string& name,
                              const Shape& shape) {
  const StoredTensor& values = *stored.values;
  const auto output = outputs_in_stack(stored.expert);
  const auto out = static_cast<std::size_t>(shape[0]);
  const bool is_map = shape.size() == 2;
  const auto in = is_map ? static_cast<std::size_t>(shape[1]) : std::size_t{1};
  const std::size_t outputs = out * output.step;
  const std::size_t number = stored.expert.number;
  DequantisedMap result;
  if (stored.scales == nullptr) {
    const std::size_t size = stored_block(values.dtype)->bytes;
    result.bytes.resize(out * in * size);
    on_host_threads(out, [&](std::size_t o) {
      for (std::size_t i = 0; i < in; ++i) {
        std::memcpy(&result.bytes[(o * in + i) * size],
                    &values.bytes[((number * in + i) * outputs + output(o)) * size], size);
      }
    });
    result.tensor = {name, values.dtype, shape, result.bytes, values.file};
    return result;
  }
  const std::size_t blocks = in / mxfp4_inputs;
  result.bytes.resize(out * blocks * (1 + mxfp4_bytes));
  const std::size_t begin = number * outputs * blocks;
  const auto scales = stored.scales->bytes.subspan(begin, outputs * blocks);
  const auto nan = std::find(scales.begin(), scales.end(), std::byte{0xFF});
  if (nan != scales.end()) {
    const auto index = begin + static_cast<std::size_t>(nan - scales.begin());
    throw BadInput(where_of(*stored.scales), "element " + std::to_string(index) + " is NaN",
                   "download the file again, or choose another model");
  }
  on_host_threads(out, [&](std::size_t o) {
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t index = output(o) * blocks + b;
      write_mxfp4(scales[index], &values.bytes[(begin + index) * mxfp4_bytes],
                  &result.bytes[(o * blocks + b) * (1 + mxfp4_bytes)]);
    }
  });
  result.tensor = {name, "MXFP4", shape, result.bytes, values.file};
  return result;
}

}  // namespace tempera::gpu
