// The configuration of a folder of Qwen3, for tests that compute with it themselves.
#pragma once

#include <filesystem>

#include "gpu/llm/transformer/architectures/qwen3.hpp"

namespace tempera::gpu {

inline DecoderConfig read_qwen3_config(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  const auto document = read_json_file(file);
  return Qwen3::configuration(JsonObject(document, file.string()));
}

}  // namespace tempera::gpu
