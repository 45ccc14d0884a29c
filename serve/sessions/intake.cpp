#include "serve/sessions/intake.hpp"

#include <utility>

namespace tempera::serve {

Intake::~Intake() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    jobs_.clear();
  }
  news_.notify_one();
  thread_.join();
}

bool Intake::post(std::function<void()> job) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_stopping_ || jobs_.size() >= most_waiting_) return false;
    jobs_.push_back(std::move(job));
  }
  news_.notify_one();
  return true;
}

void Intake::run() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return is_stopping_ || !jobs_.empty(); });
      if (is_stopping_) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace tempera::serve
