#include "python/bindings/bindings.hpp"

namespace tempera::python {
namespace {

template <class Value>
void take(const nb::dict& wishes, const char* key, Value& into) {
  if (wishes.contains(key) && !wishes[key].is_none()) into = nb::cast<Value>(wishes[key]);
}
template <class Value>
void take(const nb::dict& wishes, const char* key, std::optional<Value>& into) {
  if (wishes.contains(key) && !wishes[key].is_none()) into = nb::cast<Value>(wishes[key]);
}

/// One number for all stages, or one for each.
void take_counts(const nb::dict& wishes, const char* key,
                 std::optional<std::vector<std::size_t>>& into) {
  if (!wishes.contains(key) || wishes[key].is_none()) return;
  if (nb::isinstance<nb::int_>(wishes[key]))
    into = std::vector{nb::cast<std::size_t>(wishes[key])};
  else
    into = nb::cast<std::vector<std::size_t>>(wishes[key]);
}

}  // namespace

gpu::SamplerWish sampler_wish(const nb::dict& wishes) {
  gpu::SamplerWish wish;
  take(wishes, "preset", wish.preset);
  take(wishes, "sampler", wish.sampler);
  take(wishes, "powers", wish.powers);
  take(wishes, "temperature", wish.temperature);
  take(wishes, "horizon", wish.horizon);
  take(wishes, "block", wish.block);
  take_counts(wishes, "rounds", wish.rounds);
  take_counts(wishes, "local_moves", wish.local_moves);
  take_counts(wishes, "sweeps", wish.sweeps);
  std::optional<std::string> schedule;
  take(wishes, "schedule", schedule);
  if (schedule) {
    if (*schedule != "adj" && *schedule != "deo")
      throw BadInput("schedule", "\"" + *schedule + "\" is no schedule", "give \"adj\" or \"deo\"");
    wish.schedule = *schedule == "adj" ? gpu::Schedule::adj : gpu::Schedule::deo;
  }
  take(wishes, "restart_weights", wish.restart_weights);
  std::optional<std::string> range;
  take(wishes, "restart_range", range);
  if (range) {
    if (*range != "horizon" && *range != "record")
      throw BadInput("restart_range", "\"" + *range + "\" is no range",
                     "give \"horizon\" or \"record\"");
    wish.restart_range =
        *range == "horizon" ? gpu::RestartRange::horizon : gpu::RestartRange::record;
  }
  take(wishes, "output_rung", wish.output_rung);
  take(wishes, "particles", wish.particles);
  take(wishes, "most_tokens", wish.most_tokens);
  take(wishes, "samples", wish.samples);
  take(wishes, "seed", wish.seed);
  if (wishes.contains("stop") && !wishes["stop"].is_none())
    wish.stop = nb::cast<std::vector<std::string>>(wishes["stop"]);
  take(wishes, "early_rejection", wish.options.early_rejection);
  take(wishes, "confidence", wish.options.confidence);
  take(wishes, "prefetch", wish.options.prefetch);
  return wish;
}

}  // namespace tempera::python
