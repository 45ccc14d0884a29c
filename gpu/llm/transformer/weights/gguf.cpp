#include "gpu/llm/transformer/weights/gguf.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/transformer/weights/dequantise.hpp"

namespace tempera::gpu {

namespace {

constexpr std::string_view magic = "GGUF";
constexpr std::uint32_t oldest_version = 2;
constexpr std::uint32_t newest_version = 3;
constexpr const char* alignment_key = "general.alignment";
constexpr std::uint64_t default_alignment = 32;
constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 20;
constexpr std::uint64_t most_extents = 4;

/// The format's types of tensors by their number; those of no name are gone or were never there.
constexpr std::array<std::string_view, 42> type_names{
    "F32",     "F16",   "Q4_0",   "Q4_1",  "",      "",       "Q5_0", "Q5_1",    "Q8_0",
    "Q8_1",    "Q2_K",  "Q3_K",   "Q4_K",  "Q5_K",  "Q6_K",   "Q8_K", "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "I8",   "I16",     "I32",
    "I64",     "F64",   "IQ1_M",  "BF16",  "",      "",       "",     "TQ1_0",   "TQ2_0",
    "",        "",      "",       "MXFP4", "NVFP4", "Q1_0"};

std::string type_name(std::uint32_t type) {
  if (type >= type_names.size() || type_names[type].empty()) return std::to_string(type);
  return std::string(type_names[type]);
}

void check_version(GgufCursor& cursor) {
  const std::string remedy = "give a GGUF file of version 2 or 3";
  if (cursor.left() < magic.size())
    throw BadInput(cursor.file(), "is too short to be a GGUF file", download_again);
  const auto start = cursor.parts(magic.size(), 1, "header");
  if (std::memcmp(start.data(), magic.data(), magic.size()) != 0) {
    throw BadInput(cursor.file(), "does not begin with \"GGUF\"",
                   remedy + " (it may be a Git LFS pointer)");
  }
  const auto version = cursor.number32("header");
  if (version < oldest_version || version > newest_version) {
    throw BadInput(cursor.file(),
                   (version & 0xFFFFU) == 0 ? std::string("is big-endian, or of no known version")
                                            : "is of version " + std::to_string(version),
                   remedy);
  }
}

std::uint64_t read_alignment(const GgufMetadata& metadata) {
  const std::string key = alignment_key;
  if (!metadata.has(key)) return default_alignment;
  const auto alignment = metadata.whole_number(key, 8, largest_alignment);
  if (alignment % 8 != 0) {
    throw BadInput(metadata.where(key), std::to_string(alignment) + " is not a multiple of 8",
                   "convert the model again");
  }
  return alignment;
}

/// A tensor of the table, and where the table puts its bytes.
struct Entry {
  StoredTensor tensor;
  std::uint64_t offset;
  std::uint64_t size;
};

/// The bytes of a tensor: rows of whole blocks. BadInput if they cannot all be in `most` bytes.
std::uint64_t stored_size(const StoredTensor& tensor, const StoredBlock& block, std::uint64_t most,
                          const std::string& where) {
  const auto row = tensor.shape.back();
  if (row % block.elements != 0) {
    throw BadInput(where,
                   "has rows of " + std::to_string(row) + " elements, no multiple of the " +
                       std::to_string(block.elements) + " in a block of " + tensor.dtype,
                   "convert the model again");
  }
  std::uint64_t size = block.bytes;
  const auto times = [&](std::uint64_t factor) {
    if (factor == 0 || factor > most / size) {
      throw BadInput(where,
                     factor == 0 ? std::string("has an extent of 0")
                                 : "is larger than the file's " + std::to_string(most) + " bytes",
                     download_again);
    }
    size *= factor;
  };
  times(row / block.elements);
  for (std::size_t i = 0; i + 1 < tensor.shape.size(); ++i) times(tensor.shape[i]);
  return size;
}

Entry read_entry(GgufCursor& cursor, const std::string& named, std::uint64_t file_size) {
  Entry entry;
  const auto name = cursor.text(named);
  if (name.empty() || first_invalid_utf8(name) != name.size()) {
    throw BadInput(cursor.file() + ", " + named, "its name is empty or not UTF-8", download_again);
  }
  const std::string in = "tensor " + in_quotes(name);
  const std::string where = cursor.file() + ", " + in;
  entry.tensor.name = name;
  entry.tensor.file = cursor.file();
  const auto extents = cursor.number32(in);
  if (extents == 0 || extents > most_extents) {
    throw BadInput(where, "has " + std::to_string(extents) + " extents, where GGUF allows 1 to 4",
                   download_again);
  }
  for (std::uint32_t i = 0; i < extents; ++i) entry.tensor.shape.push_back(cursor.number64(in));
  std::reverse(entry.tensor.shape.begin(), entry.tensor.shape.end());
  entry.tensor.dtype = type_name(cursor.number32(in));
  entry.offset = cursor.number64(in);
  const auto block = stored_block(entry.tensor.dtype);
  if (!block) {
    throw BadInput(where, "type " + entry.tensor.dtype + " is not supported",
                   "use a file of F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, "
                   "Q5_K, Q6_K, IQ4_NL, IQ4_XS and MXFP4 alone");
  }
  entry.size = stored_size(entry.tensor, *block, file_size, where);
  return entry;
}

/// Gives every tensor its bytes, which follow one another at multiples of the alignment.
void assign_data(std::vector<Entry>& entries, std::span<const std::byte> data,
                 std::uint64_t alignment, const std::string& file) {
  std::vector<Entry*> order;
  for (auto& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const Entry* a, const Entry* b) { return a->offset < b->offset; });
  std::uint64_t end = 0;  // at most the size of the data: no sum below can wrap
  for (auto* entry : order) {
    const auto where = file + ", tensor " + in_quotes(entry->tensor.name);
    const auto expected = (end + alignment - 1) / alignment * alignment;
    if (entry->offset != expected) {
      throw BadInput(where,
                     "is at byte " + std::to_string(entry->offset) + " of the data, where byte " +
                         std::to_string(expected) + " follows the tensor before it",
                     download_again);
    }
    if (entry->offset > data.size() || entry->size > data.size() - entry->offset) {
      throw BadInput(where,
                     "its " + std::to_string(entry->size) + " bytes at byte " +
                         std::to_string(entry->offset) + " end after the file's " +
                         std::to_string(data.size()) + " bytes of data",
                     download_again + " (it may be truncated)");
    }
    entry->tensor.bytes = data.subspan(entry->offset, entry->size);
    end = entry->offset + entry->size;
  }
  if (data.size() - end >= alignment) {
    throw BadInput(file,
                   "its last " + std::to_string(data.size() - end) + " bytes belong to no tensor",
                   download_again);
  }
}

}  // namespace

