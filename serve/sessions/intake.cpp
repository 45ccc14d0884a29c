#include "serve/sessions/intake.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "gpu/llm/text/encoding_stop.hpp"

namespace tempera::serve {

std::shared_ptr<Leaving> Leaving::watch(Exchange& exchange) {
  auto leaving = std::make_shared<Leaving>();
  exchange.on_leave([leaving] { leaving->leave(); });
  return leaving;
}

bool Leaving::has_left() const {
  const std::scoped_lock lock(mutex_);
  return has_left_;
}

void Leaving::call(std::function<void()> then) {
  {
    const std::scoped_lock lock(mutex_);
    if (!has_left_) {
      then_ = std::move(then);
      return;
    }
  }
  then();
}

void Leaving::leave() {
  std::function<void()> then;
  {
    const std::scoped_lock lock(mutex_);
    has_left_ = true;
    then = std::move(then_);
  }
  if (then) then();
}

Intake::Intake(const IntakeLimits& limits) : limits_(limits) {
  try {
    for (std::size_t thread = 0; thread < limits_.threads; ++thread)
      threads_.emplace_back([this, thread] { work(thread > 0); });
  } catch (...) {
    stop();  // those that the system gave wait for work
    throw;
  }
}

Intake::~Intake() { stop(); }

void Intake::stop() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    small_.clear();
    large_.clear();
  }
  news_.notify_all();
  threads_.clear();  // which joins them
}

bool Intake::post(const std::shared_ptr<Exchange>& exchange, Work work,
                  std::function<void()> left) {
  const std::size_t bytes = exchange->request().body.size();
  auto leaving = Leaving::watch(*exchange);
  {
    const std::scoped_lock lock(mutex_);
    if (is_stopping_ || jobs_ >= limits_.jobs) return false;
    if (jobs_ > 0 && bytes > limits_.bytes - std::min(bytes_, limits_.bytes)) return false;
    ++jobs_;
    bytes_ += bytes;
    auto& line = bytes > limits_.small_bytes ? large_ : small_;
    line.push_back({bytes, std::move(leaving), std::move(work), std::move(left)});
  }
  news_.notify_all();
  return true;
}

void Intake::work(bool takes_large) {
  const auto may_take = [&] { return !small_.empty() || (takes_large && !large_.empty()); };
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [&] { return is_stopping_ || may_take(); });
      if (is_stopping_) return;
      auto& line = small_.empty() ? large_ : small_;
      job = std::move(line.front());
      line.pop_front();
    }
    try {
      const gpu::EncodingStop stop([&] { return job.leaving->has_left(); });
      gpu::EncodingStop::check();
      job.work(*job.leaving);
    } catch (const gpu::EncodingStop::Stopped&) {
      if (job.left) job.left();
    } catch (const std::bad_alloc&) {
      // Not even for a refusal: the client waits until it leaves, and the others are answered.
    }
    const std::scoped_lock lock(mutex_);
    --jobs_;
    bytes_ -= job.bytes;
  }
}

}  // namespace tempera::serve
