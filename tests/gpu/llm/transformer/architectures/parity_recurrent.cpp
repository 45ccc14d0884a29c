// Qwen3.5's text model against Hugging Face transformers in float32, on a text of several chunks of
// the recurrence and many pages; and what a defect would do.
#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/parity_table.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_recurrent.hpp"
#include "tests/gpu/llm/transformer/architectures/qwen3_5_gguf.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::parity_recurrent_test {

namespace {

Qwen3_5Config fixture_config(const std::string& name = "qwen3_5") {
  const auto file = architecture_fixtures / name / "config.json";
  const auto document = read_json_file(file);
  return Qwen3_5::configuration(JsonObject(document, file.string()));
}

LogitsByPosition produced(const Qwen3_5Config& config, const std::vector<TokenId>& tokens,
                          const Kernels& kernels, const FormulaTensors::Edit& edit = {}) {
  FormulaTensors tensors(edit);
  Transformer transformer(std::make_unique<Qwen3_5>(config, tensors, kernels));
  DeviceMemory<float> memory;
  transformer.logits_at_every_position(tokens, memory);
  LogitsByPosition rows;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    rows.push_back(memory.download(row * config.vocab_size, config.vocab_size));
  }
  return rows;
}

LogitsByPosition recomputed(const Qwen3_5Config& config, const std::vector<TokenId>& tokens,
                            RecurrentDefect defect) {
  LogitsByPosition rows;
  for (const auto& row : PlainRecurrent(config, defect).logits(tokens)) {
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

}  // namespace

// The tolerance of the other architectures holds here too. A recurrent layer is a chain of six
// steps like theirs (projection, convolution, delta rule, norm, gate, output), and the delta rule's
// error grows no faster than the length of the text: with |key| = 1 and a strength and a decay in
// [0, 1], decay · (1 - strength · key key^T) lengthens no error that the memory has already.
TEST_CASE("Qwen3.5 has the logits of Hugging Face transformers to float32 rounding",
          "[transformer][parity][recurrent]") {
  const ExpectedLogits expected("qwen3_5");
  const auto config = fixture_config();
  REQUIRE(expected.positions() >= 400);
  REQUIRE(expected.logits.size() == expected.positions() * config.vocab_size);
  const double tolerance = expected.tolerance(config);
  ParityRow table{"qwen3_5", Arithmetic::float32, 0.0, tolerance};
  for (const Kernels* kernels : forms_of_the_kernels()) {
    const double distance = expected.distance(produced(config, expected.tokens, *kernels)).largest;
    INFO(kernels->name() << ": distance " << distance << ", tolerance " << tolerance);
    CHECK(distance <= tolerance);
    table.distance = std::max(table.distance, distance);
  }
  CHECK(expected.distance(recomputed(config, expected.tokens, RecurrentDefect::none)).largest <=
        tolerance);
  for (int defect = 1; defect <= static_cast<int>(last_recurrent_defect); ++defect) {
    const auto rows = recomputed(config, expected.tokens, static_cast<RecurrentDefect>(defect));
    const double distance = expected.distance(rows).largest;
    INFO("defect " << defect << ": distance " << distance << ", tolerance " << tolerance);
    CHECK(distance > 10.0 * tolerance);
    table.nearest_defect = std::min(table.nearest_defect, distance);
  }
  write_parity(table, expected);
}

// The chain that the other architectures' tolerance follows is no bound here: a delta rule writes
// differences of values and answers that are nearly as large. What the same roundings do to the
// model in double is measured instead, e. The production makes the same ones of numbers that differ
// by float32's errors, which now and then tips one over to the neighbouring bfloat16: no more of
// them than there are, so that those add no more than e again, and its distance is at most 2 e.
TEST_CASE("under tensor-core Qwen3.5 has those logits to bfloat16 rounding",
          "[transformer][parity][recurrent][tensor-core]") {
  const ExpectedLogits expected("qwen3_5");
  const auto config = fixture_config();
  const auto rows = produced(config, expected.tokens, default_kernels(Arithmetic::tensor_core));
  const double distance = expected.distance(rows).mean;
  LogitsByPosition rounded;
  for (const auto& row :
       PlainRecurrent(config, RecurrentDefect::none, true).logits(expected.tokens)) {
    rounded.emplace_back(row.begin(), row.end());
  }
  const double of_roundings = expected.distance(rounded).mean;
  INFO("distance " << distance << ", of the roundings alone " << of_roundings);
  CHECK(distance <= 2.0 * of_roundings);
  CHECK(of_roundings <= 2.0 * distance);  // it is another arithmetic
  ParityRow table{"qwen3_5", Arithmetic::tensor_core, distance, 2.0 * of_roundings};
  for (const auto defect :
       {RecurrentDefect::output_gate_dropped, RecurrentDefect::decay_dropped,
        RecurrentDefect::value_written_whole, RecurrentDefect::memory_lost_at_checkpoints}) {
    INFO("defect " << static_cast<int>(defect));
    const double of_defect = expected.distance(recomputed(config, expected.tokens, defect)).mean;
    CHECK(of_defect > 2.0 * of_roundings);
    table.nearest_defect = std::min(table.nearest_defect, of_defect);
  }
  write_parity(table, expected);
}

TEST_CASE("Qwen3.5 with experts has the logits of Hugging Face transformers",
          "[transformer][parity][recurrent][experts]") {
  const ExpectedLogits expected("qwen3_5_moe");
  const auto config = fixture_config("qwen3_5_moe");
  REQUIRE(expected.positions() >= 400);
  const double tolerance = expected.tolerance(config);
  for (const Kernels* kernels : forms_of_the_kernels()) {
    const double distance = expected.distance(produced(config, expected.tokens, *kernels)).largest;
    INFO(kernels->name() << ": distance " << distance << ", tolerance " << tolerance);
    CHECK(distance <= tolerance);
  }
  const auto requires_seen = [&](const Qwen3_5Config& wrong, const FormulaTensors::Edit& edit) {
    const auto rows = produced(wrong, expected.tokens, default_kernels(), edit);
    CHECK(expected.distance(rows).largest > 10.0 * tolerance);
  };
  const auto zeros_of = [](const std::string& part) {
    return [=](const std::string& name, std::vector<float>& values) {
      if (name.find(part) != std::string::npos) std::fill(values.begin(), values.end(), 0.0f);
    };
  };
  auto wrong = config;
  wrong.experts->renormalises = false;
  requires_seen(wrong, {});
  wrong = config;
  ++wrong.experts->chosen;
  requires_seen(wrong, {});
  requires_seen(config, zeros_of("shared_expert.down_proj"));  // no shared expert
  requires_seen(config, zeros_of("shared_expert_gate"));       // half of it
  requires_seen(config, zeros_of(".experts."));
}

TEST_CASE("Qwen3.5 with experts has the same bits from its folders and from GGUF",
          "[architecture][gguf][recurrent][experts]") {
  const ModelFolder folder("untied_float32");
  auto document = read_json_file(architecture_fixtures / "qwen3_5_moe/config.json");
  // GGUF has it as a float32.
  document["rms_norm_eps"] = static_cast<double>(0.05f);
  const auto config = Qwen3_5::configuration(JsonObject(document, "config.json"));
  const auto tensors = qwen35::tensors_of(config);
  folder.write("config.json", document.dump());
  folder.write("generation_config.json", "{}");
  write_safetensors(folder.path(), tensors);
  auto file = qwen35::metadata_of(config);
  qwen35::add_tensors(file, config, tensors);
  folder.write("model.gguf", file.bytes());
  const std::vector<TokenId> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  const auto logits = [&](const std::filesystem::path& path, Arithmetic arithmetic) {
    return qwen35::logits_of(*Transformer::load(path, default_kernels(arithmetic)), text);
  };
  for (const auto arithmetic : arithmetics) {
    INFO(name_of(arithmetic));
    const auto expected = logits(folder.path(), arithmetic);
    CHECK((logits(folder.path() / "model.gguf", arithmetic) == expected));
  }
  // The text model of one that sees images, as its folder has it.
  const auto alone = logits(folder.path(), Arithmetic::float32);
  const nlohmann::json outer{{"model_type", "qwen3_5_moe"}, {"text_config", document}};
  folder.write("config.json", outer.dump());
  qwen35::Tensors renamed;
  for (const auto& [name, made] : tensors)
    renamed[name.starts_with("model.") ? "model.language_model." + name.substr(6) : name] = made;
  write_safetensors(folder.path(), renamed);
  CHECK((logits(folder.path(), Arithmetic::float32) == alone));
  document["norm_topk_prob"] = false;
  require_bad_input([&] { Qwen3_5::configuration(JsonObject(document, "config.json")); },
                    {"config.json", "norm_topk_prob"});
  document.erase("norm_topk_prob");
  document["model_type"] = "qwen3_5_text";
  document["intermediate_size"] = 56;
  require_bad_input([&] { Qwen3_5::configuration(JsonObject(document, "config.json")); },
                    {"config.json", "moe_intermediate_size"});
}

}  // namespace tempera::gpu::parity_recurrent_test
