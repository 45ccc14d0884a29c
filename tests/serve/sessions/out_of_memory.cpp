// Memory that runs out ends a request, by 503 or an event, and never the server.
#include <new>
#include <thread>

#include "gpu/core/model/forwarding_model.hpp"
#include "gpu/core/model/no_room.hpp"
#include "serve/sessions/engine_loop.hpp"
#include "serve/sessions/memory_reserve.hpp"
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

TEST_CASE("what is destroyed while an exception is on its way has the reserve of memory",
          "[serve]") {
  struct Asks {
    Asks(bool& is_given) : given(is_given) {}
    ~Asks() {
      try {
        std::get_new_handler()();
        given = true;
      } catch (const std::bad_alloc&) {
        given = false;
      }
    }
    bool& given;
  };
  std::thread([] {
    const MemoryReserve reserve;
    MemoryReserve::set_thread(MemoryReserve::Thread::draws);
    const auto unwinds = [] {
      bool is_given = false;
      try {
        const Asks asks(is_given);
        throw std::bad_alloc();
      } catch (const std::bad_alloc&) {
      }
      return is_given;
    };
    CHECK_THROWS_AS(std::get_new_handler()(), std::bad_alloc);
    CHECK(unwinds());
    CHECK_FALSE(unwinds());  // it is gone
    MemoryReserve::restore();
    CHECK(unwinds());
  }).join();
}

}  // namespace tempera::serve::out_of_memory_test
