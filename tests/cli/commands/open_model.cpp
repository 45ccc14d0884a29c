// What opening a model takes: the command's own peak of memory, on folders as large as a layer more
// or less makes them.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.hpp"

namespace {

using namespace tempera::test;

constexpr std::size_t hidden = 512;
constexpr std::size_t inner = 2048;

/// A folder of bfloat16 weights.
class LargeModel {
 public:
  explicit LargeModel(std::size_t layers) {
    std::filesystem::create_directory(path());
    const nlohmann::json config{{"model_type", "qwen3"},
                                {"hidden_size", hidden},
                                {"intermediate_size", inner},
                                {"num_hidden_layers", layers},
                                {"num_attention_heads", 8},
                                {"num_key_value_heads", 4},
                                {"head_dim", 64},
                                {"vocab_size", 32},
                                {"max_position_embeddings", 64},
                                {"rms_norm_eps", 1e-6},
                                {"rope_theta", 10000.0},
                                {"hidden_act", "silu"},
                                {"tie_word_embeddings", true},
                                {"eos_token_id", 0}};
    std::ofstream(path() / "config.json") << config;
    add("model.embed_tokens.weight", {32, hidden});
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const std::string prefix = "model.layers." + std::to_string(layer) + ".";
      for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
        add(prefix + norm + ".weight", {hidden});
      for (const char* norm : {"self_attn.q_norm", "self_attn.k_norm"})
        add(prefix + norm + ".weight", {64});
      for (const char* square : {"self_attn.q_proj", "self_attn.o_proj"})
        add(prefix + square + ".weight", {hidden, hidden});
      for (const char* half : {"self_attn.k_proj", "self_attn.v_proj"})
        add(prefix + half + ".weight", {hidden / 2, hidden});
      for (const char* wide : {"mlp.gate_proj", "mlp.up_proj"})
        add(prefix + wide + ".weight", {inner, hidden});
      add(prefix + "mlp.down_proj.weight", {hidden, inner});
    }
    add("model.norm.weight", {hidden});
    const std::string header = header_.dump();
    std::ofstream file(path() / "model.safetensors", std::ios::binary);
    for (int i = 0; i < 8; ++i) file.put(static_cast<char>(header.size() >> (8 * i)));
    file << header;
    const std::string kibibyte = [] {
      std::string bytes;
      for (int i = 0; i < 512; ++i) {
        bytes += static_cast<char>(i);
        bytes += '\x3C';  // all bfloat16s near 1/128
      }
      return bytes;
    }();
    for (std::size_t left = bytes_; left > 0; left -= std::min(left, kibibyte.size()))
      file.write(kibibyte.data(), static_cast<std::streamsize>(std::min(left, kibibyte.size())));
  }

  std::filesystem::path path() const { return folder_ / "model"; }
  std::size_t bytes() const { return bytes_; }

 private:
  void add(const std::string& name, const std::vector<std::size_t>& shape) {
    std::size_t size = 2;
    for (const std::size_t extent : shape) size *= extent;
    header_[name] = {
        {"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {bytes_, bytes_ + size}}};
    bytes_ += size;
  }

  TemporaryFolder folder_;
  nlohmann::json header_;
  std::size_t bytes_ = 0;
};

/// The most bytes that the command held while it opened the model and scored a token.
std::size_t peak_of(const LargeModel& model, const std::string& arithmetic) {
  const std::string line = "exec " TEMPERA_BINARY " score --tokens 1,2 --powers 1 --arithmetic " +
                           arithmetic + " --model " + model.path().string() + " >/dev/null";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  struct rusage usage {};
  wait4(child, &status, 0, &usage);
  CHECK(status == 0);
  return static_cast<std::size_t>(usage.ru_maxrss) << 10;
}

}  // namespace

TEST_CASE("opening a model takes the memory of its packed weights and of one tensor") {
  const LargeModel small(1);
  const LargeModel large(9);
  const std::size_t more = large.bytes() - small.bytes();
  for (const char* arithmetic : {"float32", "tensor-core"}) {
    CAPTURE(arithmetic, more);
    // A layer's largest product, its buffers and all else are in both: what they differ by is
    // weights, packed in the bytes of the file, and 1/16 of that for the allocator and the threads.
    // Were what is packed not let go of, it would be twice as much.
    const std::size_t peaks = peak_of(large, arithmetic) - peak_of(small, arithmetic);
    CHECK(peaks > more / 2);
    CHECK(peaks < more + more / 16);
  }
}
