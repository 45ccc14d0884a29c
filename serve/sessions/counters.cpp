#include "serve/sessions/counters.hpp"

#include <algorithm>
#include <utility>

namespace tempera::serve {
namespace {

void add_to(std::vector<gpu::AcceptanceCounts>& sums,
            const std::vector<gpu::AcceptanceCounts>& counts) {
  // Ladders may have 2^16 rungs; a label for each of more than these would drown all others.
  constexpr std::size_t most_labels = 64;
  const std::size_t size = std::min(counts.size(), most_labels);
  if (sums.size() < size) sums.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    sums[i].proposed += counts[i].proposed;
    sums[i].accepted += counts[i].accepted;
  }
}

template <class Number>
void line(std::string& text, const char* name, const char* kind, const char* help, Number value) {
  text += std::string("# HELP tempera_") + name + " " + help + "\n# TYPE tempera_" + name + " " +
          kind + "\ntempera_" + name + " " + std::to_string(value) + "\n";
}

void labelled(std::string& text, const char* name, const char* help, const char* label,
              const std::vector<gpu::AcceptanceCounts>& counts) {
  text += std::string("# HELP tempera_") + name + " " + help + "\n# TYPE tempera_" + name +
          " counter\n";
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (const auto& [outcome, value] :
         {std::pair{"proposed", counts[i].proposed}, std::pair{"accepted", counts[i].accepted}})
      text += std::string("tempera_") + name + "{" + label + "=\"" + std::to_string(i + 1) +
              "\",outcome=\"" + outcome + "\"} " + std::to_string(value) + "\n";
}

}  // namespace

void Counters::add(const gpu::Answer& answer) {
  ++answers;
  answer_tokens += answer.tokens.size();
  const std::scoped_lock lock(mutex_);
  add_to(moves_, answer.moves);
  add_to(swaps_, answer.swaps);
}

std::unique_ptr<QueueEntry> QueueEntry::take(Counters& counters, std::size_t choices,
                                             std::size_t most) {
  std::unique_ptr<QueueEntry> entry(new QueueEntry(counters, choices));
  if (counters.under_way.fetch_add(choices) + choices > most) entry.reset();
  return entry;
}

std::string Counters::prometheus() const {
  std::string text;
  line(text, "requests_total", "counter", "Generation requests.", requests.load());
  line(text, "requests_refused_total", "counter", "Requests answered by an error.", refused.load());
  line(text, "requests_cancelled_total", "counter", "Requests whose client left.",
       cancelled.load());
  line(text, "answers_total", "counter", "Choices that were answered.", answers.load());
  line(text, "prompt_tokens_total", "counter", "Tokens of prompts.", prompt_tokens.load());
  line(text, "answer_tokens_total", "counter", "Tokens of answers.", answer_tokens.load());
  line(text, "decode_tokens_total", "counter", "Tokens drawn, also for proposals.",
       decode_tokens.load());
  line(text, "batches_total", "counter", "Forward passes.", batches.load());
  line(text, "batch_rows_mean", "gauge",
       "Records of a forward pass (tokens drawn in it), on average.",
       batches == 0 ? 0.0 : static_cast<double>(decode_tokens) / static_cast<double>(batches));
  line(text, "cache_bytes", "gauge", "Bytes set aside for caches of what is under way.",
       cache_bytes.load());
  line(text, "cache_bytes_most", "gauge", "The most bytes of caches so far.",
       most_cache_bytes.load());
  line(text, "cache_limit_bytes", "gauge", "The most bytes that caches may take; 0: no limit.",
       cache_limit.load());
  line(text, "choices_under_way", "gauge", "Choices that are drawn or wait.", under_way.load());
  line(text, "batch_lines_total", "counter", "Lines of /v1/batches that were answered.",
       batch_lines.load());
  line(text, "connections", "gauge", "Connections that are open.", connections.load());
  line(text, "access_log_lines_lost_total", "counter",
       "Lines that the file of the access log did not take.", log_lines_lost.load());
  line(text, "round_trips_total", "counter", "Trips of replicas from rung 1 to K and back.",
       round_trips.load());
  text += "# HELP tempera_seconds_total Seconds by part.\n# TYPE tempera_seconds_total counter\n";
  for (const auto& [part, seconds] :
       {std::pair{"forward", forward_seconds.load()}, std::pair{"draw", draw_seconds.load()},
        std::pair{"accept", accept_seconds.load()}, std::pair{"swap", swap_seconds.load()},
        std::pair{"score", score_seconds.load()}})
    text += std::string("tempera_seconds_total{part=\"") + part + "\"} " + std::to_string(seconds) +
            "\n";
  request_seconds.write(text, "tempera_request_seconds",
                        "Seconds from a whole request to its whole answer.");
  first_token_seconds.write(text, "tempera_first_token_seconds",
                            "Seconds from a whole request to the first text of its stream.");
  const std::scoped_lock lock(mutex_);
  labelled(text, "local_moves_total", "Local moves by rung.", "rung", moves_);
  labelled(text, "swaps_total", "Swaps by edge.", "edge", swaps_);
  return text;
}

}  // namespace tempera::serve
