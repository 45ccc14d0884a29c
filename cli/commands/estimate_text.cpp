#include "cli/commands/estimate_text.hpp"

#include <cstdio>

#include "gpu/session/cache_admission.hpp"

namespace tempera::cli {
namespace {

std::string line(const char* name, const std::string& expected, const std::string& low,
                 const std::string& high) {
  char text[160];
  std::snprintf(text, sizeof text, "%-14s %12s  (%s to %s)\n", name, expected.c_str(), low.c_str(),
                high.c_str());
  return text;
}

std::string counted(double figure) {
  char text[40];
  std::snprintf(text, sizeof text, figure < 1e6 ? "%.0f" : "%.4g", figure);
  return text;
}

std::string seconds_text(double seconds) {
  char text[40];
  if (seconds < 600.0)
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  else if (seconds < 36000.0)
    std::snprintf(text, sizeof text, "%.3g min", seconds / 60.0);
  else
    std::snprintf(text, sizeof text, "%.3g h", seconds / 3600.0);
  return text;
}

std::string bytes(double figure) { return gpu::bytes_text(static_cast<std::size_t>(figure)); }

}  // namespace

std::string estimate_text(const gpu::RunEstimate& estimate) {
  const auto& tokens = estimate.decode_tokens;
  const auto& seconds = estimate.seconds;
  const auto& caches = estimate.cache_bytes;
  char text[200];
  std::snprintf(text, sizeof text,
                "pilot: %zu of %zu answers begun, %zu ended; %llu tokens in %.3g s\n",
                estimate.begun, estimate.answers, estimate.ended,
                static_cast<unsigned long long>(estimate.pilot_tokens), estimate.pilot_seconds);
  std::string found = text;
  found +=
      line("decode tokens", counted(tokens.expected), counted(tokens.low), counted(tokens.high));
  found += line("time", seconds_text(seconds.expected), seconds_text(seconds.low),
                seconds_text(seconds.high));
  found += line("caches", bytes(caches.expected), bytes(caches.low), bytes(caches.high));
  found += "memory so far, the model's and the pilot's: " +
           gpu::bytes_text(static_cast<std::size_t>(estimate.resident_bytes)) + '\n';
  if (estimate.is_guess)
    found +=
        "-> some steps of the run have not been seen: the upper limit is what the settings allow; "
        "a longer pilot tells more (--pilot-seconds)\n";
  return found;
}

}  // namespace tempera::cli
