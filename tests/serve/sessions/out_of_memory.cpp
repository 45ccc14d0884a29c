// Memory that runs out ends a request, by 503 or an event, and never the server.
#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "base/memory_reserve.hpp"
#include "gpu/core/model/forwarding_model.hpp"
#include "gpu/core/model/no_room.hpp"
#include "serve/sessions/engine_loop.hpp"
#include "tests/catch.hpp"
#include "tests/failing_new.hpp"
#include "tests/serve/sessions/served.hpp"

namespace tempera::serve::out_of_memory_test {
namespace {

using nlohmann::json;

class Client final : public Exchange {
 public:
  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse response) override { given = std::move(response); }
  void begin_stream(unsigned status, std::string) override { given.status = status; }
  void write(std::string part) override { given.body += part; }
  void end() override { has_ended = true; }
  void on_leave(std::function<void()>) override {}
  HttpResponse given;
  bool has_ended = false;

 private:
  HttpRequest request_;
};

/// A model whose memory ends at some passes.
class Poor final : public gpu::ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;
  std::size_t ends_at = 0;  ///< of bad_alloc
  std::size_t room = SIZE_MAX;
  std::size_t passes = 0;

 private:
  void before(std::span<const gpu::Pass> of_batch) override {
    if (++passes == ends_at) throw std::bad_alloc();
    for (const gpu::Pass& pass : of_batch)
      if (pass.cache->length() + pass.tokens.size() > room)
        throw gpu::NoRoom("the memory of the device", "is full", "ask for less");
  }
};

json body_of(std::size_t horizon, bool stream) {
  return {{"prompt", "4+7?"},
          {"max_tokens", horizon},
          {"stream", stream},
          {"tempera", {{"powers", {1, 2}}, {"block", 4}, {"rounds", 1}}}};
}

struct Asked {
  Asked(served_test::Served& served, gpu::Session& session, const json& body)
      : generation(served.generation_of(body, client)) {
    generation->begin(session);
  }
  std::shared_ptr<Client> client = std::make_shared<Client>();
  std::shared_ptr<Generation> generation;
};

}  // namespace

TEST_CASE(
    "a pass without memory ends the requests of its batch by 503, and later ones are answered",
    "[serve]") {
  served_test::Served served;
  Poor poor(served.model.model());
  gpu::Session session(poor, {}, &served.model.text());
  poor.ends_at = 4;
  const Asked whole(served, session, body_of(8, false));
  const Asked streamed(served, session, body_of(8, true));
  while (session.step()) {
  }
  CHECK(whole.client->given.status == 503);
  CHECK(whole.client->given.body.find("no memory for this request") != std::string::npos);
  CHECK(streamed.client->has_ended);
  CHECK(streamed.client->given.body.find("no memory for this request") != std::string::npos);
  CHECK(streamed.client->given.body.find("[DONE]") == std::string::npos);
  const Asked later(served, session, body_of(8, false));
  while (session.step()) {
  }
  CHECK(later.client->given.status == 200);
}

TEST_CASE("a request that finds no room ends alone", "[serve]") {
  served_test::Served served;
  Poor poor(served.model.model());
  gpu::Session session(poor, {}, &served.model.text());
  poor.room = 14;
  const Asked larger(served, session, body_of(28, false));
  const Asked smaller(served, session, body_of(4, false));
  while (session.step()) {
  }
  CHECK(larger.client->given.status == 503);
  CHECK(smaller.client->given.status == 200);
  gpu::Session rich(served.model);
  const Asked alone(served, rich, body_of(4, false));
  while (rich.step()) {
  }
  const auto choices = [](const Asked& asked) {
    return json::parse(asked.client->given.body)["choices"];
  };
  CHECK(choices(smaller) == choices(alone));
}

TEST_CASE("memory that runs out between passes ends what is asked for, and the loop goes on",
          "[serve]") {
  served_test::Served served;
  std::shared_ptr<Generation> first, second;
  std::size_t turns = 0;
  std::size_t told = 0;
  EngineLoop loop(
      served.session,
      [&] {
        if (++turns == 3) throw std::bad_alloc();
        if (first->is_over() && second && second->is_over()) loop.stop();
        return false;
      },
      [&] {
        ++told;
        first->give_up(503, "no memory");
        loop.post([&](gpu::Session& session) { second->begin(session); });
      });
  const auto client = std::make_shared<Client>();
  const auto other = std::make_shared<Client>();
  first = served.generation_of(body_of(28, false), client);
  second = served.generation_of(body_of(4, false), other);
  loop.post([&](gpu::Session& session) { first->begin(session); });
  CHECK(loop.run() == nullptr);
  CHECK(told == 1);
  CHECK(client->given.status == 503);
  CHECK(other->given.status == 200);
}

