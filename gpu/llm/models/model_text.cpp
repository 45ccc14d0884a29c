#include "gpu/llm/models/model_text.hpp"

#include <array>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/regular_file.hpp"

namespace tempera::gpu {

namespace {

std::shared_ptr<const GgufFile> open_gguf(const std::filesystem::path& path) {
  std::error_code error;
  if (!is_there(path)) {
    throw BadInput(path.empty() ? "model" : path.string(), "does not exist",
                   "give a folder with tokenizer.json, or a GGUF file");
  }
  require_no_special_file(path);
  if (std::filesystem::is_directory(path, error)) return nullptr;
  if (!is_gguf(path)) {
    throw BadInput(path.string(), "is neither a folder nor a GGUF file",
                   "give a folder with tokenizer.json, or a GGUF file");
  }
  return std::make_shared<const GgufFile>(path);
}

}  // namespace

bool is_gguf(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;  // a pipe is read only once
  std::array<char, 4> start{};
  std::ifstream stream(file, std::ios::binary);
  return stream.read(start.data(), start.size()) &&
         std::string_view(start.data(), start.size()) == "GGUF";
}

std::vector<std::filesystem::path> parts_of_model(const std::filesystem::path& file) {
  if (is_gguf(file)) return gguf_files(file);
  return {file};
}

ModelText::ModelText(const std::filesystem::path& path)
    : path_(path),
      file_(open_gguf(path)),
      tokenizer_(file_ ? Tokenizer::from_gguf(file_->metadata()) : Tokenizer::load(path)) {}

ModelText::ModelText(std::shared_ptr<const GgufFile> file)
    : file_(std::move(file)), tokenizer_(Tokenizer::from_gguf(file_->metadata())) {}

ChatFormat ModelText::chat_format() const {
  return file_ ? ChatFormat::from_gguf(file_->metadata()) : ChatFormat::load(path_);
}

std::vector<std::uint32_t> ModelText::encode(std::string_view text,
                                             const std::string& where) const {
  auto tokens = tokenizer_.beginning();
  const auto encoded = tokenizer_.encode(text, where);
  tokens.insert(tokens.end(), encoded.begin(), encoded.end());
  return tokens;
}

std::vector<std::uint32_t> ModelText::encode_chat(std::span<const ChatMessage> messages,
                                                  const ChatArguments& arguments,
                                                  const std::string& where) const {
  return tokenizer_.encode(chat_format().render(messages, arguments, where), where);
}

}  // namespace tempera::gpu
