// Bodies are read by several threads: small ones never wait for large ones, what waits is bounded,
// and what nobody waits for any more is dropped.
#include "serve/sessions/intake.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <latch>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "gpu/llm/text/encoding_stop.hpp"
#include "tests/catch.hpp"

namespace tempera::serve::intake_test {
namespace {

class Sent final : public Exchange {
 public:
  explicit Sent(std::size_t bytes) { request_.body = std::string(bytes, 'x'); }
  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse) override {}
  void begin_stream(unsigned, std::string) override {}
  void write(std::string) override {}
  void end() override {}
  void on_leave(std::function<void()> left) override { left_ = std::move(left); }
  void leave() { left_(); }

 private:
  HttpRequest request_;
  std::function<void()> left_;
};

std::shared_ptr<Sent> sent(std::size_t bytes) { return std::make_shared<Sent>(bytes); }

constexpr IntakeLimits limits{.jobs = 5, .bytes = 1000, .small_bytes = 40, .threads = 3};

/// A job that waits until it is let go, at the latest by a test that has failed.
class Held {
  struct State {
    std::latch began{1}, go{1}, done{1};
  };

 public:
  ~Held() { let_go(); }
  Intake::Work job() {
    return [state = state_](Leaving&) {
      state->began.count_down();
      state->go.wait();
      state->done.count_down();
    };
  }
  void end() {
    let_go();
    state_->done.wait();
  }

 private:
  void let_go() {
    if (!std::exchange(is_let_go_, true)) state_->go.count_down();
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
  bool is_let_go_ = false;

 public:
  std::latch& began = state_->began;
};

/// The limits count a job until just after it has ended.
bool post_when_may(Intake& intake, const std::shared_ptr<Exchange>& exchange,
                   const Intake::Work& job) {
  for (int tries = 0; tries < 100000; ++tries) {
    if (intake.post(exchange, job)) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

TEST_CASE("a small body is read while large ones hold all threads that they may", "[serve]") {
  Held first, second, third, small;
  {
    Intake intake(limits);
    REQUIRE(intake.post(sent(41), first.job()));
    REQUIRE(intake.post(sent(41), second.job()));
    first.began.wait();
    second.began.wait();
    REQUIRE(intake.post(sent(41), third.job()));
    REQUIRE(intake.post(sent(40), small.job()));
    small.began.wait();
    CHECK_FALSE(third.began.try_wait());  // though it came before
    small.end();
    CHECK_FALSE(third.began.try_wait());
    first.end();
    third.began.wait();
    second.end();
    third.end();
  }
}

TEST_CASE("no more jobs and bytes wait than may, and each that ends makes room", "[serve]") {
  Intake intake(limits);
  for (int turn = 0; turn < 3; ++turn) {  // the whole of it, three times over
    CAPTURE(turn);
    std::vector<std::unique_ptr<Held>> held;
    for (std::size_t i = 0; i < limits.jobs; ++i)
      REQUIRE(post_when_may(intake, sent(1), held.emplace_back(std::make_unique<Held>())->job()));
    CHECK_FALSE(intake.post(sent(1), [](Leaving&) {}));
    for (const auto& each : held) each->end();
  }
  for (int turn = 0; turn < 3; ++turn) {
    CAPTURE(turn);
    Held large, small;
    REQUIRE(post_when_may(intake, sent(600), large.job()));
    CHECK_FALSE(intake.post(sent(401), [](Leaving&) {}));
    REQUIRE(intake.post(sent(400), small.job()));
    CHECK_FALSE(intake.post(sent(1), [](Leaving&) {}));
    large.end();
    small.end();
    // One body alone may be larger than all together.
    Held alone;
    REQUIRE(post_when_may(intake, sent(5000), alone.job()));
    CHECK_FALSE(intake.post(sent(1), [](Leaving&) {}));
    alone.end();
  }
}

TEST_CASE("what a client has sent that has left is dropped, and said so", "[serve]") {
  Held first, second;
  std::latch told(1);
  bool is_read = false;
  Intake intake(limits);
  REQUIRE(intake.post(sent(100), first.job()));
  REQUIRE(intake.post(sent(100), second.job()));
  first.began.wait();
  second.began.wait();
  const auto leaving = sent(100);
  REQUIRE(intake.post(
      leaving, [&](Leaving&) { is_read = true; }, [&] { told.count_down(); }));
  leaving->leave();
  first.end();
  told.wait();
  second.end();
  CHECK_FALSE(is_read);
  // Its bytes are free again: as many as may wait have room.
  Held small;
  REQUIRE(post_when_may(intake, sent(1), small.job()));
  small.began.wait();
  CHECK(post_when_may(intake, sent(limits.bytes - 1), [](Leaving&) {}));
  small.end();
}

TEST_CASE("a text is encoded no further once its client has left", "[serve]") {
  std::latch began(1), told(1);
  Intake intake(limits);
  const auto leaving = sent(100);
  REQUIRE(intake.post(
      leaving,
      [&](Leaving&) {
        began.count_down();
        for (;;) gpu::EncodingStop::check();  // a text that never ends
      },
      [&] { told.count_down(); }));
  began.wait();
  leaving->leave();
  told.wait();
  Held next;  // the thread goes on with others
  REQUIRE(post_when_may(intake, sent(limits.bytes), next.job()));
  next.began.wait();
}

TEST_CASE("who asks whether a client leaves is told once, whenever it does", "[serve]") {
  for (const bool before : {true, false}) {
    const auto leaving_client = sent(1);
    const auto leaving = Leaving::watch(*leaving_client);
    int told = 0;
    if (before) leaving_client->leave();
    CHECK(leaving->has_left() == before);
    leaving->call([&] { ++told; });
    CHECK(told == (before ? 1 : 0));
    if (!before) leaving_client->leave();
    CHECK(told == 1);
    CHECK(leaving->has_left());
  }
}

TEST_CASE("a system that gives too few threads ends the intake that was to have more", "[serve]") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit less = before;
  // Some stacks have room, and never a thousand, also beside those that the library keeps.
  less.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (256 << 20);
  REQUIRE(::setrlimit(RLIMIT_AS, &less) == 0);
  IntakeLimits many = limits;
  many.threads = 1000;
  bool is_refused = false;
  try {
    const Intake intake(many);
  } catch (const std::system_error&) {
    is_refused = true;
  }
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(is_refused);
}

}  // namespace tempera::serve::intake_test