TEST_CASE("memory that runs out while a body of many values is read ends its request alone",
          "[serve]") {
  json many = json::array();
  for (int i = 0; i < 200; ++i) many.push_back({1, 2, 3});
  json completion = body_of(8, false);
  completion["prompt"] = many;
  json chat = body_of(8, false);
  chat.erase("prompt");
  chat["messages"] = {{{"role", "user"}, {"content", "Hi"}}};
  chat["chat_template_kwargs"] = {{"list", many}};
  for (const auto& [body, form] :
       {std::pair{completion, BodyForm::completion}, std::pair{chat, BodyForm::chat}}) {
    const std::string text = body.dump();
    std::size_t refused = 0;
    // Whatever is destroyed on the way finds no memory either: that would end this program.
    for (bool is_read = false; !is_read;) {
      try {
        const failing_new::After few(refused);
        read_generation_request(text, form, {}, 7);
        is_read = true;
      } catch (const std::bad_alloc&) {
        ++refused;
      }
    }
    CHECK(refused > 400);
  }
}

namespace {

/// `new` has the reserve, as in the program.
class WithReserve {
 public:
  WithReserve() {
    failing_new::take_from_reserve = MemoryReserve::take;
    failing_new::give_back_to_reserve = MemoryReserve::give_back;
  }
  ~WithReserve() { failing_new::take_from_reserve = nullptr; }  // pieces may be about

 private:
  MemoryReserve reserve_;
};

}  // namespace

TEST_CASE("what is destroyed while an exception is on its way has the reserve of memory",
          "[serve]") {
  const WithReserve with;
  const failing_new::After none(0);
  bool is_given = false;
  struct Allocates {
    ~Allocates() {
      const nlohmann::json value = nlohmann::json::array({1, 2, 3});
      given = value.size() == 3;
    }
    bool& given;
  };
  try {
    const Allocates allocates{is_given};
    throw 1;
  } catch (int) {
  }
  CHECK(is_given);
  CHECK_THROWS_AS(std::make_unique<int>(1), std::bad_alloc);
}

TEST_CASE("a new that fails anywhere in a request's passes ends it by 503 or changes nothing",
          "[serve]") {
  const WithReserve with;
  const auto answer_after = [](std::size_t news) {
    served_test::Served served;
    const auto client = std::make_shared<Client>();
    const auto generation = served.generation_of(body_of(8, false), client);
    std::optional<failing_new::After> few;
    EngineLoop loop(
        served.session,
        [&] {
          if (generation->is_over()) loop.stop();
          return false;
        },
        [&] {
          const MemoryReserve::Use reserve(MemoryReserve::Purpose::answers);
          generation->give_up(503, "the loop's");
        });
    loop.post([&](gpu::Session& session) {
      few.emplace(news);
      generation->begin(session);
    });
    const MemoryReserve::Use books(MemoryReserve::Purpose::books);
    CHECK(loop.run() == nullptr);
    few.reset();
    CHECK(generation->is_over());
    return client->given;
  };
  const auto choices = [](const HttpResponse& given) { return json::parse(given.body)["choices"]; };
  const json alone = choices(answer_after(SIZE_MAX - 1));
  std::size_t refused = 0;
  std::size_t answered = 0;
  for (std::size_t news = 0; answered == 0 || news < 2000; news += 1 + news / 16) {
    const HttpResponse given = answer_after(news);
    CAPTURE(news, given.body);
    if (given.status == 503) {
      ++refused;
    } else {
      REQUIRE(given.status == 200);
      CHECK(choices(given) == alone);
      ++answered;
    }
  }
  CHECK(refused > 20);
}

TEST_CASE("a job that finds no memory takes none of those behind it along", "[serve]") {
  served_test::Served served;
  std::vector<int> done;
  EngineLoop loop(
      served.session,
      [&] {
        if (done.size() == 3) loop.stop();
        return false;
      },
      [] {});
  for (int job = 0; job < 4; ++job)
    loop.post([&done, job](gpu::Session&) {
      if (job == 1) throw std::bad_alloc();
      done.push_back(job);
    });
  CHECK(loop.run() == nullptr);
  CHECK(done == std::vector{0, 2, 3});
}

}  // namespace tempera::serve::out_of_memory_test
