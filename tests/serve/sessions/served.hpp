// A session of the small trained model as the server has it, without connections.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "gpu/llm/models/opened_model.hpp"
#include "gpu/session/session.hpp"
#include "serve/sessions/counters.hpp"
#include "serve/sessions/generation.hpp"
#include "serve/sessions/resolved_generation.hpp"

namespace tempera::serve::served_test {

/// Keeps what it was sent.
class Client final : public Exchange {
 public:
  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse response) override { response_ = std::move(response); }
  void begin_stream(unsigned /*status*/, std::string /*content_type*/) override {}
  void write(std::string part) override { sent_ += part; }
  void end() override {}
  void on_leave(std::function<void()> /*left*/) override {}
  const std::string& body() const { return response_.body; }
  const std::string& sent() const { return sent_; }

 private:
  HttpRequest request_;
  HttpResponse response_;
  std::string sent_;
};

struct Asked {
  std::shared_ptr<Client> client = std::make_shared<Client>();
  std::shared_ptr<Generation> generation;
};

class Served {
 public:
  Asked ask(const nlohmann::json& body) {
    Asked asked;
    asked.generation = generation_of(body, asked.client);
    asked.generation->begin(session);
    return asked;
  }
  /// One that has not begun.
  std::shared_ptr<Generation> generation_of(const nlohmann::json& body,
                                            std::shared_ptr<Exchange> client) {
    return std::make_shared<Generation>(
        model, identity_, counters_,
        resolve_generation(model, identity_, body.dump(), BodyForm::completion, {}, 1),
        GenerationName::fresh(BodyForm::completion), std::move(client));
  }

  const gpu::OpenedModel model =
      gpu::OpenedModel::open(std::string(TEMPERA_SOURCE_DIR) + "/toy_models/worked_sum");
  gpu::Session session{model, {}};

 private:
  Identity identity_{"sums", "float32", "sums-float32", {}};
  Counters counters_;
};

}  // namespace tempera::serve::served_test
