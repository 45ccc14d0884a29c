#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "gpu/session/session.hpp"

namespace tempera::serve {

/// The one thread that owns a Session: it takes jobs between two forward passes, and sleeps while
/// no request is there.
class EngineLoop {
 public:
  using Job = std::function<void(gpu::Session&)>;
  /// Runs a piece of work in a turn of the model's; what the piece throws comes out of it.
  using InTurn = std::function<void(const std::function<void()>& piece)>;

  /// @param after_each called on the loop's thread after the jobs and the pass of every turn; true
  /// asks for another turn
  /// @param out_of_memory called there if memory has run out where no request could be ended for
  /// it: it has to end some. Without it the loop ends.
  /// @param in_turn where others compute with the model too, between two turns of the loop
  EngineLoop(gpu::Session& session, std::function<bool()> after_each,
             std::function<void()> out_of_memory = {}, InTurn in_turn = {})
      : session_(session),
        after_each_(std::move(after_each)),
        out_of_memory_(std::move(out_of_memory)),
        in_turn_(in_turn ? std::move(in_turn) : [](const auto& piece) { piece(); }) {}

  /// Runs on the calling thread until stop(). Returns what ended it, if that was an error of the
  /// model or the device that no single request caused.
  std::exception_ptr run();
  /// Runs `job` on the loop's thread, before the next pass, in the order of the posts. May be
  /// called from any thread. Jobs that are posted after stop() are dropped.
  void post(Job job);
  /// Runs a piece of work in a turn of the model's, as run() does its own. Not from within a turn.
  void take_turn(const std::function<void()>& piece) const { in_turn_(piece); }
  /// Ends run() after the pass that is under way. May be called from any thread.
  void stop();

 private:
  Job next_job();

  gpu::Session& session_;
  const std::function<bool()> after_each_;
  const std::function<void()> out_of_memory_;
  const InTurn in_turn_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Job> jobs_;
  bool is_stopping_ = false;
};

}  // namespace tempera::serve
