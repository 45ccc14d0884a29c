#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "gpu/models/opened_model.hpp"

namespace tempera::python {

/// A lock that goes to those who wait in the order in which they came: one who takes it for each
/// forward pass lets the others in between.
class Turns {
 public:
  void lock() {
    std::unique_lock held(mutex_);
    const std::uint64_t mine = last_++;
    changed_.wait(held, [&] { return mine == now_; });
  }
  void unlock() {
    {
      const std::lock_guard held(mutex_);
      ++now_;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t last_ = 0;
  std::uint64_t now_ = 0;
};

/// A model that Python holds; a session of it keeps it open. It computes for one thread at a time,
/// so whoever computes with it holds its turns, and never asks for them while it holds the GIL.
class HeldModel final : public gpu::OpenedModel {
 public:
  explicit HeldModel(gpu::OpenedModel&& opened) : gpu::OpenedModel(std::move(opened)) {}

  Turns& turns() const { return turns_; }

 private:
  mutable Turns turns_;
};
using SharedModel = std::shared_ptr<HeldModel>;

/// Lets other threads compute with the model until its end.
class BetweenPasses {
 public:
  explicit BetweenPasses(std::unique_lock<Turns>& held) : held_(held) { held_.unlock(); }
  ~BetweenPasses() { held_.lock(); }
  BetweenPasses(const BetweenPasses&) = delete;
  BetweenPasses& operator=(const BetweenPasses&) = delete;

 private:
  std::unique_lock<Turns>& held_;
};

}  // namespace tempera::python
