// Several devices over one queue of answers. Each is a device of fibers, with a stream, a thread
// order and memory of its own.
#include <atomic>
#include <latch>
#include <memory>

#include "base/error.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/session/sampling_runs.hpp"

namespace tempera::gpu {
namespace {

constexpr std::size_t never = 1'000'000;

/// A model whose device is lost at its n-th forward pass. No device makes its first one before all
/// others have something to do.
class OnDevice final : public ForwardingModel {
 public:
  OnDevice(LanguageModel& model, std::size_t lost_at, std::latch& all_have_work)
      : ForwardingModel(model), left_(lost_at), all_have_work_(all_have_work) {}
  std::atomic<std::size_t> passes = 0;

 private:
  void before(std::span<const Pass> /*passes*/) override {
    if (passes++ == 0) all_have_work_.arrive_and_wait();
    if (left_-- == 0) throw DeviceError("planted: no answer");
  }

  std::size_t left_;
  std::latch& all_have_work_;
};

/// Devices of fibers with the same model.
struct FiberDevices {
  struct One {
    CudaKernels kernels;
    std::unique_ptr<Transformer> transformer;
    OnDevice model;

    One(std::uint64_t seed, std::size_t lost_at, std::latch& all_have_work)
        : kernels(seed),
          transformer(random_qwen3(small_config(), 4, kernels)),
          model(*transformer, lost_at, all_have_work) {}
  };
  std::latch all_have_work;
  std::vector<std::unique_ptr<One>> all;
  std::vector<DrawDevice> devices;
  std::vector<std::string> lost;
  std::vector<std::string> whys;

  explicit FiberDevices(const std::vector<std::size_t>& lost_at)
      : all_have_work(static_cast<std::ptrdiff_t>(lost_at.size())) {
    for (std::size_t d = 0; d < lost_at.size(); ++d) {
      all.push_back(std::make_unique<One>(d + 1, lost_at[d], all_have_work));
      devices.push_back({"fibers:" + std::to_string(d), &all.back()->model});
    }
  }

  std::vector<std::vector<TokenId>> run(const SamplingSettings& settings, RunFolder* folder) {
    std::vector<std::vector<TokenId>> answers;
    JobWatcher watcher{
        [&](const SampledAnswer& sampled) { answers.push_back(sampled.answer.tokens); }, {}, {}};
    watcher.device_lost = [&](const std::string& device, const std::string& why) {
      lost.push_back(device);
      whys.push_back(why);
    };
    JobLayout layout{.checkpoint_seconds = 0.0};
    layout.session.in_flight = 2;
    layout.devices = devices;
    Job(all[0]->model, settings, numbers_of, folder, watcher, layout).run();
    return answers;
  }
};

SamplingSettings settings_of_many() {
  SamplingSettings settings = small_settings();
  settings.arithmetic = Arithmetic::tensor_core;
  settings.prompts = {{"a", {7, 8, 9}}, {"b", {5}}};
  settings.samples = 4;
  return settings;
}

struct OneDevice {
  test::TemporaryFolder work;
  std::vector<std::vector<TokenId>> answers;
  OneDevice() {
    const auto model = random_qwen3(small_config(), 4, default_kernels(Arithmetic::tensor_core));
    for (const Answer& answer : begin_run(*model, settings_of_many(), work / "one"))
      answers.push_back(answer.tokens);
  }
  Left left() { return Left(work / "one"); }
};

}  // namespace

TEST_CASE("three devices leave the bytes of one, and share the work") {
  OneDevice one;
  FiberDevices three({never, never, never});
  RunFolder folder = RunFolder::create(one.work / "three", settings_of_many().to_json());
  CHECK(three.run(settings_of_many(), &folder) == one.answers);
  CHECK(Left(one.work / "three") == one.left());
  for (const auto& device : three.all) CHECK(device->model.passes > 0);
  CHECK(three.lost.empty());
}

TEST_CASE("a device that is lost is named, and the others leave the bytes of one") {
  OneDevice one;
  for (const std::size_t passes : {0U, 1U, 4U, 6U}) {
    INFO("lost at pass " << passes);
    FiberDevices devices({never, passes});
    const std::string name = "lost" + std::to_string(passes);
    RunFolder folder = RunFolder::create(one.work / name, settings_of_many().to_json());
    CHECK(devices.run(settings_of_many(), &folder) == one.answers);
    CHECK(Left(one.work / name) == one.left());
    CHECK(devices.lost == std::vector<std::string>{"fibers:1"});
    CHECK(devices.whys == std::vector<std::string>{"planted: no answer"});
  }
  // Without a folder the records are kept in memory alone.
  FiberDevices devices({5, never, 3});
  CHECK(devices.run(settings_of_many(), nullptr) == one.answers);
  CHECK(devices.lost.size() == 2);
}

TEST_CASE("when every device is lost the run ends with the last one's loss, and can be resumed") {
  OneDevice one;
  {
    FiberDevices devices({6, 4});
    RunFolder folder = RunFolder::create(one.work / "all", settings_of_many().to_json());
    CHECK_THROWS_AS(devices.run(settings_of_many(), &folder), DeviceError);
    CHECK(devices.lost.size() == 1);
  }
  const auto model = random_qwen3(small_config(), 4, default_kernels(Arithmetic::tensor_core));
  resume_run(*model, one.work / "all");
  CHECK(Left(one.work / "all") == one.left());
}

TEST_CASE("what is not a loss of a device ends the run on all devices") {
  FiberDevices devices({never, never});
  JobLayout layout;
  layout.session.in_flight = 2;
  layout.devices = devices.devices;
  const SamplingSettings settings = settings_of_many();
  std::size_t asked = 0;
  Job sampling(devices.all[0]->model, settings, numbers_of, nullptr,
               {{}, {}, [&] { return ++asked > 5; }}, layout);
  CHECK_THROWS_AS(sampling.run(), RunStopped);
}

}  // namespace tempera::gpu
