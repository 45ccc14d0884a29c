#include <cmath>

#include "gpu/core/engine/engine.hpp"
#include "gpu/core/sampler/power_smc.hpp"
#include "lab/enumerate/canonical_records.hpp"
#include "lab/enumerate/own_model.hpp"
#include "lab/enumerate/tree_lottery.hpp"
#include "lab/laws/sampler_law.hpp"
#include "reference/model/record_space.hpp"
#include "tests/catch.hpp"
#include "tests/lab/laws/shipped.hpp"

namespace tempera::particle_log_z_test {

using namespace tempera;
using lab::Rational;

namespace {

/// log of the estimate of Z_α that the events of one run give.
struct LogZ final : gpu::Observer {
  void round_ended(const gpu::Progress&, std::span<const gpu::Event> events) override {
    for (const gpu::Event& event : events) {
      if (event.kind != gpu::Event::Kind::resampling) continue;
      if (event.accepted) sum += event.log_ratio;
      resamplings += event.accepted ? 1 : 0;
      since = event.accepted ? 0.0 : event.log_ratio;
    }
  }
  double value() const { return sum + since; }

  double sum = 0.0, since = 0.0;
  std::size_t resamplings = 0;
};

}  // namespace

TEST_CASE("the mean weights of PowerSMC estimate Z without bias, over all of its decisions") {
  struct Case {
    std::string model;
    std::size_t horizon, block, particles;
    unsigned power;
    bool is_ramped = false;
  };
  std::size_t resamplings = 0;
  for (const Case& one : {Case{"four_state", 2, 1, 2, 4}, Case{"unequal_lengths", 2, 1, 3, 3},
                          Case{"geometric_length", 3, 1, 2, 4}, Case{"bimodal", 2, 2, 2, 2},
                          Case{"bimodal", 3, 1, 3, 8}, Case{"bimodal", 3, 1, 3, 8, true},
                          Case{"unequal_lengths", 3, 1, 2, 3, true}}) {
    CAPTURE(one.model, one.particles);
    const lab::FiniteLogits logits(shipped(one.model));
    const lab::EnumerableModel model = logits.enumerable();
    std::vector<double> powers{static_cast<double>(one.power)};
    if (one.is_ramped) powers.insert(powers.begin(), 2.0);
    const gpu::Ladder ladder(powers);
    gpu::Plan plan{gpu::make_stages(one.horizon, one.block, {0}, {0}, {0})};
    plan.particles = one.particles;
    lab::CanonicalRecords canonical(model, ladder);
    gpu::Progress progress;
    LogZ log_z;
    double mean = 0.0;
    lab::enumerate(
        [&](gpu::Lottery& tree) {
          gpu::Engine engine(model.model, canonical.rows(), tree);
          gpu::Chain chain{engine, model.context, ladder};
          progress = {};
          log_z = {};
          std::vector<gpu::Task> tasks;
          tasks.push_back(gpu::power_smc<gpu::PowerSmcRules>(chain, plan, progress, &log_z));
          engine.run(tasks);
        },
        [&](const Rational& probability) {
          mean += lab::nearest_double(probability) * std::exp(log_z.value());
          resamplings += log_z.resamplings;
        });
    const reference::FixedHorizonSpace space(lab::own_model(model, one.horizon, "own"),
                                             one.horizon);
    double z = 0.0;
    for (std::size_t i = 0; i < space.size(); ++i)
      z += std::pow(lab::nearest_double(space.likelihood(i)), one.power);
    // The bound of every law that is walked.
    CHECK(std::abs(mean - z) < 1e-10 * z);
  }
  CHECK(resamplings > 0);
}

}  // namespace tempera::particle_log_z_test
