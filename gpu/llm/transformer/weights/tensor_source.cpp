#include "gpu/llm/transformer/weights/tensor_source.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "gpu/llm/transformer/weights/packed_weights_file.hpp"
#include "gpu/llm/transformer/weights/scramble.hpp"

namespace tempera::gpu {

namespace {

/// Outputs begin .. begin + out - 1 of a stored map [outputs, in].
StoredTensor outputs_of(const StoredTensor& map, std::size_t begin, std::size_t out) {
  StoredTensor part = map;
  const auto row_bytes = map.bytes.size() / static_cast<std::size_t>(map.shape[0]);
  part.shape[0] = out;
  part.bytes = map.bytes.subspan(begin * row_bytes, out * row_bytes);
  return part;
}

/// How many outputs a part's tensor has.
std::size_t stored_outputs(const TensorSource::Part& part) {
  return part.stored == 0 ? part.out : part.stored;
}

/// What a matrix is made of: "NAME[BEGIN:END of STORED] + … from IN".
std::string description_of(const std::vector<TensorSource::Part>& parts, std::size_t in,
                           Arithmetic arithmetic) {
  std::string text;
  for (const auto& part : parts) {
    text += (text.empty() ? "" : " + ") + part.name + "[" + std::to_string(part.begin) + ":" +
            std::to_string(part.begin + part.out) + " of " + std::to_string(stored_outputs(part)) +
            "]";
  }
  text += " from " + std::to_string(in);
  // Beside it there may be the same as it is looked up.
  return arithmetic == Arithmetic::integer ? text + " as whole numbers" : text;
}

}  // namespace

DeviceMemory<float> TensorSource::vector(const std::string& name, std::size_t size) {
  DeviceMemory<float> result(std::span<const float>(read_vector(tensor(name, {size}))));
  release();
  return result;
}

std::vector<float> TensorSource::elements(const std::string& name, const Shape& shape) {
  StoredTensor flat = tensor(name, shape);
  std::uint64_t size = 1;
  for (const auto extent : shape) size *= extent;
  flat.shape = {size};
  auto result = read_vector(flat);
  release();
  return result;
}

PackedMatrix TensorSource::matrix(const std::string& name, std::size_t out, std::size_t in,
                                  Arithmetic arithmetic) {
  return stacked({{name, out}}, in, arithmetic);
}

PackedMatrix TensorSource::stacked(const std::vector<Part>& parts, std::size_t in,
                                   Arithmetic arithmetic) {
  const auto pack_it = [&] { return pack(parts, in, arithmetic); };
  PackedMatrix matrix;
  if (packed_file_ == nullptr) {
    matrix = pack_it();
  } else {
    use_all(parts, in);
    matrix = packed_file_->matrix(description_of(parts, in, arithmetic), pack_it);
  }
  packed_ += work_of(matrix);
  return matrix;
}

void TensorSource::use_all(const std::vector<Part>& parts, std::size_t in) {
  for (const auto& part : parts) use(part.name, {stored_outputs(part), in});
  release();
}

PackedMatrix TensorSource::pack(const std::vector<Part>& parts, std::size_t in,
                                Arithmetic arithmetic) {
  std::vector<StoredTensor> slices;
  const StoredTensor* stored = nullptr;
  std::string latest;
  for (const auto& part : parts) {
    // A source may make a tensor anew each time that it is asked.
    if (stored == nullptr || latest != part.name) {
      stored = &tensor(part.name, {stored_outputs(part), in});
      latest = part.name;
    }
    slices.push_back(outputs_of(*stored, part.begin, part.out));
  }
  std::vector<const StoredTensor*> matrices;
  for (const auto& slice : slices) matrices.push_back(&slice);
  auto result = pack_matrices(matrices, arithmetic);
  release();
  return result;
}

DeviceMemory<float> TensorSource::stacked_vector(std::initializer_list<Part> parts) {
  std::vector<float> all;
  for (const auto& part : parts) {
    const auto values = read_vector(tensor(part.name, {part.out}));
    all.insert(all.end(), values.begin(), values.end());
    all.resize(padded(all.size()));
  }
  release();
  return DeviceMemory<float>(std::span<const float>(all));
}

std::string FolderTensors::name_in_files(const std::string& name) const {
  constexpr std::string_view model = "model.";
  if (const auto taken = taken_for_.find(name); taken != taken_for_.end()) return taken->second;
  return name.starts_with(model) ? prefix_ + name.substr(model.size()) : name;
}

std::optional<StoredTensor> FolderTensors::of_stacked_experts(const std::string& name,
                                                              const Shape& shape) {
  const std::string in_files = name_in_files(name);
  const auto expert = expert_tensor(in_files);
  if (experts_ == 0 || !expert || files_.tensors().contains(in_files)) return std::nullopt;
  const bool is_down = expert->part == "down_proj";
  const std::string stack = expert->prefix + (is_down ? expert->part : "gate_up_proj");
  if (!files_.tensors().contains(stack)) return std::nullopt;
  const std::uint64_t out = shape[0];
  const auto& stored = files_.tensor(stack, Shape{experts_, is_down ? out : 2 * out, shape[1]});
  used_.use(stored);
  return part_of_stack(stored, expert->number, expert->part == "up_proj" ? out : 0, shape);
}

std::optional<InterleavedExpert> FolderTensors::of_interleaved_experts(const std::string& name,
                                                                       const Shape& shape) {
  if (!interleaves_) return std::nullopt;
  auto expert = interleaved_expert(files_, name_in_files(name), shape, experts_);
  if (expert)
    for (const auto* part : expert->all()) used_.use(*part);
  return expert;
}

const StoredTensor& FolderTensors::tensor(const std::string& name, const Shape& shape) {
  if (const auto expert = of_interleaved_experts(name, shape))
    return dequantised_.emplace_back(rows_of_expert(*expert, name_in_files(name), shape)).tensor;
  if (auto part = of_stacked_experts(name, shape)) return parts_.emplace_back(std::move(*part));
  if (const auto map = used_map(name, shape)) {
    return dequantised_
        .emplace_back(dequantised_map(*map, *quantisation_, name_in_files(name), shape))
        .tensor;
  }
  return files_.tensor(name_in_files(name), shape);
}

std::optional<QuantisedMap> FolderTensors::used_map(const std::string& name, const Shape& shape) {
  const std::string in_files = name_in_files(name);
  const auto map = quantisation_ ? quantised_map(files_, *quantisation_, in_files, shape)
                                 : std::optional<QuantisedMap>();
  if (map) {
    for (const auto* part : map->all()) used_.use(*part);
  } else {
    used_.use(files_.tensor(in_files, shape));
  }
  return map;
}

void UsedTensors::require_all(const std::map<std::string, StoredTensor>& tensors,
                              const std::function<bool(const std::string& name)>& is_redundant,
                              const std::string& asker) const {
  for (const auto& [name, tensor] : tensors) {
    if (!used_.contains(name) && !is_redundant(name)) {
      throw BadInput(tensor.file + ", tensor " + in_quotes(name),
                     "is not one that the model of " + asker + " would use",
                     "use the " + asker + " that belongs to these weights");
    }
  }
}

RandomTensors::RandomTensors(std::uint64_t seed) : key_(scramble(seed)) {}

const StoredTensor& RandomTensors::tensor(const std::string& name, const Shape& shape) {
  const auto [known, is_new] = keys_.try_emplace(name, 0);
  if (is_new) known->second = key_ = scramble(key_);
  const std::uint64_t key = known->second;
  const bool is_vector = shape.size() == 1;
  std::size_t size = 1;
  for (const auto extent : shape) size *= static_cast<std::size_t>(extent);
  // A power of two near 2 / sqrt(inputs): a variance between 1/3 and 4/3 of 1 / inputs.
  float scale = 1.0f;
  if (!is_vector) {
    for (std::uint64_t inputs = shape[1]; inputs > 4; inputs /= 4) scale *= 0.5f;
  }
  auto& made = made_.emplace_back();
  made.values.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    // A whole number in [-2^23, 2^23), which a float32 holds exactly.
    const auto word = static_cast<std::int64_t>(scramble(key + i) >> 40) - (std::int64_t{1} << 23);
    const float unit = static_cast<float>(word) * 0x1p-23f;
    made.values[i] = is_vector ? 1.0f + 0.5f * unit : scale * unit;
  }
  made.tensor = {name, "F32", shape, std::as_bytes(std::span<const float>(made.values)),
                 "random weights"};
  return made.tensor;
}

}  // namespace tempera::gpu
