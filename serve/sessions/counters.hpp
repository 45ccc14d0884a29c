#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gpu/session/sample_request.hpp"
#include "serve/sessions/client_account.hpp"
#include "serve/sessions/histogram.hpp"

namespace tempera::serve {

/// What the server has done so far: /metrics. Any thread may add and read.
struct Counters {
  std::atomic<std::uint64_t> requests{0};          ///< generation requests that came in
  std::atomic<std::uint64_t> refused{0};           ///< of them, answered by a status of 400 or more
  std::atomic<std::uint64_t> cancelled{0};         ///< of them, left by their client
  std::atomic<std::uint64_t> answers{0};           ///< choices that were answered
  std::atomic<std::uint64_t> prompt_tokens{0};     ///< tokens of prompts
  std::atomic<std::uint64_t> answer_tokens{0};     ///< tokens of answers
  std::atomic<std::uint64_t> decode_tokens{0};     ///< tokens drawn, also for proposals
  std::atomic<std::uint64_t> batches{0};           ///< forward passes
  std::atomic<std::uint64_t> cache_bytes{0};       ///< set aside for caches of what is under way
  std::atomic<std::uint64_t> most_cache_bytes{0};  ///< the most that caches have taken at once
  std::atomic<std::uint64_t> cache_limit{0};       ///< the most that caches may take
  std::atomic<std::uint64_t> under_way{0};         ///< choices that are being drawn or wait
  std::atomic<std::uint64_t> round_trips{0};       ///< of replicas, rung 1 → K → 1
  std::atomic<std::uint64_t> connections{0};       ///< that are open now
  std::atomic<std::uint64_t> batch_lines{0};       ///< lines of /v1/batches that were answered
  std::atomic<std::uint64_t> log_lines_lost{0};    ///< of the access log
  std::atomic<double> forward_seconds{0.0};
  std::atomic<double> draw_seconds{0.0};
  std::atomic<double> accept_seconds{0.0};
  std::atomic<double> swap_seconds{0.0};
  std::atomic<double> score_seconds{0.0};
  Histogram request_seconds;      ///< of requests that were answered whole
  Histogram first_token_seconds;  ///< of streams, until their first text

  /// Adds an answer's acceptances, by rung and edge.
  void add(const gpu::Answer& answer);
  /// Returns them in Prometheus' text format, version 0.0.4.
  std::string prometheus() const;

 private:
  mutable std::mutex mutex_;
  std::vector<gpu::AcceptanceCounts> moves_;
  std::vector<gpu::AcceptanceCounts> swaps_;
};

/// The place of a request's choices among those that are drawn or wait. It counts until it is
/// destroyed: before the last byte of the answer is sent, so that its client may ask again at once.
class QueueEntry {
 public:
  /// Nothing if more than `most` would then be drawn or wait.
  static std::unique_ptr<QueueEntry> take(Counters& counters, std::size_t choices,
                                          std::size_t most);
  ~QueueEntry() { counters_.under_way -= choices_; }
  QueueEntry(const QueueEntry&) = delete;
  QueueEntry& operator=(const QueueEntry&) = delete;

  /// Lets the request keep its place among those of its client as long as this one.
  void keep(std::unique_ptr<ClientPlace> place) { place_ = std::move(place); }
  /// Tokens that were read or drawn for the request.
  void pay(std::uint64_t tokens) {
    if (place_) place_->pay(tokens);
  }

 private:
  QueueEntry(Counters& counters, std::size_t choices) : counters_(counters), choices_(choices) {}

  Counters& counters_;
  const std::size_t choices_;
  std::unique_ptr<ClientPlace> place_;  ///< null for a client that has no key
};

}  // namespace tempera::serve
