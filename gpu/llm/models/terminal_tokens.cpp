#include "gpu/llm/models/terminal_tokens.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "base/json_document.hpp"
#include "gpu/llm/transformer/architectures/model_config.hpp"

namespace tempera::gpu {

std::vector<std::uint32_t> read_terminal_tokens(const std::filesystem::path& path,
                                                const Transformer& model,
                                                const Tokenizer* tokenizer) {
  const auto file = path / "generation_config.json";  // below a GGUF file nothing is
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    const auto document = read_json_file(file);
    const auto ends = read_named_ends(JsonObject(document, file.string()), model.vocabulary_size());
    if (!ends.empty()) return ends;
  }
  const auto named = model.named_ends();
  std::set<std::uint32_t> ends(named.begin(), named.end());
  if (tokenizer != nullptr)
    for (const auto token : tokenizer->known_ends())
      if (token < model.vocabulary_size()) ends.insert(token);
  return {ends.begin(), ends.end()};
}

}  // namespace tempera::gpu
