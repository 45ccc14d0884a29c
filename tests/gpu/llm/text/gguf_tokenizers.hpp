// Small tokenizers as GGUF files, which a test may break.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/llm/text/tokenizer.hpp"
#include "gpu/llm/transformer/weights/gguf.hpp"
#include "tests/gpu/llm/transformer/weights/gguf_bytes.hpp"

namespace tempera::gpu {

/// A tokenizer of the format, which a test may break.
struct GgufTokenizer {
  std::string model = "gpt2";
  std::string pre = "smollm";
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<std::string> merges;
  std::vector<float> scores;
  std::optional<std::string> architecture = "llama";
  std::optional<bool> adds_bos, adds_eos, adds_space;
  std::uint32_t bos = 0;

  void add_to(GgufBytes& file) const {
    const auto boolean = [&](const std::string& key, std::optional<bool> value) {
      if (value)
        file.add("tokenizer.ggml." + key, gguf_type::boolean, std::string(1, *value ? '\1' : '\0'));
    };
    file.add_text("tokenizer.ggml.model", model);
    file.add_text("tokenizer.ggml.pre", pre);
    file.add_texts("tokenizer.ggml.tokens", tokens);
    file.add_numbers("tokenizer.ggml.token_type", gguf_type::int32, types);
    if (!merges.empty()) file.add_texts("tokenizer.ggml.merges", merges);
    if (!scores.empty()) file.add_numbers("tokenizer.ggml.scores", gguf_type::float32, scores);
    file.add("tokenizer.ggml.bos_token_id", gguf_type::uint32, little_endian(bos));
    boolean("add_bos_token", adds_bos);
    boolean("add_eos_token", adds_eos);
    boolean("add_space_prefix", adds_space);
  }

  std::string bytes() const {
    GgufBytes file;
    if (architecture) file.add_text("general.architecture", *architecture);
    add_to(file);
    return file.bytes();
  }

  Tokenizer tokenizer() const {
    const auto file = bytes();
    const auto content = read_gguf(std::as_bytes(std::span<const char>(file)), "m.gguf");
    return Tokenizer::from_gguf(content.metadata);
  }
};

/// 0: <end>; 1: <tool>; 2: unused; then letters, a space, digits and their merges.
inline GgufTokenizer byte_level_gguf() {
  GgufTokenizer metadata;
  metadata.tokens = {"<end>",
                     "<tool>",
                     "[PAD2]",
                     "a",
                     "b",
                     "\xC4\xA0",
                     "1",
                     "2",
                     "ab",
                     "\xC4\xA0"
                     "ab",
                     "12",
                     "e",
                     "\xC3\x8C",
                     "\xC4\xA3",
                     "\xC3\x83",
                     "\xC2\xA9",
                     "xy"};
  metadata.types = {3, 4, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  metadata.merges = {"a b", "\xC4\xA0 ab", "1 2"};
  return metadata;
}

/// 0: <unk>, 1: <s>, 2: </s>, 3..258: bytes, then pieces of SentencePiece.
inline GgufTokenizer scored_gguf() {
  GgufTokenizer metadata;
  metadata.model = "llama";
  metadata.pre = "default";
  metadata.architecture = "phi3";
  metadata.tokens = {"<unk>", "<s>", "</s>"};
  metadata.types = {2, 3, 4};
  for (int byte = 0; byte < 256; ++byte) {
    char spelled[8];
    std::snprintf(spelled, sizeof spelled, "<0x%02X>", static_cast<unsigned>(byte) & 0xFFU);
    metadata.tokens.emplace_back(spelled);
    metadata.types.push_back(6);
  }
  for (const char* piece : {"\xE2\x96\x81", "a", "b", "ab",
                            "\xE2\x96\x81"
                            "a",
                            "ba", "aba"}) {
    metadata.tokens.emplace_back(piece);
    metadata.types.push_back(1);
  }
  for (std::size_t i = 0; i < metadata.tokens.size(); ++i)
    metadata.scores.push_back(-static_cast<float>(i));
  metadata.bos = 1;
  return metadata;
}

}  // namespace tempera::gpu
