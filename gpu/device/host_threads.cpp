#include "gpu/device/host_threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tempera::gpu {

namespace {

using Work = void (*)(const void* context, std::size_t item);

/// The most parts of a call for each thread, of neighbouring items: taking one costs nothing beside
/// them.
constexpr std::size_t most_parts = 64;

/// How long a thread without work looks for some before it sleeps. The kernels of a step follow
/// one another within less, and waking a thread takes longer than most of them.
constexpr std::chrono::microseconds watchful{200};

/// Looks at the last parts of a call before their threads, which may have no core, are let on.
constexpr std::size_t patient = 1000;

/// Threads that wait for calls of `run`, one call at a time.
///
/// Each thread has a range of neighbouring items, in parts that it claims one after another; then
/// it claims those of the others. A part is claimed by an exchange of the range's `claims`, which
/// holds the number of the call and how many parts are taken, for what was read there before the
/// call itself was read. Ranges are closed while a call is written, so a thread that comes late
/// claims nothing by what it has read of another.
class Workers {
 public:
  Workers() : limit_(std::max(1U, std::thread::hardware_concurrency())), ranges_(limit_) {}
  ~Workers() {
    is_over_ = true;
    call();
    for (std::thread& worker : workers_) worker.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Ends the threads that there are, none of which has work.
  std::size_t limit(std::size_t threads) {
    while (is_running_.test_and_set()) std::this_thread::yield();
    is_over_ = true;
    call();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    is_over_ = false;
    is_refused_ = false;
    ranges_ = std::vector<Range>(threads);
    const std::size_t before = std::exchange(limit_, threads);
    is_running_.clear();
    return before;
  }

  void run(std::size_t items, Work work, const void* context) {
    // A call from within a call, or beside another, has its thread to itself.
    if (items <= 1 || is_running_.test_and_set()) return do_all(items, work, context);
    if (limit_ == 1) {
      is_running_.clear();
      return do_all(items, work, context);
    }
    if (!is_refused_) begin_workers();
    ++number_;
    for (Range& range : ranges_) range.claims = number_ << part_bits | closed;
    call_ = {work, context, items};
    left_ = items;
    for (Range& range : ranges_) range.claims = number_ << part_bits;
    call();
    work_on(0, number_);
    for (std::size_t looks = 0; left_ > 0; ++looks) {
      if (looks > patient) std::this_thread::yield();
    }
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    is_running_.clear();
    if (failure) std::rethrow_exception(failure);
  }

 private:
  /// Begins the threads that are missing, or as many as the system gives: which thread does a part
  /// changes no bit.
  void begin_workers() {
    try {
      workers_.reserve(limit_ - 1);
      while (workers_.size() + 1 < limit_)
        workers_.emplace_back([this, number = workers_.size() + 1] { serve(number); });
    } catch (const std::exception&) {
      is_refused_ = true;
    }
  }

  static constexpr unsigned part_bits = 16;
  static constexpr std::uint64_t closed = (std::uint64_t{1} << part_bits) - 1;

  /// In a line of the cache of its own.
  struct alignas(64) Range {
    std::atomic<std::uint64_t> claims = closed;
  };
  struct Call {
    std::atomic<Work> work = nullptr;
    std::atomic<const void*> context = nullptr;
    std::atomic<std::size_t> items = 0;
    Call& operator=(const Call& other) {
      work = other.work.load();
      context = other.context.load();
      items = other.items.load();
      return *this;
    }
  };

  static void do_all(std::size_t items, Work work, const void* context) {
    for (std::size_t item = 0; item < items; ++item) work(context, item);
  }

  void call() {
    ++calls_;
    calls_.notify_all();
  }

  void serve(std::size_t thread) {
    // Its first use in a thread needs memory, and the system ends a process that has none then.
    host_scratch(0);
    std::uint32_t seen = calls_ - 1;  // whatever there is may be new
    while (!is_over_) {
      wait_for_call(seen);
      seen = calls_;
      work_on(thread, ranges_[thread].claims >> part_bits);
    }
  }

  void wait_for_call(std::uint32_t seen) const {
    const auto begin = std::chrono::steady_clock::now();
    while (calls_ == seen) {
      if (std::chrono::steady_clock::now() - begin > watchful) return calls_.wait(seen);
    }
  }

  /// Does parts of the call as long as there are any.
  void work_on(std::size_t thread, std::uint64_t number) {
    const std::size_t threads = ranges_.size();
    for (std::size_t i = 0; i < threads; ++i) {
      const std::size_t range = (thread + i) % threads;
      work_on_range(range, number);
    }
  }

  void work_on_range(std::size_t range, std::uint64_t number) {
    std::atomic<std::uint64_t>& shared = ranges_[range].claims;
    std::uint64_t claims = shared;
    for (;;) {
      const Work work = call_.work;
      const void* const context = call_.context;
      const std::size_t items = call_.items;
      const std::size_t begin = items * range / ranges_.size();
      const std::size_t length = items * (range + 1) / ranges_.size() - begin;
      const std::size_t parts = std::min(length, most_parts);
      const std::size_t part = claims & closed;
      if (claims >> part_bits != number || part >= parts) return;
      if (!shared.compare_exchange_weak(claims, claims + 1)) continue;
      const std::size_t first = begin + length * part / parts;
      const std::size_t end = begin + length * (part + 1) / parts;
      try {
        for (std::size_t item = first; item < end; ++item) work(context, item);
      } catch (...) {
        const std::scoped_lock lock(failing_);
        if (!failure_) failure_ = std::current_exception();
      }
      left_ -= end - first;
      ++claims;
    }
  }

  std::vector<std::thread> workers_;
  std::atomic_flag is_running_;
  std::size_t limit_;
  bool is_refused_ = false;  ///< whether the system has refused a thread
  std::atomic<bool> is_over_ = false;
  std::atomic<std::uint32_t> calls_ = 0;
  std::uint64_t number_ = 0;
  Call call_;
  std::vector<Range> ranges_;          // one for each thread
  std::atomic<std::size_t> left_ = 0;  // items
  std::mutex failing_;
  std::exception_ptr failure_;
};

Workers& workers() {
  static Workers all;
  return all;
}

}  // namespace

std::size_t limit_host_threads(std::size_t threads) { return workers().limit(threads); }

float* host_scratch(std::size_t floats) {
  struct alignas(64) Line {
    float values[16];
  };
  thread_local std::vector<Line> memory;
  if (memory.size() * 16 < floats) memory = std::vector<Line>((floats + 15) / 16);
  return memory.empty() ? nullptr : memory.front().values;
}

void on_host_threads(std::size_t items, Work work, const void* context) {
  workers().run(items, work, context);
}

}  // namespace tempera::gpu
