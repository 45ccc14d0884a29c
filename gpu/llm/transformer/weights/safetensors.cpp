#include "gpu/llm/transformer/weights/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"

namespace tempera::gpu {

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t largest_header = 100'000'000;  // the format's own limit

static_assert(std::endian::native == std::endian::little, "tensors are read as they are stored");

/// Bits of one element; 0 for a dtype that the format does not know.
std::uint64_t element_bits(const std::string& dtype) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 15> known{{{"BOOL", 8},
                                                                              {"U8", 8},
                                                                              {"I8", 8},
                                                                              {"F8_E5M2", 8},
                                                                              {"F8_E4M3", 8},
                                                                              {"I16", 16},
                                                                              {"U16", 16},
                                                                              {"F16", 16},
                                                                              {"BF16", 16},
                                                                              {"I32", 32},
                                                                              {"U32", 32},
                                                                              {"F32", 32},
                                                                              {"F64", 64},
                                                                              {"I64", 64},
                                                                              {"U64", 64}}};
  const auto* found = std::find_if(known.begin(), known.end(),
                                   [&](const auto& entry) { return entry.first == dtype; });
  return found == known.end() ? 0 : found->second;
}

/// a·b, unless it passes 2^63.
std::optional<std::uint64_t> bounded_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t bound = std::uint64_t{1} << 63;
  if (b != 0 && a > bound / b) return std::nullopt;
  return a * b;
}

std::uint64_t read_little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    value |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

std::string_view header_text(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < length_bytes) {
    throw BadInput(file,
                   "has " + std::to_string(bytes.size()) + " bytes, fewer than the " +
                       std::to_string(length_bytes) + " that give the header's length",
                   download_again);
  }
  const auto length = read_little_endian(bytes);
  const auto rest = bytes.size() - length_bytes;
  if (length > largest_header || length > rest) {
    throw BadInput(file,
                   "says that its header has " + std::to_string(length) + " bytes, but " +
                       (length > rest ? "only " + std::to_string(rest) + " follow"
                                      : "the format allows " + std::to_string(largest_header)),
                   download_again + " (it is truncated, a Git LFS pointer, or not safetensors)");
  }
  return {reinterpret_cast<const char*>(bytes.data()) + length_bytes,
          static_cast<std::size_t>(length)};
}

std::uint64_t whole_number(const nlohmann::json& value, const std::string& where) {
  if (!value.is_number_unsigned()) {
    throw BadInput(where, "a shape or offset is not a whole number", download_again);
  }
  return value.get<std::uint64_t>();
}

StoredTensor read_entry(const nlohmann::json& value, std::span<const std::byte> data,
                        const std::string& name, const std::string& file) {
  const JsonObject entry(value, file + ", tensor " + in_quotes(name));
  entry.check_keys({"dtype", "shape", "data_offsets"});
  StoredTensor tensor;
  tensor.name = name;
  tensor.file = file;
  tensor.dtype = entry.text("dtype");
  const auto bits = element_bits(tensor.dtype);
  if (bits == 0) {
    throw BadInput(entry.where(), "dtype " + in_quotes(tensor.dtype) + " is not known",
                   "store it as F32 or BF16");
  }
  std::optional<std::uint64_t> size = bits / 8;
  for (const auto& extent : entry.array("shape")) {
    tensor.shape.push_back(whole_number(extent, entry.where()));
    if (size) size = bounded_product(*size, tensor.shape.back());
  }
  const auto& offsets = entry.array("data_offsets");
  if (offsets.size() != 2) {
    throw BadInput(entry.where(), "\"data_offsets\" is not a pair", download_again);
  }
  const auto begin = whole_number(offsets[0], entry.where());
  const auto end = whole_number(offsets[1], entry.where());
  if (begin > end || end > data.size()) {
    throw BadInput(entry.where(),
                   "bytes " + std::to_string(begin) + ".." + std::to_string(end) +
                       " are outside the file's " + std::to_string(data.size()) + " bytes of data",
                   download_again + " (it may be truncated)");
  }
  if (!size || *size != end - begin) {
    throw BadInput(
        entry.where(),
        "has " + std::to_string(end - begin) + " bytes, which is not what its dtype and shape need",
        download_again);
  }
  tensor.bytes = data.subspan(begin, end - begin);
  return tensor;
}

/// The format's metadata: texts by their names.
void require_texts(const nlohmann::json& value, const std::string& where) {
  const JsonObject metadata(value, where);
  for (const std::string& key : metadata.keys()) metadata.text(key);
}

