#include "gpu/session/cache_admission.hpp"

#include <array>
#include <cstdio>

#include "base/error.hpp"

namespace tempera::gpu {

void CacheAdmission::require_room(std::size_t bytes, std::size_t left,
                                  const std::string& which) const {
  if (!budget_.is_given || budget_.has_room(left, bytes)) return;
  throw BadInput("cache memory",
                 bytes_text(budget_.bytes - left) + (left > 0 ? ", seven eighths of it," : "") +
                     " cannot hold one sample of " + which + ", which needs " + bytes_text(bytes),
                 "give more, or lower the horizon");
}

std::size_t cache_bytes_of_rows(const LanguageModel& model, std::size_t prompt, std::size_t horizon,
                                std::size_t rows) {
  // A fork inside a page comes to hold a copy of that page, or all after a checkpoint.
  return rows * (model.cache_bytes(prompt + horizon) - model.cache_bytes(prompt) +
                 model.cache_bytes(model.most_unshared_tokens()));
}

std::string bytes_text(std::size_t bytes) {
  constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024.0 && unit + 1 < units.size(); ++unit) value /= 1024.0;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.3g %s", value, units.at(unit));
  return text.data();
}

}  // namespace tempera::gpu