namespace {

constexpr const char* split_count = "split.count";
constexpr const char* split_number = "split.no";
constexpr const char* split_tensors = "split.tensors.count";
constexpr std::uint64_t most_parts = 65535;
constexpr std::uint64_t most_tensors = std::uint64_t{1} << 31;

/// "-00001-of-00003.gguf": how the name of a part ends. Both numbers are counted from 1.
std::string end_of_name(std::size_t number, std::size_t parts) {
  std::array<char, 64> end{};
  std::snprintf(end.data(), end.size(), "-%05zu-of-%05zu.gguf", number, parts);
  return end.data();
}

std::string part_of(std::size_t number, std::size_t parts) {
  return "part " + std::to_string(number) + " of " + std::to_string(parts);
}

/// The number of files into which a model was split; 0 and 1 mean that it was not.
std::size_t parts_of(const GgufMetadata& metadata) {
  if (!metadata.has(split_count)) return 1;
  return std::max<std::size_t>(metadata.whole_number(split_count, 0, most_parts), 1);
}

std::vector<std::filesystem::path> files_of(const GgufMetadata& metadata,
                                            const std::filesystem::path& first) {
  std::vector<std::filesystem::path> files{first};
  const std::size_t parts = parts_of(metadata);
  if (parts == 1) return files;
  const std::size_t number = metadata.whole_number(split_number, 0, parts - 1) + 1;
  const std::string name = first.filename();
  const std::string end = end_of_name(number, parts);
  const bool is_named = name.ends_with(end) && name.size() > end.size();
  const std::string begin = is_named ? name.substr(0, name.size() - end.size()) : "NAME";
  if (number != 1) {
    throw BadInput(first.string(), "is " + part_of(number, parts) + " of a model",
                   "give its first part, " + begin + end_of_name(1, parts));
  }
  if (!is_named) {
    throw BadInput(first.string(),
                   "is " + part_of(number, parts) +
                       " of a model, and its name does not say what the others are called",
                   "call it " + begin + end + ", with the others beside it");
  }
  for (std::size_t i = 2; i <= parts; ++i)
    files.push_back(first.parent_path() / (begin + end_of_name(i, parts)));
  return files;
}

/// Reads the begin of a file: its metadata and the number of tensors that follow.
GgufMetadata read_metadata(GgufCursor& cursor, std::uint64_t& tensors) {
  check_version(cursor);
  tensors = cursor.number64("header");
  const auto values = cursor.number64("header");
  return {cursor, values};
}

const std::string same_download = "download all parts again, from one place";

/// Refuses a part whose number is not that of its name, or whose metadata the first part lacks.
void require_part(const GgufMetadata& part, const GgufMetadata& first, std::size_t number,
                  std::size_t parts) {
  if (parts_of(part) != parts || part.whole_number(split_number, 0, most_parts) + 1 != number) {
    throw BadInput(
        part.file(),
        "is " + part_of(part.whole_number(split_number, 0, most_parts) + 1, parts_of(part)) +
            " of a model by its metadata, and " + part_of(number, parts) + " by its name",
        same_download);
  }
  for (const auto& key : part.keys()) {
    if (key == split_number || key == alignment_key || part.has_same(key, first)) continue;
    throw BadInput(part.where(key), "is not what " + first.file() + " says",
                   "the two belong to different models: " + same_download);
  }
}

}  // namespace

