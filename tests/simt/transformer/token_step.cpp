// Whole steps of the device, on fibers: page tables by small updates, padded rows, the draw after
// the head, tokens that stay on the device, and graphs; bit for bit against the host.
#include "gpu/core/engine/engine.hpp"
#include "gpu/core/sampler/parallel_power_tempering.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/device/planted_fault.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/integer_device.cuh"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/simt/transformer/forwarding_kernels.hpp"
#include "tests/simt/transformer/step_history.hpp"

namespace tempera::token_step_test {

using namespace tempera;
using namespace tempera::tests;

TEST_CASE("a step of 1 to 64 rows has the host's tokens and scores, forked, dropped, in any slot") {
  const gpu::CudaKernels kernels(3);
  StepHistory history(kernels, 17);
  // Up and down, so that a bucket follows a smaller and a larger one.
  for (std::size_t rows = 1; rows <= 64; ++rows) {
    const std::size_t batch = rows % 2 == 0 ? rows : 65 - rows;
    INFO("batch " << batch);
    REQUIRE(history.differences_of_a_batch(batch) == 0);
  }
}

TEST_CASE("steps launch by launch have the host's tokens and scores, and each kernel is watched") {
  const gpu::CudaKernels kernels(3, std::nullopt, gpu::StepForm::launches);
  StepHistory history(kernels, 19);
  for (const std::size_t rows : {1U, 3U, 9U, 2U, 33U, 64U, 6U}) {
    INFO("batch " << rows);
    REQUIRE(history.differences_of_a_batch(rows) == 0);
    REQUIRE(history.differences_of_a_decode_step() == 0);
  }
  CHECK(kernels.steps() == 14);
  CHECK(kernels.graph_replays() == 0);
  // From the beginning of the step to its end: what ./gpu-check adds up as the sum of its kernels.
  auto& stream = kernels.device().stream;
  std::size_t watched = 0;
  stream.watch = [&] { ++watched; };
  REQUIRE(history.differences_of_a_decode_step() == 0);
  CHECK(watched == 2 * (5 * step_config().num_hidden_layers + 6));
  // A graph is one thing to queue.
  stream.graphs = true;
  REQUIRE(history.differences_of_a_decode_step() == 0);
  watched = 0;
  REQUIRE(history.differences_of_a_decode_step() == 0);
  CHECK(watched == 2);
  CHECK(kernels.graph_replays() == 2);
}

TEST_CASE("steps of integer have the host's tokens and scores, forked, dropped, in any slot") {
  for (const gpu::StepForm form : {gpu::StepForm::graph, gpu::StepForm::launches}) {
    const gpu::CudaIntegerKernels kernels(3, form);
    StepHistory history(kernels, 19);
    for (const std::size_t rows : {1U, 3U, 9U, 2U, 33U, 6U}) {
      INFO(kernels.name() << ", batch " << rows);
      REQUIRE(history.differences_of_a_batch(rows) == 0);
      REQUIRE(history.differences_of_a_decode_step() == 0);
    }
    REQUIRE(history.differences_of_long_forks() == 0);
    CHECK(kernels.steps() > 12);
    CHECK(kernels.graph_replays() == (form == gpu::StepForm::graph ? kernels.steps() : 0));
    // A step has as many launches as CudaIntegerKernels says.
    REQUIRE(history.differences_of_a_batch(4) == 0);
    REQUIRE(history.differences_of_a_decode_step() == 0);
    const std::uint64_t launches = kernels.device().stream.launches;
    REQUIRE(history.differences_of_a_decode_step() == 0);
    CHECK(kernels.device().stream.launches == launches + 13 + 8);
  }
}

TEST_CASE("integer refuses a recurrent model on a GPU before a weight is read") {
  const gpu::CudaIntegerKernels kernels(3);
  CHECK_THROWS_WITH(step_model(kernels, StepLayers::recurrent),
                    Catch::Contains("recurrent layers, which integer has on no GPU yet") &&
                        Catch::Contains("--device host"));
}

TEST_CASE("steps of a recurrent model have the host's tokens and scores, forked, in any slot") {
  for (const gpu::StepForm form : {gpu::StepForm::graph, gpu::StepForm::launches}) {
    const gpu::CudaKernels kernels(3, std::nullopt, form);
    StepHistory history(kernels, 29, StepLayers::recurrent);
    for (const std::size_t rows : {1U, 3U, 9U, 2U, 17U}) {
      if (form == gpu::StepForm::launches && rows > 3) continue;
      INFO(kernels.name() << ", batch " << rows);
      REQUIRE(history.differences_of_a_batch(rows) == 0);
      REQUIRE(history.differences_of_a_decode_step() == 0);
    }
    // Forks replayed, and every step was one of the device.
    CHECK(history.on_device().tokens_replayed() > 0);
    CHECK(kernels.steps() == (form == gpu::StepForm::graph ? 10 : 6));
    // The plan of launches, and no memory once the rows are there.
    for (int step = 0; step < 3; ++step) {
      const std::uint64_t allocations = gpu::device_allocations();
      const std::uint64_t launches = kernels.launches();
      REQUIRE(history.differences_of_a_decode_step() == 0);
      CHECK(gpu::device_allocations() == allocations);
      // An attending layer and a recurrent one; 17 rows do not normalise within their products.
      const std::uint64_t layers = form == gpu::StepForm::graph ? 7 + 8 : 5 + 6;
      CHECK(kernels.launches() == launches + layers + 6);
    }
  }
}

namespace {

/// CudaKernels that count the passes and steps whose rows share pages as they are queued.
class SharingKernels final : public ForwardingKernels {
 public:
  explicit SharingKernels(std::uint64_t seed) : ForwardingKernels(seed) {}
  void rotate_and_attend(const gpu::AttentionShape& a, const float* b, const float* c, float d,
                         const gpu::RotaryTables& e, const gpu::TokenRows& f,
                         const gpu::PagePart& g, const gpu::PagePart& h, float* i,
                         const gpu::ProductInputs& j) const override {
    if (f.shared.order != nullptr) ++(f.own_records ? steps : passes);
    ForwardingKernels::rotate_and_attend(a, b, c, d, e, f, g, h, i, j);
  }
  mutable std::size_t passes = 0;
  mutable std::size_t steps = 0;
};

}  // namespace

TEST_CASE("steps whose rows share pages have the host's tokens, as forks come and go") {
  const SharingKernels kernels(3);
  StepHistory history(kernels, 31);
  CHECK(kernels.passes > 0);  // the prompts
  CHECK(kernels.steps == 0);
  for (int again = 0; again < 2; ++again) {
    REQUIRE(history.differences_of_long_forks() == 0);
    REQUIRE(history.differences_of_a_batch(6) == 0);
    REQUIRE(history.differences_of_a_decode_step() == 0);
  }
  CHECK(kernels.steps > 1);
}

namespace {

/// CudaKernels that say how many slots the last step or pass had.
class SlotKernels final : public ForwardingKernels {
 public:
  explicit SlotKernels(std::uint64_t seed) : ForwardingKernels(seed) {}
  void embed(const gpu::MatrixView& a, const gpu::TokenRows& b, float* c) const override {
    slots = b.rows;
    ForwardingKernels::embed(a, b, c);
  }
  mutable std::size_t slots = 0;
};

}  // namespace

TEST_CASE("slots are powers of two, or multiples of 8 and then of 32, with room for all rows") {
  using gpu::StepSlots;
  for (std::size_t rows = 1; rows <= 300; ++rows) {
    const std::size_t two = gpu::slots_for(rows, StepSlots::powers_of_two);
    const std::size_t eights = gpu::slots_for(rows, StepSlots::eights);
    CAPTURE(rows);
    CHECK(((two & (two - 1)) == 0 && two >= rows && two < 2 * rows));
    CHECK((eights >= rows && eights <= two));
    CHECK(eights - rows < (rows <= 64 ? 8 : 32));
    CHECK((rows <= 8 ? eights == two : eights % (rows <= 64 ? 8 : 32) == 0));
  }
}

TEST_CASE("a step whose slots are multiples of 8 has the host's tokens and scores, in any slot") {
  const SlotKernels kernels(3);
  StepHistory history(kernels, 37);
  auto& slots = kernels.cuda().device().tried.slots;
  for (const std::size_t rows : {17U, 3U, 33U, 9U, 41U, 17U}) {
    for (const auto form : {gpu::StepSlots::eights, gpu::StepSlots::powers_of_two}) {
      slots = form;
      INFO("batch " << rows << (form == gpu::StepSlots::eights ? ", eights" : ""));
      REQUIRE(history.differences_of_a_batch(rows) == 0);
      REQUIRE(history.differences_of_a_decode_step() == 0);
      if (rows == 41) CHECK(kernels.slots == (form == gpu::StepSlots::eights ? 48 : 64));
    }
  }
}

TEST_CASE("a step whose device is lost fails at each of its copies, and says so") {
  const gpu::CudaKernels kernels(5);
  for (const std::uint64_t copies : {0U, 1U}) {
    StepHistory history(kernels, 21);
    REQUIRE(history.differences_of_a_batch(3) == 0);
    const gpu::WithPlantedFault lost({copies, {}});
    CHECK_THROWS_WITH(history.differences_of_a_decode_step(),
                      Catch::Contains("a copy to or from the device failed"));
    CHECK_FALSE(gpu::device_failure().empty());
  }
}

TEST_CASE("a step asks for no memory, waits once, and launches 5 or 7 kernels a layer and 6") {
  const gpu::CudaKernels kernels(4);
  const auto& stream = kernels.device().stream;
  StepHistory history(kernels, 5);
  for (const std::size_t rows : {6U, 1U, 13U}) {
    REQUIRE(history.differences_of_a_batch(rows) == 0);
    REQUIRE(history.differences_of_a_decode_step() ==
            0);  // a record at the end of a page takes one
    for (int step = 0; step < 3; ++step) {
      const std::uint64_t allocations = gpu::device_allocations();
      const std::uint64_t waits = stream.waits;
      const std::uint64_t launches = kernels.launches();
      const std::size_t pages = history.on_device().pages().pages();
      REQUIRE(history.differences_of_a_decode_step() == 0);
      REQUIRE(history.on_device().pages().pages() == pages);
      CHECK(gpu::device_allocations() == allocations);
      CHECK(stream.waits == waits + 1);
      CHECK(kernels.launches() ==
            launches + (rows <= 8 ? 5 : 7) * step_config().num_hidden_layers + 6);
    }
  }
}

namespace {

/// Every bit of the records of two samples of PPT.
std::vector<std::uint64_t> tempered_bits(gpu::LanguageModel& model, gpu::RowLottery& rows,
                                         std::size_t largest_batch, gpu::WorkOrder order) {
  const gpu::Ladder ladder({1.0, 1.6, 2.5});
  const gpu::Context context{{1, 2, 3}, {10}};
  gpu::PhiloxLottery lottery;
  gpu::Engine engine(model, rows, lottery, largest_batch, order);
  const gpu::Plan plan{gpu::make_stages(9, 5, {2}, {1}, {1}), gpu::Schedule::deo,
                       ladder.rungs() - 1};
  std::vector<gpu::Progress> progress(2);
  std::vector<gpu::Chain> runs;
  for (std::uint32_t sample = 0; sample < progress.size(); ++sample) {
    runs.push_back({engine, context, ladder, 6});
    runs.back().sample_index = sample;
  }
  std::vector<gpu::Task> tasks;
  for (std::size_t i = 0; i < runs.size(); ++i)
    tasks.push_back(parallel_power_tempering(runs[i], plan, progress[i]));
  engine.run(tasks);
  std::vector<std::uint64_t> bits;
  for (const gpu::Progress& one : progress) {
    for (const gpu::Record& record : one.replicas) {
      for (const gpu::TokenId token : record.token_ids()) bits.push_back(token);
      bits.push_back(gpu::to_bits(record.log_p0()));
      for (gpu::Rung k = 0; k < ladder.rungs(); ++k)
        bits.push_back(gpu::to_bits(record.sum_log_z(1, record.length(), k)));
    }
  }
  return bits;
}

}  // namespace

TEST_CASE("whole runs of PPT by steps of the device have the host's bits, whatever the batch") {
  const gpu::CudaKernels kernels(6);
  const auto on_device = step_model(kernels, StepLayers::attending);
  const auto on_host =
      step_model(gpu::default_kernels(gpu::Arithmetic::tensor_core), StepLayers::attending);
  const auto device_rows = gpu::make_cuda_row_lottery();
  const auto host_rows = gpu::make_host_row_lottery();
  const auto expected = tempered_bits(*on_host, *host_rows, 64, gpu::WorkOrder::first_come);
  const std::uint64_t waits = kernels.device().stream.waits;
  CHECK(tempered_bits(*on_device, *device_rows, 64, gpu::WorkOrder::first_come) == expected);
  CHECK(kernels.device().stream.waits > waits);  // it went by steps
  CHECK(tempered_bits(*on_device, *device_rows, 3, gpu::WorkOrder::last_come) == expected);
}

TEST_CASE("what no step can do goes row by row, and after an error the next step is sound") {
  // Thrust's rows, and a lottery that must be asked, give the same tokens.
  const gpu::CudaKernels kernels(8);
  const auto model = gpu::random_qwen3(step_config(), 7, kernels);
  gpu::PhiloxLottery lottery;
  gpu::DeviceMemory<float> logits;
  const std::vector<double> powers = {1.0, 2.0};
  const std::vector<gpu::TokenId> text = {4, 5, 6};
  const auto drawn = [&](gpu::RowLottery& rows, gpu::Lottery& by, std::size_t rung) {
    const auto cache = model->empty_cache();
    const std::vector<gpu::Pass> passes = {{cache.get(), text}};
    const std::vector<gpu::RowDraw> draws = {{powers, rung, {}}};
    return model->next_tokens(passes, draws, rows, by, logits);
  };
  const auto cuda_rows = gpu::make_cuda_row_lottery();
  const auto expected = drawn(*gpu::make_thrust_row_lottery(), lottery, 1);
  REQUIRE(kernels.device().stream.waits == 0);
  REQUIRE(drawn(*cuda_rows, lottery, 1) == expected);
  REQUIRE(kernels.device().stream.waits == 1);
  REQUIRE_THROWS_AS(drawn(*cuda_rows, lottery, 2), Bug);
  REQUIRE(drawn(*cuda_rows, lottery, 1) == expected);
  gpu::TapeLottery tape({expected.front().id});
  REQUIRE(drawn(*cuda_rows, tape, 1) == expected);
}

}  // namespace tempera::token_step_test
