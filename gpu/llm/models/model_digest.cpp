#include "gpu/llm/models/model_digest.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/sha256.hpp"
#include "base/text_file.hpp"
#include "gpu/llm/models/model_text.hpp"

namespace tempera::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t whole_file = std::uint64_t{4} << 20;
constexpr std::uint64_t first_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t block_bytes = 4096;
constexpr std::uint64_t blocks = 256;

void take_bytes(const OpenFile& open, const fs::path& file, std::uint64_t offset,
                std::uint64_t size, std::string& text) {
  std::string piece(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t count = ::pread(open.descriptor(), piece.data() + got, size - got,
                                  static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_unreadable(file, errno);
    if (count == 0) throw BadInput(file.string(), "became shorter while it was read", "try again");
    got += static_cast<std::size_t>(count);
  }
  text += piece;
}

/// What the digest takes of a file, but for its name.
std::string digest_of(const fs::path& file) {
  const OpenFile open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!open) refuse_unreadable(file, errno);
  const std::uint64_t size = size_of(file);
  std::string text = std::to_string(size) + '\n';
  if (size <= whole_file) {
    take_bytes(open, file, 0, size, text);
  } else {
    take_bytes(open, file, 0, first_bytes, text);
    const std::uint64_t room = size - first_bytes - block_bytes;
    for (std::uint64_t block = 1; block <= blocks; ++block)
      take_bytes(open, file, first_bytes + room / blocks * block, block_bytes, text);
    take_bytes(open, file, size - block_bytes, block_bytes, text);
  }
  return sha256(text);
}

bool is_of_model(const fs::path& file) {
  const std::string end = file.extension();
  return end == ".safetensors" || end == ".json" || end == ".jinja" || end == ".gguf";
}

}  // namespace

std::string model_digest(const std::string& path) {
  std::error_code error;
  std::string text;
  if (!fs::is_directory(path, error)) {
    for (const fs::path& part : parts_of_model(path)) text += digest_of(part);
    return sha256(text);
  }
  std::vector<std::string> names;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (is_of_model(entry->path()) && !fs::is_directory(entry->path()))
      names.push_back(entry->path().filename());
  if (error)
    throw BadInput(path, "cannot be read (" + error.message() + ")", "give a folder you may read");
  std::sort(names.begin(), names.end());
  for (const std::string& name : names)
    text += name + '\n' + digest_of(fs::path(path) / name) + '\n';
  return sha256(text);
}

}  // namespace tempera::gpu
