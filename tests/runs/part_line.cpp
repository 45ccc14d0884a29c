// A part's line is read at its bounds, and refused just beyond them.
#include "runs/part_line.hpp"

#include "tests/runs/shard_runs.hpp"

namespace tempera::gpu::part_line_test {

TEST_CASE("a part is one of the run's, and the horizon cut it once or not at all") {
  const SamplingSettings settings = dealt_settings();
  const DrawSettings draw = settings.draw_settings();
  const TemperingStatistics statistics(draw.ladder, draw.plan);
  const LinePlace where{"parts.jsonl", 3};
  for (const std::size_t runs : {1U, 2U, 7U})
    for (std::size_t run_index = 0; run_index <= runs + 1; ++run_index)
      for (const int is_cut : {0, 1, 2, 9}) {
        CAPTURE(runs, run_index, is_cut);
        std::string line = part_line({run_index, 11, 12, true}, statistics);
        const std::string cut = "\"cut\":1";
        line.replace(line.find(cut), cut.size(), "\"cut\":" + std::to_string(is_cut));
        if (run_index < runs && is_cut <= 1) {
          const Part part = part_of(line, runs, where);
          CHECK(part.run_index == run_index);
          CHECK(part.events == 11);
          CHECK(part.sample == 12);
          CHECK(part.is_cut == (is_cut == 1));
        } else {
          require_bad_input([&] { part_of(line, runs, where); }, {"parts.jsonl, line 3"});
        }
      }
}

}  // namespace tempera::gpu::part_line_test
