#include "runs/run_speed.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json_document.hpp"

namespace tempera::gpu {
namespace {

/// Sums of as many processes as there may be stay whole numbers.
constexpr std::uint64_t most_counted = std::uint64_t{1} << 52;
constexpr double most_seconds = 1e12;

double seconds_at(const JsonObject& object, const std::string& key) {
  const double value = object.finite_number(key);
  if (value < 0.0 || value > most_seconds)
    throw BadInput(object.where() + ", " + key, "is not a time in seconds",
                   "remove the file: what it says of earlier processes is then left out");
  return value;
}

}  // namespace

void RunSpeed::add(const RunSpeed& other) {
  processes += other.processes;
  seconds += other.seconds;
  totals.decode_tokens += other.totals.decode_tokens;
  totals.batches += other.totals.batches;
  totals.times.forward += other.totals.times.forward;
  totals.times.draw += other.totals.times.draw;
  totals.times.accept += other.totals.times.accept;
  totals.times.swap += other.totals.times.swap;
  discarded_tokens += other.discarded_tokens;
  cache_bytes = std::max(cache_bytes, other.cache_bytes);
}

nlohmann::ordered_json RunSpeed::to_json() const {
  return {{"processes", processes},
          {"seconds", seconds},
          {"decode_tokens", totals.decode_tokens},
          {"discarded_tokens", discarded_tokens},
          {"tokens_per_second",
           seconds > 0.0 ? static_cast<double>(totals.decode_tokens) / seconds : 0.0},
          {"forward_passes", totals.batches},
          {"seconds_forward", totals.times.forward},
          {"seconds_draw", totals.times.draw},
          {"seconds_accept", totals.times.accept},
          {"seconds_swap", totals.times.swap},
          {"cache_bytes", cache_bytes}};
}

RunSpeed RunSpeed::from_json(const nlohmann::json& json, const std::string& where) {
  const JsonObject object(json, where);
  object.check_keys(
      {"seconds", "decode_tokens", "discarded_tokens", "tokens_per_second", "forward_passes",
       "seconds_forward", "seconds_draw", "seconds_accept", "seconds_swap", "cache_bytes"},
      {"processes"});
  const auto count = [&](const char* key) { return object.whole_number(key, 0, most_counted); };
  RunSpeed speed;
  speed.processes = object.has("processes") ? count("processes") : 1;
  speed.seconds = seconds_at(object, "seconds");
  speed.totals = {count("decode_tokens"),
                  count("forward_passes"),
                  {seconds_at(object, "seconds_forward"), seconds_at(object, "seconds_draw"),
                   seconds_at(object, "seconds_accept"), seconds_at(object, "seconds_swap")}};
  speed.discarded_tokens = count("discarded_tokens");
  speed.cache_bytes = count("cache_bytes");
  return speed;
}

}  // namespace tempera::gpu
