// A small model that knows conversations: random weights, and SmolLM2's chat template.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "tests/gpu/llm/transformer/architectures/formula_tensors.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::test {

inline const std::string smollm2_template =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
    "}}{% endif %}";

/// Writes the model into a folder. positions: the most tokens that it holds.
inline void write_chat_model(const std::filesystem::path& folder, std::size_t positions = 1024) {
  const std::filesystem::path fixtures =
      std::filesystem::path(TEMPERA_SOURCE_DIR) / "tests/fixtures";
  std::filesystem::create_directories(folder);
  auto config =
      nlohmann::json::parse(gpu::read_bytes(fixtures / "architectures/qwen3/config.json"));
  config["vocab_size"] = 512;
  config["eos_token_id"] = 502;  // <|im_end|>
  config["max_position_embeddings"] = positions;
  std::ofstream(folder / "config.json") << config.dump();
  config = nlohmann::json::parse(config.dump());  // a reader takes whole numbers without a sign
  gpu::FormulaTensors tensors;
  const gpu::Qwen3 model(gpu::Qwen3::configuration(JsonObject(config, "config.json")), tensors,
                         gpu::default_kernels());
  gpu::write_safetensors(folder, tensors.made());
  std::filesystem::copy_file(fixtures / "tokenizer/qwen_like/tokenizer.json",
                             folder / "tokenizer.json");
  std::ofstream(folder / "tokenizer_config.json")
      << nlohmann::json{{"chat_template", smollm2_template}, {"eos_token", "<|im_end|>"}}.dump();
}

}  // namespace tempera::test
