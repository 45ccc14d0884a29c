#include "gpu/core/sampler/particle_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "gpu/core/lottery/tickets.hpp"

namespace tempera::gpu {
namespace {

__extension__ using Wide = unsigned __int128;

Wide sum_of(std::span<const std::uint64_t> weights) {
  return std::accumulate(weights.begin(), weights.end(), Wide{0});
}

Wide sum_of_squares(std::span<const std::uint64_t> weights) {
  Wide sum = 0;
  for (const std::uint64_t weight : weights) sum += static_cast<Wide>(weight) * weight;
  return sum;
}

}  // namespace

std::vector<std::uint64_t> weight_tickets(std::span<const double> log_weights) {
  for (const double log_weight : log_weights)
    if (!std::isfinite(log_weight))
      throw ModelError("a particle's log weight is not finite: a score is not a number");
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  std::vector<std::uint64_t> tickets;
  for (const double log_weight : log_weights)
    tickets.push_back(tickets_at(log_weight - largest, 1.0));
  return tickets;
}

double log_mean_weight(std::span<const double> log_weights,
                       std::span<const std::uint64_t> tickets) {
  const double mean = static_cast<double>(sum_of(tickets)) / static_cast<double>(tickets.size());
  return *std::max_element(log_weights.begin(), log_weights.end()) + logarithm(mean * 0x1p-44);
}

double effective_sample_size(std::span<const std::uint64_t> tickets) {
  const auto sum = static_cast<double>(sum_of(tickets));
  return sum * sum / static_cast<double>(sum_of_squares(tickets));
}

bool is_degenerate(std::span<const std::uint64_t> tickets) {
  const Wide sum = sum_of(tickets);
  return 2 * sum * sum < tickets.size() * sum_of_squares(tickets);
}

SystematicResampling::SystematicResampling(std::span<const std::uint64_t> weights)
    : weights_(weights.begin(), weights.end()) {
  const Wide total = sum_of(weights);
  std::vector<Wide> cuts{0};
  Wide below = 0;
  for (const std::uint64_t weight : weights) {
    below += weight;
    cuts.push_back(weights.size() * below % total);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (std::size_t cell = 0; cell < cuts.size(); ++cell) {
    const Wide end = cell + 1 < cuts.size() ? cuts[cell + 1] : total;
    tickets.push_back(static_cast<std::uint64_t>(end - cuts[cell]));
  }
}

std::vector<std::size_t> SystematicResampling::ancestors(std::size_t cell) const {
  const Wide v = sum_of(std::span(tickets).first(cell));
  const Wide total = sum_of(weights_);
  std::vector<std::size_t> ancestors;
  std::size_t j = 0;
  Wide below = weights_.front();  // S_j, j counted from 1
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    while (weights_.size() * below <= i * total + v) below += weights_[++j];
    ancestors.push_back(j);
  }
  return ancestors;
}

}  // namespace tempera::gpu
