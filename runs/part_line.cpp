#include "runs/part_line.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "gpu/core/statistics/foreign_state.hpp"
#include "runs/run_folder.hpp"

namespace tempera::gpu {
namespace {

[[noreturn]] void refuse(const LinePlace& where) {
  throw BadInput(where.text(), "is not as tempera writes it", remedy_for(where.text()));
}

/// Reads `key`, which the line must go on with, and the whole number after it.
std::uint64_t number_after(std::string_view& line, std::string_view key, const LinePlace& where) {
  if (!line.starts_with(key)) refuse(where);
  line.remove_prefix(key.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc()) refuse(where);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return number;
}

/// Reads what is before the statistics; `line` is left at these.
Part take_part(std::string_view& line, std::size_t runs, const LinePlace& where) {
  Part part;
  part.run_index = number_after(line, "{\"place\":", where);
  part.events = number_after(line, ",\"events\":", where);
  part.sample = number_after(line, ",\"sample\":", where);
  const std::uint64_t is_cut = number_after(line, ",\"cut\":", where);
  constexpr std::string_view then = ",\"statistics\":";
  if (part.run_index >= runs || is_cut > 1 || !line.starts_with(then) || !line.ends_with('}'))
    refuse(where);
  part.is_cut = is_cut == 1;
  line.remove_prefix(then.size());
  line.remove_suffix(1);
  return part;
}

}  // namespace

std::string part_line(const Part& part, const TemperingStatistics& statistics) {
  return "{\"place\":" + std::to_string(part.run_index) +
         ",\"events\":" + std::to_string(part.events) +
         ",\"sample\":" + std::to_string(part.sample) + ",\"cut\":" + (part.is_cut ? "1" : "0") +
         ",\"statistics\":" + statistics.state().dump() + "}";
}

Part part_of(std::string_view line, std::size_t runs, TemperingStatistics& statistics,
             const LinePlace& where) {
  const Part part = take_part(line, runs, where);
  try {
    statistics.restore_text(line);
  } catch (const ForeignState&) {
    refuse(where);
  }
  return part;
}

Part part_of(std::string_view line, std::size_t runs, const LinePlace& where) {
  return take_part(line, runs, where);
}

}  // namespace tempera::gpu
