#include "gpu/core/engine/negative_entropy.hpp"

#include <algorithm>
#include <span>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/device/host_threads.hpp"

namespace tempera::gpu {
namespace {

double negative_entropy(std::span<const float> row) {
  const auto largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
  double z = 0.0;
  double weighted = 0.0;
  for (const float logit : row) {
    const double distance = static_cast<double>(logit) - largest;
    const double weight = exponential(distance);
    if (weight == 0.0) continue;  // forbidden, or far below every grain: 0 log 0 = 0
    z += weight;
    weighted += weight * distance;
  }
  return weighted / z - logarithm(z);
}

}  // namespace

std::vector<double> negative_entropies(const DeviceMemory<float>& logits, std::size_t vocabulary,
                                       std::size_t rows) {
  const std::vector<float> all = logits.download(0, rows * vocabulary);
  std::vector<double> entropies(rows);
  on_host_threads(rows, [&](std::size_t row) {
    entropies[row] = negative_entropy(std::span(all).subspan(row * vocabulary, vocabulary));
  });
  return entropies;
}

}  // namespace tempera::gpu
