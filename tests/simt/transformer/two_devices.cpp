// Two sessions on two devices in one process. The devices are the host's, under two indices, and
// the kernels CUDA's on fibers, which say where each call of theirs runs.
#include <deque>
#include <set>

#include "gpu/device/device.hpp"
#include "gpu/llm/transformer/random_transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/heard.hpp"
#include "tests/simt/transformer/forwarding_kernels.hpp"
#include "tests/simt/transformer/step_history.hpp"

using namespace tempera;
using namespace tempera::tests;

namespace {

/// Notes the device on which each call runs.
class NotingKernels final : public ForwardingKernels {
 public:
  using ForwardingKernels::ForwardingKernels;
  mutable std::set<std::size_t> devices;

 private:
  void called(const char* /*call*/, const std::function<void()>& run) const override {
    devices.insert(gpu::current_device().index);
    run();
  }
};

/// A model that computes on the device of this index.
std::unique_ptr<gpu::Transformer> model_on(std::size_t index, const NotingKernels& kernels) {
  const gpu::CurrentDevice here({gpu::Device::Kind::host, index});
  return gpu::random_qwen3(step_config(), 7, kernels);
}

gpu::SampleRequest asked() {
  gpu::SampleRequest request{gpu::Ladder({1.0, 2.0}),
                             {gpu::make_stages(3, 2, {1}, {1}, {1}), gpu::Schedule::adj, 1, 0},
                             {}};
  request.prompt = {4, 5, 6};
  return request;
}

}  // namespace

TEST_CASE("two sessions on two devices take turns in one process, and each computes on its own") {
  const NotingKernels alone(2);
  const NotingKernels kernels[2] = {NotingKernels(3), NotingKernels(4)};
  const auto only = model_on(0, alone);
  gpu::Session only_session(*only);
  gpu::Heard expected;
  const auto only_id = only_session.submit(asked(), expected);
  while (only_session.step()) {
  }
  REQUIRE(expected.bits_of(only_id).size() > 10);

  std::vector<std::unique_ptr<gpu::Transformer>> models;
  std::deque<gpu::Session> sessions;
  gpu::Heard heard[2];
  std::vector<gpu::RequestId> ids;
  for (std::size_t i = 0; i < 2; ++i) {
    models.push_back(model_on(1 + i, kernels[i]));
    CHECK(models[i]->device() == gpu::Device{gpu::Device::Kind::host, 1 + i});
    ids.push_back(sessions.emplace_back(*models[i]).submit(asked(), heard[i]));
  }
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (gpu::Session& session : sessions) {
      is_more = session.step() || is_more;
      CHECK(gpu::current_device() == gpu::Device{});
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(heard[i].bits_of(ids[i]) == expected.bits_of(only_id));
    CHECK(kernels[i].devices == std::set<std::size_t>{1 + i});
  }
  CHECK(alone.devices == std::set<std::size_t>{0});
}