std::vector<std::filesystem::path> gguf_files(const std::filesystem::path& first) {
  const MappedFile mapped(first);
  GgufCursor cursor(mapped.bytes(), first.string());
  std::uint64_t tensors = 0;
  return files_of(read_metadata(cursor, tensors), first);
}

GgufFile::GgufFile(const std::filesystem::path& file)
    : first_(file), content_(read_gguf(first_.bytes(), file.string())) {
  const auto files = files_of(content_.metadata, file);
  if (files.size() == 1) return;
  const auto tensors = metadata().whole_number(split_tensors, 0, most_tensors);
  for (std::size_t i = 1; i < files.size(); ++i) add_part(files[i], i + 1, files.size());
  if (content_.tensors.size() != tensors) {
    throw BadInput(metadata().where(split_tensors),
                   "is " + std::to_string(tensors) + ", and all parts together hold " +
                       std::to_string(content_.tensors.size()) + " tensors",
                   same_download);
  }
}

void GgufFile::add_part(const std::filesystem::path& file, std::size_t number, std::size_t parts) {
  if (!is_there(file)) {
    throw BadInput(
        file.string(),
        "is missing: it is " + part_of(number, parts) + " of the model of " + metadata().file(),
        "put all parts into one folder");
  }
  later_.emplace_back(file);
  auto part = read_gguf(later_.back().bytes(), file.string());
  require_part(part.metadata, metadata(), number, parts);
  for (auto& [name, tensor] : part.tensors) {
    const auto [twin, is_new] = content_.tensors.emplace(name, std::move(tensor));
    if (!is_new) {
      throw BadInput(file.string() + ", tensor " + in_quotes(name),
                     "is also in " + twin->second.file, same_download);
    }
  }
}

GgufContent read_gguf(std::span<const std::byte> bytes, const std::string& file) {
  GgufCursor cursor(bytes, file);
  std::uint64_t tensors = 0;
  GgufContent content{read_metadata(cursor, tensors), {}};
  const auto alignment = read_alignment(content.metadata);
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    const auto named = "tensor " + std::to_string(i + 1) + " of " + std::to_string(tensors);
    entries.push_back(read_entry(cursor, named, bytes.size()));
  }
  const auto begin = std::min<std::uint64_t>(
      (cursor.offset() + alignment - 1) / alignment * alignment, bytes.size());
  assign_data(entries, bytes.subspan(begin), alignment, file);
  for (auto& entry : entries) {
    const auto name = entry.tensor.name;
    if (!content.tensors.emplace(name, std::move(entry.tensor)).second) {
      throw BadInput(file + ", tensor " + in_quotes(name), "is given twice",
                     "remove one of the two");
    }
  }
  return content;
}

}  // namespace tempera::gpu
