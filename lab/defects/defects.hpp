#pragma once

#include <algorithm>
#include <vector>

#include "gpu/core/sampler/rules.hpp"
#include "lab/enumerate/compiled_kernel.hpp"

namespace tempera::lab {

// Five published mistakes, each one line of the sampler gone wrong. They exist to be caught.

/// The current record's tail is sliced to the proposal's length, as if what is after cost
/// nothing.
struct SlicedTail : gpu::PaperRules {
  static double local_log_ratio(const gpu::Record& x, const gpu::Record& y, std::size_t r,
                                gpu::Rung k) {
    return y.sum_log_z(r, y.length(), k) - x.sum_log_z(r, y.length(), k);
  }
};

/// The restart position is drawn from 1..len(x), and the factor len(x)/len(y) is forgotten.
struct RestartWithinRecord : gpu::PaperRules {
  static std::size_t restart_position(gpu::Turn& turn, const gpu::RestartLaw&,
                                      const gpu::Record& x) {
    return turn.restart(std::vector<std::uint64_t>(x.length(), 1));
  }
};

/// An accepted swap exchanges the records and leaves the caches where they were.
struct StaleCache : gpu::PaperRules {
  static void exchange(gpu::Record& x, gpu::Record& y) {
    std::swap(x, y);
    x.exchange_cache(y);
  }
};

/// The powers of the two rungs are transposed in the swap ratio.
struct TransposedPowers : gpu::PaperRules {
  static double swap_log_ratio(const gpu::Record& x, const gpu::Record& y,
                               const gpu::Ladder& ladder, gpu::Rung k) {
    return (ladder.power(k) - ladder.power(k + 1)) * (x.log_p0() - y.log_p0());
  }
};

/// Tokens are drawn from the `kept` likeliest alone and scored as if from all.
template <std::size_t kept>
class TopKInterceptor final : public gpu::ChoosingLottery {
 public:
  explicit TopKInterceptor(gpu::Lottery& lottery) : lottery_(lottery) {}

 private:
  std::size_t choose(std::span<const std::uint64_t> tickets, const gpu::Draw& draw) override {
    if (draw.address.purpose != gpu::Purpose::proposal_token || tickets.size() <= kept)
      return lottery_.draw(tickets, draw);
    std::vector<std::uint64_t> sorted(tickets.begin(), tickets.end());
    std::nth_element(sorted.begin(), sorted.begin() + kept - 1, sorted.end(), std::greater<>());
    std::vector<std::uint64_t> cut(tickets.begin(), tickets.end());
    for (std::uint64_t& t : cut)
      if (t < sorted[kept - 1]) t = 0;
    return lottery_.draw(cut, draw);
  }

  gpu::Lottery& lottery_;
};

}  // namespace tempera::lab
