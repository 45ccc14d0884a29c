// What is left after a step whose rows are computed and one of them cannot be drawn from.
#include <algorithm>

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

/// A model whose step may fail, and all that a draw from it needs.
struct Failing {
  FailingKernels kernels;
  std::unique_ptr<gpu::Transformer> model = gpu::random_qwen3(step_config(), 7, kernels);
  std::unique_ptr<gpu::RowLottery> rows = gpu::make_cuda_row_lottery();
  gpu::PhiloxLottery lottery;
  gpu::DeviceMemory<float> logits;

  std::vector<gpu::ScoredToken> draw(gpu::Cache& cache, std::span<const gpu::TokenId> tokens,
                                     std::span<const gpu::RowDraw> draws) {
    const std::vector<gpu::Pass> passes = {{&cache, tokens}};
    return model->next_tokens(passes, draws, *rows, lottery, logits);
  }
};

}  // namespace

TEST_CASE("tokens that a step has computed are held, though a row cannot be drawn from") {
  Failing failing;
  const auto& model = failing.model;
  const std::vector<double> powers = {1.0, 2.0};
  const std::vector<gpu::RowDraw> draws = {{powers, 1, {}}};
  const std::vector<gpu::TokenId> text = {4, 5, 6};
  const auto whole = model->empty_cache();
  const auto cut = model->empty_cache();
  const auto expected = failing.draw(*whole, text, draws);
  const std::uint64_t computed = model->tokens_computed();
  failing.kernels.fails = true;
  CHECK_THROWS_AS(failing.draw(*cut, text, draws), ModelError);
  CHECK(cut->length() == text.size());
  CHECK(model->tokens_computed() == computed + text.size());
  // Asked again, the head alone runs.
  failing.kernels.fails = false;
  CHECK(failing.draw(*cut, {}, draws) == expected);
  CHECK(model->tokens_computed() == computed + text.size());
}

TEST_CASE("a row that rules change is not drawn within a step, which leaves no logits to change") {
  Failing failing;
  const auto& model = failing.model;
  const std::vector<double> powers = {1.0};
  const std::vector<gpu::TokenId> text = {4, 5, 6};
  gpu::RowDraw draw{powers, 0, {}};
  draw.rules = gpu::RowRules{{.top_k = 1}, {}, {}, {}};
  failing.kernels.fails = true;
  const auto cache = model->empty_cache();
  const auto drawn = failing.draw(*cache, text, {&draw, 1});
  const std::vector<float> row = failing.logits.download(0, model->vocabulary_size());
  CHECK(drawn.front().id == std::max_element(row.begin(), row.end()) - row.begin());
  draw.rules.reset();
  const auto other = model->empty_cache();
  CHECK_THROWS_AS(failing.draw(*other, text, {&draw, 1}), ModelError);
}
