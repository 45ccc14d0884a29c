#include "gpu/core/engine/task.hpp"

#include <stdexcept>
#include <string>

#include "tests/catch.hpp"

namespace tempera::gpu {
namespace {

/// Whoever waits at a gate goes on when the test says so.
struct Gate {
  std::vector<std::coroutine_handle<>> waiting;
  struct Awaiter {
    Gate& gate;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) { gate.waiting.push_back(handle); }
    void await_resume() const noexcept {}
  };
  Awaiter pass() { return {*this}; }
  /// Lets the one that has waited at `index` go on.
  void open(std::size_t index) {
    const auto handle = waiting.at(index);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(index));
    handle.resume();
  }
};

Task write_after(Gate& gate, std::string& log, char letter, int gates) {
  for (int i = 0; i < gates; ++i) co_await gate.pass();
  log += letter;
}

Task fail_after(Gate& gate, const char* message, int gates) {
  for (int i = 0; i < gates; ++i) co_await gate.pass();
  throw std::runtime_error(message);
}

Task gather(std::vector<Task> tasks, std::string& log, char letter) {
  co_await all(std::move(tasks));
  log += letter;
}

template <class... Tasks>
std::vector<Task> list(Tasks... tasks) {
  std::vector<Task> result;
  (result.push_back(std::move(tasks)), ...);
  return result;
}

std::string message_of(const Task& task) {
  try {
    task.rethrow();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a task starts when it is asked to and hands back at its end") {
  Gate gate;
  std::string log;
  Task task = gather(list(write_after(gate, log, 'a', 1)), log, '.');
  CHECK(gate.waiting.empty());
  task.start();
  CHECK_FALSE(task.done());
  CHECK(log.empty());
  gate.open(0);
  CHECK(task.done());
  CHECK(log == "a.");
}

TEST_CASE("all ends when the last of its tasks has ended, in whatever order") {
  Gate gate;
  std::string log;
  Task task = gather(list(write_after(gate, log, 'a', 1), write_after(gate, log, 'b', 0),
                          write_after(gate, log, 'c', 1)),
                     log, '.');
  task.start();
  CHECK(log == "b");
  gate.open(1);
  CHECK(log == "bc");
  CHECK_FALSE(task.done());
  gate.open(0);
  CHECK(log == "bca.");
  CHECK(task.done());
}

TEST_CASE("all of nothing, and of tasks that never wait, goes on at once") {
  Gate gate;
  std::string log;
  Task nothing = gather({}, log, 'n');
  nothing.start();
  CHECK(nothing.done());
  Task immediate =
      gather(list(write_after(gate, log, 'a', 0), write_after(gate, log, 'b', 0)), log, '.');
  immediate.start();
  CHECK(immediate.done());
  CHECK(log == "nab.");
}

TEST_CASE("all may be inside all, a thousand tasks wide") {
  Gate gate;
  std::string log;
  std::vector<Task> outer;
  for (int i = 0; i < 10; ++i) {
    std::vector<Task> inner;
    for (int j = 0; j < 100; ++j) inner.push_back(write_after(gate, log, 'x', j % 3));
    outer.push_back(gather(std::move(inner), log, '|'));
  }
  Task task = gather(std::move(outer), log, '.');
  task.start();
  while (!gate.waiting.empty()) gate.open(gate.waiting.size() / 2);
  CHECK(task.done());
  CHECK(std::count(log.begin(), log.end(), 'x') == 1000);
  CHECK(std::count(log.begin(), log.end(), '|') == 10);
  CHECK(log.back() == '.');
}

TEST_CASE("an exception waits for the other tasks, then reaches the one that awaits") {
  Gate gate;
  std::string log;
  for (const int gates : {0, 1}) {
    log.clear();
    Task inner = gather(list(write_after(gate, log, 'a', 1), fail_after(gate, "first", gates),
                             fail_after(gate, "second", 0)),
                        log, '.');
    Task task = gather(list(std::move(inner)), log, '!');
    task.start();
    CHECK_FALSE(task.done());
    while (!gate.waiting.empty()) gate.open(0);
    CHECK(task.done());
    // The first in the order of the tasks, not of time; nothing after the all has run.
    CHECK(message_of(task) == "first");
    CHECK(log == "a");
  }
}

TEST_CASE("a task that is given up while it waits takes its children with it") {
  Gate gate;
  std::string log;
  {
    Task task =
        gather(list(write_after(gate, log, 'a', 1), write_after(gate, log, 'b', 2)), log, '.');
    task.start();
  }
  CHECK(log.empty());  // the sanitizers see whether a frame is left over
}

}  // namespace tempera::gpu
