// What is left after a step whose rows are computed and one of them cannot be drawn from.
#include "base/error.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/simt/transformer/forwarding_kernels.hpp"
#include "tests/simt/transformer/step_history.hpp"

using namespace tempera;
using namespace tempera::tests;

namespace {

/// CUDA's step, which fails after its work once it is told to, as it does for a row of NaN.
class FailingStep final : public gpu::TokenStep {
 public:
  FailingStep(std::unique_ptr<gpu::TokenStep> step, const bool& fails)
      : step_(std::move(step)), fails_(fails) {}
  std::vector<gpu::ScoredToken> run(const gpu::StepModel& model, std::span<const gpu::StepRow> rows,
                                    Copies copies, Copies state_copies) override {
    auto drawn = step_->run(model, rows, copies, state_copies);
    if (fails_) throw ModelError("row 0 of the logits holds NaN");
    return drawn;
  }

 private:
  std::unique_ptr<gpu::TokenStep> step_;
  const bool& fails_;
};

class FailingKernels final : public ForwardingKernels {
 public:
  FailingKernels() : ForwardingKernels(2) {}
  std::unique_ptr<gpu::TokenStep> make_token_step() const override {
    return std::make_unique<FailingStep>(cuda().make_token_step(), fails);
  }
  bool fails = false;
};

}  // namespace

TEST_CASE("tokens that a step has computed are held, though a row cannot be drawn from") {
  FailingKernels kernels;
  const auto model = gpu::random_qwen3(step_config(), 7, kernels);
  const auto rows = gpu::make_cuda_row_lottery();
  gpu::PhiloxLottery lottery;
  gpu::DeviceMemory<float> logits;
  const std::vector<double> powers = {1.0, 2.0};
  const std::vector<gpu::RowDraw> draws = {{powers, 1, {}}};
  const std::vector<gpu::TokenId> text = {4, 5, 6};
  const auto whole = model->empty_cache();
  const auto cut = model->empty_cache();
  const auto drawn = [&](gpu::Cache& cache, std::span<const gpu::TokenId> tokens) {
    const std::vector<gpu::Pass> passes = {{&cache, tokens}};
    return model->next_tokens(passes, draws, *rows, lottery, logits);
  };
  const auto expected = drawn(*whole, text);
  const std::uint64_t computed = model->tokens_computed();
  kernels.fails = true;
  CHECK_THROWS_AS(drawn(*cut, text), ModelError);
  CHECK(cut->length() == text.size());
  CHECK(model->tokens_computed() == computed + text.size());
  // Asked again, the head alone runs.
  kernels.fails = false;
  CHECK(drawn(*cut, {}) == expected);
  CHECK(model->tokens_computed() == computed + text.size());
}
