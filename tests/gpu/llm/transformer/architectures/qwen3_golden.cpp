#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/transformer.hpp"
#include "tests/gpu/llm/transformer/architectures/model_folder.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_forward.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_folder.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu::qwen3_golden_test {

namespace {

constexpr std::array all_defects{Defect::query_norm_dropped,
                                 Defect::key_norm_dropped,
                                 Defect::norm_weight_ignored,
                                 Defect::final_norm_dropped,
                                 Defect::keys_rotated_one_position_late,
                                 Defect::neighbours_rotated_together,
                                 Defect::heads_share_keys_in_turn,
                                 Defect::attention_not_scaled,
                                 Defect::own_token_not_attended,
                                 Defect::gate_and_up_exchanged,
                                 Defect::residual_dropped};

/// What transformers computed for a fixture, and the models to compare with it.
struct Golden {
  std::filesystem::path folder;
  std::vector<TokenId> tokens;
  std::vector<float> logits;  // [positions, vocabulary]

  explicit Golden(const std::string& name) : folder(qwen3_fixtures / name) {
    const auto list = nlohmann::json::parse(read_bytes(folder / "tokens.json"));
    tokens = list.get<std::vector<TokenId>>();
    const auto bytes = read_bytes(folder / "logits.bin");
    logits.resize(bytes.size() / sizeof(float));
    std::memcpy(logits.data(), bytes.data(), bytes.size());
  }

  /// How far two float32 evaluations of the same model may be apart.
  ///
  /// u = 2^-24 is float32's unit roundoff. A dot product of n terms errs by at most n·u times the
  /// product of the norms of its two vectors, and n <= 64 throughout these models (the longest: the
  /// attention output). Each of a layer's two blocks is a chain of at most 4 such steps (norm,
  /// queries/keys or gate/up, mixing over positions or the activation, output) that feeds a stream
  /// which the next RMSNorm brings back to norm 1, so to first order the relative error grows by at
  /// most 4·64·u per block and by 64·u in the head; each of the two evaluations makes it once, and
  /// a logit's scale is that of the largest.
  double tolerance(const DecoderConfig& config) const {
    const double steps = 4.0 * 2.0 * static_cast<double>(config.num_hidden_layers) + 1.0;
    double scale = 0.0;
    for (const float logit : logits) scale = std::max(scale, std::abs(double{logit}));
    return 2.0 * steps * 64.0 * 0x1p-24 * scale;
  }

  /// How far the logits of the tensor-core arithmetic may be from these in root mean square.
  ///
  /// u = 2^-8 is bfloat16's unit roundoff: a value is rounded by a relative error that spreads
  /// evenly over at most [-u, u], so by u / sqrt(3) in root mean square. A dot product has two
  /// rounded factors in every term, whose errors are independent and as often up as down: its error
  /// is at most sqrt(2) · u / sqrt(3) of the root mean square of its result over random factors.
  /// There are as many such steps in a chain as in tolerance(), each followed by a norm that keeps
  /// relative errors, and their errors are independent too, so that squares add. What is cut off in
  /// the tensor core, 2^-24 at most a step, is nothing beside it.
  double bfloat16_tolerance(const DecoderConfig& config) const {
    const double steps = 4.0 * 2.0 * static_cast<double>(config.num_hidden_layers) + 1.0;
    double squares = 0.0;
    for (const float logit : logits) squares += double{logit} * double{logit};
    return std::sqrt(2.0 * steps / 3.0) * 0x1p-8 *
           std::sqrt(squares / static_cast<double>(logits.size()));
  }

  template <class Row>
  double distance(const std::vector<Row>& rows) const {
    double worst = 0.0;
    for_each_difference(rows, [&](double difference) {
      // A NaN is larger than nothing.
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    });
    return worst;
  }

  /// In root mean square.
  template <class Row>
  double mean_distance(const std::vector<Row>& rows) const {
    double squares = 0.0;
    for_each_difference(rows, [&](double difference) { squares += difference * difference; });
    return std::sqrt(squares / static_cast<double>(logits.size()));
  }

