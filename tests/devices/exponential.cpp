#include "gpu/core/lottery/exponential.hpp"

#include "gpu/core/lottery/philox.hpp"
#include "tests/catch.hpp"
#include "tests/devices/exponential_on_device.hpp"

using namespace tempera::gpu;

namespace {

std::vector<double> between(double low, double high) {
  constexpr std::uint32_t count = 1 << 20;
  std::vector<double> values;
  for (std::uint32_t i = 0; i < count; ++i)
    values.push_back(low + (high - low) * (philox({{i, 1, 2, 3}}, 5).limb[0] * 0x1p-32));
  return values;
}

template <class OnDevice, class OnHost>
void require_same_bits(const std::vector<double>& inputs, OnDevice on_device, OnHost on_host) {
  const std::vector<double> outputs = on_device(inputs);
  std::size_t different = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (to_bits(outputs[i]) != to_bits(on_host(inputs[i]))) ++different;
  CHECK(different == 0);
}

}  // namespace

TEST_CASE("the device's exp has the host's bits") {
  require_same_bits(between(-60.0, 0.0), exponentials_on_device, exponential);
  require_same_bits(between(-720.0, 720.0), exponentials_on_device, exponential);
}

TEST_CASE("the device's log has the host's bits") {
  require_same_bits(between(0.5, 2.0), logarithms_on_device, logarithm);
  require_same_bits(between(1.0, 0x1p+63), logarithms_on_device, logarithm);
}
