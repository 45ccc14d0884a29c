#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/core/statistics/tempering_statistics.hpp"
#include "runs/line_place.hpp"

namespace tempera::gpu {

/// What a shard's merge needs to know of an answer, beside its line and events.
struct Part {
  std::size_t run_index = 0;  ///< in the whole run
  std::uint64_t events = 0;   ///< bytes of its events in events.jsonl
  std::uint64_t sample = 0;   ///< and of its line in samples.jsonl, the line's end included
  bool is_cut = false;        ///< whether the horizon cut the answer
};

/// A line of parts.jsonl, without its end: the part and the bits of the answer's own statistics.
std::string part_line(const Part& part, const TemperingStatistics& statistics);

/// The part that a line spells, and its statistics into `statistics`, in the place of what is
/// there.
/// @throw BadInput naming `where` for anything but what part_line gives for one of `runs` runs
Part part_of(std::string_view line, std::size_t runs, TemperingStatistics& statistics,
             const LinePlace& where);

/// The part that a line begins with, without reading its statistics.
/// @throw BadInput as part_of
Part part_of(std::string_view line, std::size_t runs, const LinePlace& where);

}  // namespace tempera::gpu
