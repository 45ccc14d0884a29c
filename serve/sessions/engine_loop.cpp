#include "serve/sessions/engine_loop.hpp"

#include <new>
#include <utility>

namespace tempera::serve {

std::exception_ptr EngineLoop::run() {
  bool is_busy = false;
  for (;;) {
    std::size_t waiting = 0;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return is_stopping_ || is_busy || !jobs_.empty(); });
      if (is_stopping_) return nullptr;
      waiting = jobs_.size();
    }
    try {
      take_turn([&] {
        // One that throws is done, and those after it have their turn next.
        for (; waiting > 0; --waiting)
          if (const Job job = next_job()) job(session_);
        is_busy = session_.step();
        is_busy = after_each_() || is_busy;
      });
    } catch (const std::bad_alloc&) {
      if (!out_of_memory_) return std::current_exception();
      try {
        take_turn(out_of_memory_);
      } catch (const std::bad_alloc&) {
        // Whoever was ended has given memory back; the others continue.
      }
      is_busy = true;
    } catch (...) {
      return std::current_exception();
    }
  }
}

EngineLoop::Job EngineLoop::next_job() {
  const std::scoped_lock lock(mutex_);
  if (jobs_.empty()) return {};  // stop() has dropped it
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  return job;
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
