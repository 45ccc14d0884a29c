#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "gpu/llm/text/tokenizer.hpp"
#include "gpu/llm/transformer/transformer.hpp"

namespace tempera::gpu {

/// The tokens that end a text of a model, ascending, by one rule for folders and GGUF files: those
/// of the folder's generation_config.json; where that is missing or names none, those that
/// config.json or the metadata of the GGUF file names, and those that the tokenizer knows by their
/// names (Tokenizer::known_ends).
///
/// path: the folder or the GGUF file. tokenizer: null if the model has none.
/// @throw BadInput naming file, key and remedy for a token that the model does not have
std::vector<std::uint32_t> read_terminal_tokens(const std::filesystem::path& path,
                                                const Transformer& model,
                                                const Tokenizer* tokenizer);

}  // namespace tempera::gpu
