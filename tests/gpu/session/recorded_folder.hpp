#pragma once

// A run whose folder is recorded, byte for byte.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/fingerprint.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu::recorded {

/// The settings of runs of a model whose layers all attend.
inline SamplingSettings settings_of_runs() {
  SamplingSettings settings;
  settings.model = "random";
  settings.model_path = "/random";
  settings.arithmetic = Arithmetic::tensor_core;
  settings.prompts = {{"one", {1, 2, 3}},
                      {"other", {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6}}};
  settings.terminal = {10};
  settings.powers = {1.0, 1.6, 2.5};
  settings.horizon = 9;
  settings.block = 5;
  settings.rounds = {2, 1};
  settings.local_moves = {1};
  settings.sweeps = {1};
  settings.output = 3;
  settings.samples = 2;
  settings.seed = 8;
  return settings;
}

inline std::unique_ptr<Transformer> model_of(const Kernels& kernels) {
  DecoderConfig config;
  config.vocab_size = 11;
  config.hidden_size = 40;
  config.intermediate_size = 56;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 18;
  config.max_position_embeddings = 64;
  return random_qwen3(config, 31, kernels);
}

inline void run_in_folder(LanguageModel& model, RunFolder& folder,
                          const SamplingSettings& settings) {
  Job(model, settings, numbers_of, &folder, {}, {.checkpoint_seconds = 0.0}).run();
}

/// The hash of the name and the bytes of every file in the folder but that of times.
inline std::string fingerprint_of_folder(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().filename() != "speed.json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::uint64_t> bytes;
  for (const auto& file : files) {
    for (const char c : file.filename().string()) bytes.push_back(static_cast<unsigned char>(c));
    std::ifstream in(file, std::ios::binary);
    for (std::istreambuf_iterator<char> at(in), end; at != end; ++at)
      bytes.push_back(static_cast<unsigned char>(*at));
  }
  return fingerprint_of(bytes);
}

/// The folder that the run leaves under `tensor-core` and under `tensor-core-ampere`. A change of
/// what a folder holds needs new values here and in tests/devices/resumed_runs.cpp.
inline constexpr const char* of_hopper = "ea114f67a44c1aa6";
inline constexpr const char* of_ampere = "821e00009f9dbb28";

}  // namespace tempera::gpu::recorded
