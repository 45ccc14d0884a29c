// Whole GGUF files, opened as a run opens them, through the CUDA kernels on fibers, against the
// host's form: every type of weights that a file can hold is in each.
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "tests/gpu/llm/transformer/architectures/model_answers.hpp"
#include "tests/gpu/llm/transformer/architectures/model_files.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu {

namespace {

/// From a prompt of two pages on, and the end of a second one.
constexpr std::size_t tokens_of_the_text = 35;

ModelAnswers answers_of_file(const std::filesystem::path& file, const Kernels& kernels,
                             RowLottery& rows) {
  std::vector<TokenId> text;
  for (TokenId i = 0; i < tokens_of_the_text; ++i) text.push_back((i * i + 5 * i + i / 9) % 61);
  const auto model = Transformer::load(file, kernels);
  return answers_of(*model, rows, text);
}

void require_same_integer_answers(const GgufPair& files) {
  const test::TemporaryFolder folder;
  write_file(folder / "model.gguf", files.stored.bytes());
  const auto answers = answers_of_file(folder / "model.gguf", default_kernels(Arithmetic::integer),
                                       *make_device_row_lottery());
  const CudaIntegerKernels on_fibers(5);
  CHECK((answers_of_file(folder / "model.gguf", on_fibers, *make_cuda_row_lottery()) == answers));
  CHECK(on_fibers.steps() > 0);
}

void require_same_answers(const GgufPair& files) {
  const test::TemporaryFolder folder;
  write_file(folder / "model.gguf", files.stored.bytes());
  const auto& host = default_kernels(Arithmetic::tensor_core);
  const auto answers = answers_of_file(folder / "model.gguf", host, *make_device_row_lottery());
  REQUIRE(answers.after_each_prefix[0] != answers.after_each_prefix[1]);
  for (const StepForm steps : {StepForm::graph, StepForm::launches}) {
    const CudaKernels on_fibers(5, std::nullopt, steps);
    INFO(on_fibers.name());
    CHECK((answers_of_file(folder / "model.gguf", on_fibers, *make_cuda_row_lottery()) == answers));
    CHECK(on_fibers.steps() > 0);
    // The pieces of the prompt and the batch by launches of their own.
    CHECK(on_fibers.launches() > on_fibers.steps());
  }
}

/// The types in turn: a model of 15 matrices and more has each of them at least once.
WeightType in_turn(std::size_t matrix) { return weight_types[matrix % weight_types.size()]; }

}  // namespace

TEST_CASE("a GGUF file of every type of weights has the host's bits on fibers, from file to draw",
          "[long]") {
  require_same_answers(llama_gguf(in_turn));
  require_same_answers(qwen35_gguf(in_turn));
}

TEST_CASE("a GGUF file of every type of weights has the host's integer bits on fibers",
          "[integer]") {
  require_same_integer_answers(llama_gguf(in_turn));
}

}  // namespace tempera::gpu
