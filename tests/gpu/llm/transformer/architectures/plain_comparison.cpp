// The forward pass against the same written plainly in double, where its constants can be seen: an
// epsilon as large as what it is added to, positions after the 256th, a configuration that does
// not speak of the head. The golden fixtures are too short and too close to the defaults for these.
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_forward.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_folder.hpp"

namespace tempera::gpu::plain_comparison_test {
namespace {

using Edit = std::function<void(nlohmann::json&)>;

std::vector<TokenId> text_of(std::size_t length) {
  std::vector<TokenId> tokens;
  for (TokenId i = 0; i < length; ++i) tokens.push_back((i * i + 3 * i) % 47);
  return tokens;
}

/// The farthest that a logit after any of `from`, …, `length` tokens is from the plain one, in
/// units of the rounding that is allowed.
///
/// As at the golden fixtures: u = 2^-24; a dot product of n terms errs by n·u of the product of its
/// vectors' norms, n being the longest of them, here the attention's sum over the text or 64; a
/// block is at most 4 such steps, and a division by the root of a mean can magnify them by no more
/// than 1/(1 − share of epsilon) < 2 here. The plain pass in double adds nothing that could be
/// seen.
double distance(const Edit& edit, std::size_t length, const Edit& edit_plain = {}) {
  const ModelFolder folder("untied_float32");
  folder.edit_json("config.json", edit);
  const auto transformer = Transformer::load(folder.path());
  const auto tokens = text_of(length);
  DeviceMemory<float> memory;
  transformer->logits_at_every_position(tokens, memory);

  if (edit_plain) folder.edit_json("config.json", edit_plain);
  const auto config = read_qwen3_config(folder.path());
  const TensorFiles files(folder.path());
  const auto plain = PlainForward(config, files, Defect::none).logits(tokens);

  double scale = 0.0, worst = 0.0;
  for (std::size_t row = 0; row < length; ++row) {
    const auto logits = memory.download(row * config.vocab_size, config.vocab_size);
    for (std::size_t v = 0; v < config.vocab_size; ++v) {
      scale = std::max(scale, std::abs(plain[row][v]));
      worst = std::max(worst, std::abs(double{logits[v]} - plain[row][v]));
    }
  }
  const double steps = 4.0 * 2.0 * static_cast<double>(config.num_hidden_layers) + 1.0;
  const double longest = std::max(64.0, static_cast<double>(length));
  return worst / (2.0 * steps * longest * 0x1p-24 * scale);
}

void without_change(nlohmann::json&) {}

}  // namespace

TEST_CASE("each norm adds its epsilon to the mean square") {
  const Edit large = [](nlohmann::json& config) { config["rms_norm_eps"] = 0.5; };
  CHECK(distance(large, 24) <= 1.0);
  // The comparison sees an epsilon that is left out.
  CHECK(distance(without_change, 24, large) > 100.0);
}

TEST_CASE("positions are rotated by their own angle after the 256th too", "[unsanitized]") {
  const Edit longer = [](nlohmann::json& config) {
    config["max_position_embeddings"] = 512;
    config["rope_parameters"]["rope_theta"] = 20.0;
  };
  CHECK(distance(longer, 300) <= 1.0);
  const Edit other = [](nlohmann::json& config) { config["rope_parameters"]["rope_theta"] = 21.0; };
  CHECK(distance(longer, 300, other) > 100.0);
}

TEST_CASE("the head is a matrix of its own where the configuration is silent") {
  const Edit silent = [](nlohmann::json& config) { config.erase("tie_word_embeddings"); };
  CHECK(distance(silent, 24) <= 1.0);
  const Edit untied = [](nlohmann::json& config) { config["tie_word_embeddings"] = false; };
  CHECK(distance(silent, 24, untied) <= 1.0);
  const Edit tied = [](nlohmann::json& config) { config["tie_word_embeddings"] = true; };
  CHECK(distance(silent, 24, tied) > 100.0);
}

}  // namespace tempera::gpu::plain_comparison_test
