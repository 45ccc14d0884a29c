#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/transform.h>

#include "gpu/core/lottery/exponential.hpp"
#include "tests/devices/exponential_on_device.hpp"

namespace tempera::gpu {
namespace {

struct Exponential {
  TEMPERA_HOST_DEVICE double operator()(double x) const { return exponential(x); }
};
struct Logarithm {
  TEMPERA_HOST_DEVICE double operator()(double x) const { return logarithm(x); }
};

template <class Function>
std::vector<double> transform(const std::vector<double>& inputs, Function function) {
  thrust::device_vector<double> values(inputs.begin(), inputs.end());
  thrust::transform(values.begin(), values.end(), values.begin(), function);
  std::vector<double> outputs(inputs.size());
  thrust::copy(values.begin(), values.end(), outputs.begin());
  return outputs;
}

}  // namespace

std::vector<double> exponentials_on_device(const std::vector<double>& inputs) {
  return transform(inputs, Exponential{});
}

std::vector<double> logarithms_on_device(const std::vector<double>& inputs) {
  return transform(inputs, Logarithm{});
}

}  // namespace tempera::gpu