 private:
  template <class Row, class Take>
  void for_each_difference(const std::vector<Row>& rows, const Take& take) const {
    const std::size_t vocabulary = logits.size() / tokens.size();
    for (std::size_t i = 0; i < logits.size(); ++i) {
      take(std::abs(double{logits[i]} - static_cast<double>(rows[i / vocabulary][i % vocabulary])));
    }
  }
};

std::vector<std::vector<float>> rows_of(Transformer& transformer,
                                        const std::vector<TokenId>& tokens) {
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(tokens, memory);
  std::vector<std::vector<float>> rows;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    rows.push_back(
        memory.download(row * transformer.vocabulary_size(), transformer.vocabulary_size()));
  }
  return rows;
}

}  // namespace

TEST_CASE("the logits are those of Hugging Face transformers to float32 rounding",
          "[transformer]") {
  const auto* name = GENERATE("untied_float32", "tied_bfloat16_sharded");
  const Golden golden(name);
  const auto transformer = Transformer::load(golden.folder);
  REQUIRE(golden.logits.size() == golden.tokens.size() * transformer->vocabulary_size());
  const double distance = golden.distance(rows_of(*transformer, golden.tokens));
  const double tolerance = golden.tolerance(read_qwen3_config(golden.folder));
  INFO(name << ": distance " << distance << ", tolerance " << tolerance);
  CHECK(distance <= tolerance);
}

TEST_CASE("under tensor-core the logits are those of Hugging Face to bfloat16 rounding",
          "[transformer][tensor-core]") {
  const auto* name = GENERATE("untied_float32", "tied_bfloat16_sharded");
  const Golden golden(name);
  const auto config = read_qwen3_config(golden.folder);
  const auto transformer =
      Transformer::load(golden.folder, default_kernels(Arithmetic::tensor_core));
  const double distance = golden.mean_distance(rows_of(*transformer, golden.tokens));
  const double tolerance = golden.bfloat16_tolerance(config);
  INFO(name << ": distance " << distance << ", tolerance " << tolerance);
  CHECK(distance <= tolerance);
  CHECK(distance >
        100 * golden.mean_distance(rows_of(*Transformer::load(golden.folder), golden.tokens)));
  const TensorFiles files(golden.folder);
  for (const auto defect : all_defects) {
    INFO("defect " << static_cast<int>(defect));
    CHECK(golden.mean_distance(PlainForward(config, files, defect).logits(golden.tokens)) >
          10 * tolerance);
  }
}

TEST_CASE("the golden comparison sees a defect of the architecture", "[transformer]") {
  const auto* name = GENERATE("untied_float32", "tied_bfloat16_sharded");
  const Golden golden(name);
  const auto config = read_qwen3_config(golden.folder);
  const TensorFiles files(golden.folder);
  const double tolerance = golden.tolerance(config);
  const auto distance = [&](Defect defect) {
    return golden.distance(PlainForward(config, files, defect).logits(golden.tokens));
  };
  CHECK(distance(Defect::none) <= tolerance);
  for (const auto defect : all_defects) {
    INFO("defect " << static_cast<int>(defect));
    CHECK(distance(defect) > 10 * tolerance);
  }
}

TEST_CASE("the golden comparison sees a defect of the weights or the configuration",
          "[transformer]") {
  const ModelFolder folder("untied_float32");
  const Golden golden("untied_float32");
  SECTION("another base of the rotary positions") {
    folder.edit_json("config.json",
                     [](auto& config) { config["rope_parameters"]["rope_theta"] = 10000.0; });
  }
  SECTION("a wrong head is the embedding") {
    folder.edit_tensors([](auto& header, std::string& data) {
      const auto place = [&](const char* name, int end) {
        return header[name]["data_offsets"][end].template get<std::size_t>();
      };
      const std::size_t begin = place("model.embed_tokens.weight", 0);
      const std::size_t size = place("model.embed_tokens.weight", 1) - begin;
      data.replace(place("lm_head.weight", 0), size, data.substr(begin, size));
    });
  }
  SECTION("one weight lost its sign") {
    folder.edit_tensors([](auto& header, std::string& data) {
      const auto begin =
          header["model.layers.1.mlp.up_proj.weight"]["data_offsets"][0].template get<int>();
      data[static_cast<std::size_t>(begin) + 3] ^= static_cast<char>(0x80);
    });
  }
  const auto transformer = Transformer::load(folder.path());
  CHECK(golden.distance(rows_of(*transformer, golden.tokens)) >
        golden.tolerance(read_qwen3_config(folder.path())));
}

}  // namespace tempera::gpu::qwen3_golden_test