/// Every byte of the data belongs to exactly one tensor.
void require_partition(const std::map<std::string, StoredTensor>& tensors,
                       std::span<const std::byte> data, const std::string& file) {
  std::vector<std::pair<std::size_t, const std::pair<const std::string, StoredTensor>*>> order;
  for (const auto& entry : tensors) {
    if (entry.second.bytes.empty()) continue;
    order.emplace_back(static_cast<std::size_t>(entry.second.bytes.data() - data.data()), &entry);
  }
  std::sort(order.begin(), order.end());
  std::size_t covered = 0;
  for (const auto& [begin, entry] : order) {
    if (begin != covered) {
      throw BadInput(file + ", tensor " + in_quotes(entry->first),
                     begin < covered ? "its bytes overlap those of another tensor"
                                     : "bytes before it belong to no tensor",
                     download_again);
    }
    covered += entry->second.bytes.size();
  }
  if (covered != data.size()) {
    throw BadInput(
        file, "its last " + std::to_string(data.size() - covered) + " bytes belong to no tensor",
        download_again);
  }
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const auto extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text + "]";
}

}  // namespace

void require_shape(const StoredTensor& tensor, std::span<const std::uint64_t> shape,
                   const std::string& asker) {
  if (!std::equal(tensor.shape.begin(), tensor.shape.end(), shape.begin(), shape.end())) {
    throw BadInput(tensor.file + ", tensor " + in_quotes(tensor.name),
                   "has shape " + shape_text(tensor.shape) + " where " + asker + " asks for " +
                       shape_text(shape),
                   "use the " + asker + " that belongs to these weights");
  }
}

std::map<std::string, StoredTensor> read_safetensors(std::span<const std::byte> bytes,
                                                     const std::string& file) {
  const auto text = header_text(bytes, file);
  const auto data = bytes.subspan(length_bytes + text.size());
  const auto header = parse_json(text, file + ", header");
  if (!header.is_object()) throw BadInput(file, "its header is not an object", download_again);
  std::map<std::string, StoredTensor> tensors;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__")
      require_texts(value, file + ", __metadata__");
    else
      tensors.emplace(name, read_entry(value, data, name, file));
  }
  require_partition(tensors, data, file);
  return tensors;
}

TensorFiles::TensorFiles(const std::filesystem::path& folder) {
  const auto single = folder / "model.safetensors";
  const auto index = folder / "model.safetensors.index.json";
  if (!std::filesystem::exists(single) && std::filesystem::exists(index)) {
    file_ = index.string();
    map_index(folder, index);
  } else {
    file_ = single.string();
    map_file(single);
  }
}

void TensorFiles::map_file(const std::filesystem::path& file) {
  files_.emplace_back(file);
  for (auto& [name, tensor] : read_safetensors(files_.back().bytes(), file.string())) {
    const auto [twin, is_new] = tensors_.emplace(name, std::move(tensor));
    if (!is_new) {
      throw BadInput(file.string() + ", tensor " + in_quotes(name),
                     "is also in " + twin->second.file, "remove one of the two");
    }
  }
}

void TensorFiles::map_index(const std::filesystem::path& folder,
                            const std::filesystem::path& index) {
  const auto document = read_json_file(index);
  const JsonObject json(document, index.string());
  json.check_keys({"weight_map"}, {"metadata"});
  const auto map = json.object("weight_map");
  std::map<std::string, std::string> file_of_tensor;
  std::set<std::string> files;
  for (const auto& [name, value] : json.at("weight_map").items()) {
    const auto file = map.text(name);
    const bool has_control = std::any_of(
        file.begin(), file.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (file.empty() || file == "." || file == ".." || has_control ||
        std::filesystem::path(file).filename() != file) {
      throw BadInput(index.string() + ", tensor " + in_quotes(name),
                     "is mapped to something other than the name of a file in this folder",
                     "name the file that holds it");
    }
    file_of_tensor[name] = (folder / file).string();
    files.insert(file);
  }
  for (const auto& file : files) map_file(folder / file);
  for (const auto& [name, file] : file_of_tensor) {
    const auto tensor = tensors_.find(name);
    if (tensor == tensors_.end() || tensor->second.file != file) {
      throw BadInput(index.string() + ", tensor " + in_quotes(name), "is not in " + file,
                     "download the folder again");
    }
  }
  for (const auto& [name, tensor] : tensors_) {
    if (!file_of_tensor.contains(name))
      throw BadInput(tensor.file + ", tensor " + in_quotes(name),
                     "is not listed in " + index.filename().string(), "download the folder again");
  }
}

const StoredTensor& TensorFiles::tensor(const std::string& name,
                                        std::span<const std::uint64_t> shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw BadInput(file_ + ", tensor " + in_quotes(name), "is missing",
                   "download the folder again, or mend config.json");
  }
  require_shape(found->second, shape, "config.json");
  return found->second;
}

}  // namespace tempera::gpu
