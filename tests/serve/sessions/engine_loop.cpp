// What is posted to the loop, a client that has left say, counts before the next forward pass.
#include "serve/sessions/engine_loop.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "tests/catch.hpp"
#include "tests/serve/sessions/served.hpp"

namespace tempera::serve::engine_loop_test {
namespace {

using nlohmann::json;

/// A client that does something when it hears of its first round, in the middle of a turn.
class Client final : public Exchange {
 public:
  explicit Client(std::function<void()> first) : first_(std::move(first)) {}
  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse /*response*/) override {}
  void begin_stream(unsigned /*status*/, std::string /*content_type*/) override {}
  void write(std::string part) override {
    if (part.starts_with(": choice"))
      if (const auto first = std::exchange(first_, {})) first();
  }
  void end() override { has_ended_ = true; }
  void on_leave(std::function<void()> /*left*/) override {}
  bool has_ended() const { return has_ended_; }

 private:
  HttpRequest request_;
  std::function<void()> first_;
  bool has_ended_ = false;
};

}  // namespace

TEST_CASE("the work of a client that has left ends before the next pass", "[serve]") {
  served_test::Served served;
  std::shared_ptr<Generation> generation;
  std::optional<std::uint64_t> passes;  // when the client was found gone
  EngineLoop loop(served.session, [&] {
    if (generation->is_over()) loop.stop();
    return false;
  });
  const auto client = std::make_shared<Client>([&] {
    passes = served.session.totals().batches;
    loop.post([&](gpu::Session& session) { generation->leave(session); });
  });
  generation = served.generation_of({{"prompt", "4+7+9?"},
                                     {"max_tokens", 28},
                                     {"stream", true},
                                     {"n", 3},
                                     {"tempera", {{"powers", {1, 2}}, {"rounds", 9}}}},
                                    client);
  loop.post([&](gpu::Session& session) { generation->begin(session); });
  CHECK(loop.run() == nullptr);
  REQUIRE(passes.has_value());
  CHECK(*passes > 0);
  CHECK(served.session.totals().batches == *passes);
  CHECK(served.session.totals().cache_bytes == 0);
  CHECK_FALSE(client->has_ended());
}

}  // namespace tempera::serve::engine_loop_test
