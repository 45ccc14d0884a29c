// A small request beside another client's largest: it takes at most twice its time alone and two
// steps. The clock is the test's own, and each pass and token has its price in it.
#include <functional>

#include "gpu/core/model/forwarding_model.hpp"
#include "tests/gpu/session/asked_request.hpp"

namespace tempera::gpu::fair_time_test {
namespace {

class PricedModel final : public ForwardingModel {
 public:
  PricedModel(LanguageModel& model, double pass, double token)
      : ForwardingModel(model), pass_(pass), token_(token) {}
  double now = 0.0;
  double of_texts = 0.0;  ///< the part of `now` that passes over texts took
  std::size_t tokens = 0;
  std::size_t passes = 0;

 private:
  void after(std::span<const Pass> computed) override {
    const double began = now;
    now += pass_;
    ++passes;
    for (const Pass& pass : computed) {
      const std::size_t count = std::max<std::size_t>(1, pass.tokens.size());
      tokens += count;
      now += token_ * static_cast<double>(count);
    }
    // Samples ask for one token each, or for none where a cache is forked.
    const auto is_of_sample = [](const Pass& pass) { return pass.tokens.size() == 1; };
    if (std::none_of(computed.begin(), computed.end(), is_of_sample)) of_texts += now - began;
  }
  double pass_;
  double token_;
};

std::vector<TokenId> long_text(std::size_t tokens, std::uint64_t seed) {
  std::vector<TokenId> text;
  for (std::size_t i = 0; i < tokens; ++i)
    text.push_back(static_cast<TokenId>(2 + (seed * 31 + i * i) % 5));
  return text;
}

struct Neighbour {
  const char* name;
  std::size_t clients;
  std::function<void(Session&, Heard&)> submit;
};

SessionOptions options_of(const PricedModel& model) {
  SessionOptions options;
  options.clock = [&] { return model.now; };
  return options;
}

}  // namespace

TEST_CASE("a small request takes its part of the time beside other clients, whatever they ask for",
          "[session][unsanitized]") {
  const Asked largest{.rungs = 6, .samples = 128, .rounds = 400, .horizon = 28, .prefetch = 4};
  const auto many_choices = [&](Session& session, Heard& heard) {
    session.submit(request_of(largest, {1, 1}), heard);
  };
  const auto three_of_them = [&](Session& session, Heard& heard) {
    for (std::uint64_t client : {1, 3, 4})
      session.submit(request_of(largest, {client, client}), heard);
  };
  const auto many_requests = [](Session& session, Heard& heard) {
    for (std::uint64_t number = 0; number < 40; ++number)
      session.submit(request_of({.rungs = 3, .rounds = 400}, {1, 100 + number}), heard);
  };
  const auto long_prompts = [](Session& session, Heard& heard) {
    for (std::uint64_t number = 0; number < 60; ++number) {
      SampleRequest request = request_of({.samples = 4, .rounds = 1}, {1, 100 + number});
      request.prompt = long_text(700, number);
      session.submit(request, heard);
    }
  };
  const auto long_texts = [](Session& session, Heard& heard) {
    for (std::uint64_t number = 0; number < 10; ++number)
      session.score(long_text(3000, number), 0, heard);
  };
  const std::vector<Neighbour> neighbours{{"many choices", 1, many_choices},
                                          {"three with many choices", 3, three_of_them},
                                          {"many requests", 1, many_requests},
                                          {"long prompts", 1, long_prompts},
                                          {"long texts to score", 1, long_texts}};
  const std::vector<Asked> small{{.rungs = 1, .rounds = 6},
                                 {.rungs = 3, .samples = 2, .rounds = 6},
                                 {.rungs = 6, .samples = 4},
                                 {.horizon = 20, .is_tokenwise = true}};
  struct Price {
    double pass, token;
  };
  for (const Price price : {Price{0.0, 1.0}, Price{10.0, 1.0}, Price{1000.0, 1.0}})
    for (const Neighbour& neighbour : neighbours)
      for (const Asked& asked : small) {
        CAPTURE(price.pass, neighbour.name, asked.rungs, asked.samples, asked.is_tokenwise);
        TableModel table = scattered_table(7, 3);
        PricedModel model(table, price.pass, price.token);
        const auto time_to_answer = [&](Session& session) {
          Heard heard;
          const double begin = model.now;
          const RequestId id = session.submit(request_of(asked, {2, 2}), heard);
          steps_to_answer(session, heard, id, asked.samples);
          return std::pair(model.now - begin, heard.bits_of(id));
        };
        const auto [alone, bits] = [&] {
          Session session(model, options_of(model));
          return time_to_answer(session);
        }();
        Session session(model, options_of(model));
        Heard others;
        neighbour.submit(session, others);
        double longest_step = 0.0;
        for (int i = 0; i < 12; ++i) {
          const double begin = model.now;
          session.step();
          longest_step = std::max(longest_step, model.now - begin);
        }
        const std::size_t tokens = model.tokens;
        const std::size_t passes = model.passes;
        const auto [beside, same_bits] = time_to_answer(session);
        CHECK(beside <= static_cast<double>(neighbour.clients + 1) * alone + 2 * longest_step);
        CHECK(same_bits == bits);
        // Where tokens cost little beside a pass, passes are full.
        if (price.pass == 1000.0) CHECK(model.tokens - tokens >= 16 * (model.passes - passes));
      }
}

TEST_CASE("clients whose texts are scored have their part of the time", "[session]") {
  TableModel table = scattered_table(7, 3);
  PricedModel model(table, 10.0, 1.0);
  Session session(model, options_of(model));
  Heard heard;
  session.submit(request_of({.rungs = 6, .samples = 128, .rounds = 400, .horizon = 28}, {9, 0}),
                 heard);
  for (std::uint64_t number = 0; number < 40; ++number)
    for (std::uint64_t client = 1; client <= 3; ++client)
      session.score(long_text(900, number), 0, heard, {client, number});
  for (int i = 0; i < 10; ++i) session.step();
  const double began = model.now;
  const double of_texts = model.of_texts;
  for (int i = 0; i < 100; ++i) session.step();
  // Three clients of four, but for the last pass of each text, which may be short.
  const double part = (model.of_texts - of_texts) / (model.now - began);
  CHECK(part > 0.65);
  CHECK(part < 0.8);
}

TEST_CASE("a sample that waits for memory is passed by few texts", "[session]") {
  TableModel table = scattered_table(7, 3);
  struct Sized final : ForwardingModel {
    using ForwardingModel::ForwardingModel;
    std::size_t cache_bytes(std::size_t tokens) const override { return 10 * tokens; }
  };
  Sized model(table);
  const auto text_bytes = [](std::size_t length) { return 10 * length + 10 * 64; };
  SessionOptions options;
  options.cache_memory = 4 * text_bytes(60);
  Session session(model, options);
  // Texts of ten clients without end: whoever has been answered asks again.
  struct Again final : Listener {
    void answered(RequestId, std::size_t, const Answer&) override { ++samples; }
    void failed(RequestId, std::size_t, const std::exception_ptr&) override { ++failures; }
    void scored(RequestId, std::span<const TokenAlternatives>) override {
      ++texts;
      ask();
    }
    void ask() {
      ++number;
      session->score(long_text(60, number), 0, *this, {1 + number % 10, number});
    }
    Session* session = nullptr;
    std::uint64_t number = 0;
    std::size_t texts = 0, samples = 0, failures = 0;
  } again;
  again.session = &session;
  for (int i = 0; i < 10; ++i) again.ask();
  for (int i = 0; i < 10; ++i) session.step();
  // One that takes most of the memory there is.
  session.submit(request_of({.rounds = 0, .horizon = 300}, {20, 0}), again);
  const std::size_t before = again.texts;
  for (int i = 0; i < 5000 && again.samples == 0; ++i) session.step();
  CHECK(again.samples == 1);
  CHECK(again.failures == 0);
  // 64 pass by until it begins; while it is drawn others are scored beside it.
  CHECK(again.texts - before < 400);
  const std::size_t then = again.texts;
  for (int i = 0; i < 200; ++i) session.step();
  CHECK(again.texts > then);
}

}  // namespace tempera::gpu::fair_time_test
