// Qwen3.5's text model against Hugging Face transformers in float32, on a text of several chunks of
// the recurrence and many pages; and what a defect would do.
#include <nlohmann/json.hpp>

#include "gpu/llm/transformer/architectures/qwen3_5.hpp"
#include "tests/gpu/llm/transformer/architectures/expected_logits.hpp"
#include "tests/gpu/llm/transformer/architectures/parity_table.hpp"
#include "tests/gpu/llm/transformer/architectures/plain_recurrent.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"

namespace tempera::gpu::parity_recurrent_test {

namespace {

Qwen3_5Config fixture_config() {
  const auto file = architecture_fixtures / "qwen3_5/config.json";
  const auto document = read_json_file(file);
  return Qwen3_5::configuration(JsonObject(document, file.string()));
}

LogitsByPosition produced(const Qwen3_5Config& config, const std::vector<TokenId>& tokens,
                          const Kernels& kernels) {
  FormulaTensors tensors;
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

}  // namespace tempera::gpu::parity_recurrent_test
