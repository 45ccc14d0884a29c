#include "serve/sessions/engine_loop.hpp"

#include <new>
#include <utility>

namespace tempera::serve {

std::exception_ptr EngineLoop::run() {
  bool is_busy = false;
  for (;;) {
    std::vector<Job> jobs;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return is_stopping_ || is_busy || !jobs_.empty(); });
      if (is_stopping_) return nullptr;
      jobs.swap(jobs_);
    }
    try {
      in_turn_([&] {
        for (const Job& job : jobs) job(session_);
        is_busy = session_.step();
        is_busy = after_each_() || is_busy;
      });
    } catch (const std::bad_alloc&) {
      if (!out_of_memory_) return std::current_exception();
      try {
        in_turn_(out_of_memory_);
      } catch (const std::bad_alloc&) {
        // Whoever was ended has given memory back; the others continue.
      }
      is_busy = true;
    } catch (...) {
      return std::current_exception();
    }
  }
}

void EngineLoop::post(Job job) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_stopping_) return;
    jobs_.push_back(std::move(job));
  }
  news_.notify_one();
}

void EngineLoop::stop() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    jobs_.clear();
  }
  news_.notify_one();
}

}  // namespace tempera::serve
