// No answer shows where anything is on the server's machine.
#include <memory>
#include <string>
#include <utility>

#include "gpu/llm/models/opened_model.hpp"
#include "serve/sessions/counters.hpp"
#include "serve/sessions/generation.hpp"
#include "serve/sessions/resolved_generation.hpp"
#include "tests/catch.hpp"

namespace tempera::serve::places_test {
namespace {

/// All that a client was sent.
class Client final : public Exchange {
 public:
  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse response) override { sent_ += response.body; }
  void begin_stream(unsigned /*status*/, std::string /*content_type*/) override {}
  void write(std::string part) override { sent_ += part; }
  void end() override {}
  void on_leave(std::function<void()> /*left*/) override {}
  const std::string& sent() const { return sent_; }

 private:
  HttpRequest request_;
  std::string sent_;
};

const Identity& identity() {
  static const Identity one{"sums",
                            "float32",
                            "sums-float32",
                            {{"/home/a/model", "sums"}, {"/disk/kept", "the server's disk"}}};
  return one;
}

}  // namespace

TEST_CASE("a message has names in the place of places", "[serve]") {
  CHECK(identity().without_paths("/home/a/model/config.json: no layers, /home/a/model") ==
        "sums/config.json: no layers, sums");
  CHECK(identity().without_paths("/disk/kept/x: no space left") ==
        "the server's disk/x: no space left");
  CHECK(identity().without_paths("seed: not a number") == "seed: not a number");
}

TEST_CASE("a request that fails says nothing of where the model is", "[serve]") {
  const auto model =
      gpu::OpenedModel::open(std::string(TEMPERA_SOURCE_DIR) + "/toy_models/worked_sum");
  for (const std::string stream : {"false", "true"}) {
    CAPTURE(stream);
    Counters counters;
    gpu::Session session(model, {});
    const auto client = std::make_shared<Client>();
    const auto generation = std::make_shared<Generation>(
        model, identity(), counters,
        resolve_generation(model, identity(), R"({"prompt": "4+7?", "stream": )" + stream + "}",
                           BodyForm::completion, {}, 1),
        GenerationName::fresh(BodyForm::completion), client);
    generation->begin(session);
    generation->give_up(500, "/home/a/model/model.safetensors: cannot be read");
    CHECK(client->sent().find("sums/model.safetensors: cannot be read") != std::string::npos);
    CHECK(client->sent().find("/home") == std::string::npos);
  }
}

}  // namespace tempera::serve::places_test
