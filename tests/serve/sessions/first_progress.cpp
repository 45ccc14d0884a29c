// When a client hears of its request for the first time, counted in forward passes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/session.hpp"
#include "serve/sessions/counters.hpp"
#include "serve/sessions/generation.hpp"
#include "serve/sessions/resolved_generation.hpp"
#include "tests/catch.hpp"

namespace tempera::serve::first_progress_test {
namespace {

/// A client: after how many forward passes it was told of its request, and of each round.
class Client final : public Exchange {
 public:
  explicit Client(const gpu::Session& session) : session_(session) {}
  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse /*response*/) override {}
  void begin_stream(unsigned /*status*/, std::string /*content_type*/) override {}
  void write(std::string part) override {
    if (part.starts_with(": accepted")) accepted_.push_back(session_.totals().batches);
    if (part.starts_with(": choice")) comments_.push_back(session_.totals().batches);
  }
  void end() override { has_ended_ = true; }
  void on_leave(std::function<void()> /*left*/) override {}

  const std::vector<std::uint64_t>& accepted() const { return accepted_; }
  const std::vector<std::uint64_t>& comments() const { return comments_; }
  bool has_ended() const { return has_ended_; }

 private:
  const gpu::Session& session_;
  HttpRequest request_;
  std::vector<std::uint64_t> accepted_;
  std::vector<std::uint64_t> comments_;
  bool has_ended_ = false;
};

constexpr std::size_t block = 4;
constexpr std::size_t rungs = 4;

/// What each of `count` clients heard of its rounds while all were answered; their requests differ
/// in the seed.
std::vector<std::vector<std::uint64_t>> comments_of_clients(std::size_t count) {
  const auto model =
      gpu::OpenedModel::open(std::string(TEMPERA_SOURCE_DIR) + "/toy_models/worked_sum");
  const Identity identity{"worked_sum", "float32", "worked_sum-float32"};
  Counters counters;
  gpu::SessionOptions options;
  options.largest_batch = count * rungs;
  options.in_flight = count;
  gpu::Session session(model, options);
  std::vector<std::shared_ptr<Client>> clients;
  std::vector<std::shared_ptr<Generation>> generations;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(std::make_shared<Client>(session));
    generations.push_back(std::make_shared<Generation>(
        model, identity, counters,
        resolve_generation(model, identity,
                           R"({"prompt": "4+7+9+3+8?", "max_tokens": 20, "stream": true,)"
                           R"( "tempera": {"powers": [1, 1.6, 2.5, 4], "block": 4, "rounds": 5}})",
                           BodyForm::completion, {}, i),
        GenerationName::fresh(BodyForm::completion), clients.back()));
    generations.back()->begin(session);
  }
  while (session.step()) {
  }
  std::vector<std::vector<std::uint64_t>> comments;
  for (const auto& client : clients) {
    CHECK(client->has_ended());
    CHECK(client->accepted() == std::vector<std::uint64_t>{0});
    comments.push_back(client->comments());
  }
  return comments;
}

}  // namespace

TEST_CASE("the first progress comes within one round, and each round is told as it ends",
          "[serve]") {
  // The first stage has records of one block: its extension and each of its rounds, of one local
  // move, take at most as many passes as a block has tokens. The prompt takes one before.
  for (const std::size_t count : {std::size_t{1}, std::size_t{64}}) {
    CAPTURE(count);
    for (const auto& comments : comments_of_clients(count)) {
      REQUIRE(comments.size() >= 5);
      CHECK(comments.front() <= 1 + block);
      // Later stages move whole records: so many passes are between two comments at the most.
      for (std::size_t i = 1; i < comments.size(); ++i) {
        CHECK(comments[i] >= comments[i - 1]);
        CHECK(comments[i] - comments[i - 1] <= 20);
      }
      CHECK(comments.back() > comments.front() + block);
    }
  }
}

}  // namespace tempera::serve::first_progress_test
