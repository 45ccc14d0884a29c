#include "gpu/llm/text/tokenizer.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "gpu/llm/text/encoding_stop.hpp"
#include "gpu/llm/text/token_limit.hpp"
#include "gpu/llm/text/tokenizer_parts.hpp"

namespace tempera::gpu {

namespace {

/// The names by which llama.cpp knows the tokens that end a generation, but for those that fill or
/// separate the parts of a program (fim_pad, fim_repo, file_sep): no published
/// generation_config.json names these.
constexpr std::array<std::string_view, 23> names_of_ends{"</s>",
                                                         "<EOT>",
                                                         "<end_of_turn>",
                                                         "<end_of_utterance>",
                                                         "<eos>",
                                                         "<turn|>",
                                                         "<|call|>",
                                                         "<|calls|>",
                                                         "<|end_of_text|>",
                                                         "<|endoftext|>",
                                                         "<|end|>",
                                                         "<|eom_id|>",
                                                         "<|eot_id|>",
                                                         "<|flush|>",
                                                         "<|ifm|im_end|>",
                                                         "<|im_end|>",
                                                         "<|return|>",
                                                         "<|tool_response>",
                                                         "<｜end▁of▁sentence｜>",
                                                         "[EOS]",
                                                         "[EOT]",
                                                         "[e~[",
                                                         "_<EOT>"};

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::size_t Tokenizer::vocabulary_size() const { return parts_->texts.size(); }

std::optional<std::uint32_t> Tokenizer::find(std::string_view token) const {
  const auto found = parts_->vocabulary.find(std::string(token));
  if (found == parts_->vocabulary.end()) return std::nullopt;
  return found->second;
}

const std::vector<std::uint32_t>& Tokenizer::beginning() const { return parts_->beginning; }

std::vector<std::uint32_t> Tokenizer::known_ends() const {
  std::vector<std::uint32_t> ends;
  const auto is_added = [&](std::string_view name) {
    const auto token = find(name);
    return token && parts_->added.contains(*token);
  };
  const bool ends_messages = (is_added("<|call|>") || is_added("<|calls|>")) &&
                             (is_added("<|return|>") || is_added("<|flush|>"));
  for (const auto name : names_of_ends) {
    if (name == "<|end|>" && ends_messages) continue;
    if (name == "</s>" && is_added("<|tool_response>")) continue;
    if (is_added(name)) ends.push_back(*find(name));
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

std::vector<std::uint32_t> Tokenizer::encode(std::string_view text,
                                             const std::string& where) const {
  const auto invalid = first_invalid_utf8(text);
  if (invalid != text.size()) {
    throw BadInput(where, "byte " + std::to_string(invalid) + " is not UTF-8",
                   "give the text in UTF-8");
  }
  std::vector<std::uint32_t> tokens;
  std::size_t words = 0;
  const auto encode_word = [&](const std::string& word) {
    TokenLimit::check_count(tokens.size());
    if (++words % 1024 == 0) EncodingStop::check();
    if (const auto* pairs = std::get_if<BytePairEncoding>(&parts_->model)) {
      const auto encoded = pairs->encode(word, where);
      tokens.insert(tokens.end(), encoded.begin(), encoded.end());
      return;
    }
    const auto found = parts_->vocabulary.find(word);
    const auto unknown = std::get<Parts::WordLevel>(parts_->model).unknown;
    if (found == parts_->vocabulary.end() && !unknown)
      refuse_untokenizable(word, where, parts_->file);
    tokens.push_back(found == parts_->vocabulary.end() ? *unknown : found->second);
  };
  for (const auto& piece : parts_->raw_tokens.split(text)) {
    if (piece.id) {
      tokens.push_back(*piece.id);
      continue;
    }
    const auto normalized = parts_->normalizer(piece.text);
    for (const auto& part : parts_->normalized_tokens.split(normalized)) {
      if (part.id) {
        tokens.push_back(*part.id);
        continue;
      }
      const bool is_first =
          piece.text.data() == text.data() && part.text.data() == normalized.data();
      for (const auto& word : parts_->pre_tokenizer->words(part.text, is_first)) encode_word(word);
    }
  }
  return tokens;
}

std::string Tokenizer::decode(std::span<const std::uint32_t> tokens) const {
  TextStream stream(*this);
  std::string text;
  for (const auto token : tokens) text += stream.push(token);
  return text + stream.finish();
}

std::string Tokenizer::piece(std::uint32_t token) const {
  return token < parts_->texts.size() ? replace_invalid_utf8(parts_->texts[token]) : "";
}

std::string Tokenizer::bytes(std::uint32_t token) const {
  return token < parts_->texts.size() ? parts_->separator + parts_->texts[token] : "";
}

std::string TextStream::push(std::uint32_t token) {
  const auto& parts = *tokenizer_->parts_;
  last_.clear();
  if (token >= parts.texts.size() || parts.texts[token].empty()) return "";
  if (parts.bytes.contains(token)) {
    bytes_ += parts.texts[token];
    const bool is_stripped = strips_ && stripped_ + bytes_.size() <= parts.leading_spaces &&
                             bytes_.find_first_not_of(' ') == std::string::npos;
    if (!is_stripped) last_ = parts.texts[token];
    return "";
  }
  end_bytes();
  const auto before = pending_.size();
  if (!is_first_) pending_ += parts.separator;
  const auto first = is_first_ ? parts.first_texts.find(token) : parts.first_texts.end();
  append(first == parts.first_texts.end() ? parts.texts[token] : first->second);
  last_ = pending_.substr(before);
  const auto whole = pending_.size() - unfinished_utf8(pending_);
  auto text = replace_invalid_utf8(std::string_view(pending_).substr(0, whole));
  pending_.erase(0, whole);
  return text;
}

std::string TextStream::finish() {
  end_bytes();
  return replace_invalid_utf8(std::exchange(pending_, ""));
}

void TextStream::append(std::string_view text) {
  is_first_ = false;
  for (const char byte : text) {
    if (strips_ && stripped_ < tokenizer_->parts_->leading_spaces && byte == ' ') {
      ++stripped_;
    } else {
      strips_ = false;
      pending_ += byte;
    }
  }
}

void TextStream::end_bytes() {
  if (bytes_.empty()) return;
  const std::string bytes = std::exchange(bytes_, "");
  if (first_invalid_utf8(bytes) == bytes.size()) return append(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) append("\uFFFD");
}

}  // namespace tempera::gpu
