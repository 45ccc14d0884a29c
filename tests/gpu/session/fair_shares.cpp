// A small request beside the largest one: it takes at most twice its steps alone and two more, and
// the largest is not starved. What is compared is steps and never seconds.
#include <optional>

#include "gpu/core/model/forwarding_model.hpp"
#include "gpu/session/cache_admission.hpp"
#include "tests/bad_input.hpp"
#include "tests/gpu/session/asked_request.hpp"

namespace tempera::gpu::fair_shares_test {
namespace {

/// Caches of ten bytes a token.
class SizedModel final : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;
  std::size_t cache_bytes(std::size_t tokens) const override { return 10 * tokens; }
};

std::size_t steps_alone(LanguageModel& model, const SessionOptions& options, const Asked& asked) {
  Session session(model, options);
  Heard heard;
  const RequestId id = session.submit(request_of(asked, {9, 9}), heard);
  return steps_to_answer(session, heard, id, asked.samples);
}

}  // namespace

TEST_CASE("a small request beside the largest takes at most twice its steps and two more",
          "[session][unsanitized]") {
  TableModel table = scattered_table(7, 3);
  SizedModel model(table);
  const Asked largest{.rungs = 6, .samples = 128, .rounds = 400, .horizon = 28, .prefetch = 4};
  const Asked many{.samples = 1024, .rounds = 400, .horizon = 28};
  const std::vector<Asked> small{
      {.horizon = 4, .is_tokenwise = true},
      {.rungs = 1},
      {.rungs = 3, .samples = 2},
      {.rungs = 6, .samples = 4},
      {.samples = 32, .horizon = 4, .is_tokenwise = true},
  };
  // With memory for many samples, and for few; requests of one client, and of two.
  const std::size_t one_run = 6 * (1 + 1 + 4) * 10 * (28 + 1);
  for (const std::size_t memory : {std::size_t{0}, 7 * one_run})
    for (const Asked& large : {largest, many})
      for (const std::uint64_t client : {1, 2})
        for (const Asked& asked : small) {
          SessionOptions options;
          options.cache_memory = memory;
          CAPTURE(memory, large.samples, client, asked.rungs, asked.samples, asked.is_tokenwise);
          const std::size_t alone = steps_alone(model, options, asked);
          Session session(model, options);
          Heard heard;
          session.submit(request_of(large, {1, 1}), heard);
          for (int i = 0; i < 30; ++i) session.step();
          Heard answers;
          const RequestId id = session.submit(request_of(asked, {client, 2}), answers);
          CHECK(steps_to_answer(session, answers, id, asked.samples) <= 2 * alone + 2);
          // Its answers are those that it has alone.
          Session other(model);
          Heard plain;
          const RequestId same = other.submit(request_of(asked, {}), plain);
          steps_to_answer(other, plain, same, asked.samples);
          CHECK(answers.bits_of(id) == plain.bits_of(same));
        }
}

TEST_CASE("small requests without end do not starve a large one", "[session]") {
  TableModel table = scattered_table(7, 3);
  SizedModel model(table);
  const Asked large{.rungs = 4, .samples = 20, .rounds = 3, .horizon = 12};
  const Asked small{.rungs = 2, .rounds = 1, .horizon = 4};
  for (const std::size_t memory : {std::size_t{0}, std::size_t{4 * 2 * 10 * 13 + 200}}) {
    CAPTURE(memory);
    SessionOptions options;
    options.cache_memory = memory;
    const std::size_t alone = steps_alone(model, options, large);
    Session session(model, options);
    Heard heard;
    Heard others;
    std::uint64_t number = 10;
    // Three small ones are always there; the next comes when one is answered.
    others.on_answer = [&](RequestId) {
      ++number;
      session.submit(request_of(small, {number, number}), others);
    };
    for (int i = 0; i < 3; ++i) others.on_answer(0);
    for (int i = 0; i < 10; ++i) session.step();
    const RequestId id = session.submit(request_of(large, {2, 2}), heard);
    // A quarter of the rows is its own; of the memory it waits for others' ends.
    CHECK(steps_to_answer(session, heard, id, large.samples) <= 30 * alone + 3000);
  }
}

// A client's record leaves an eighth of the memory to requests that need no more than that.
TEST_CASE("a small request begins at once beside records that take all that one may", "[session]") {
  TableModel table = scattered_table(7, 3);
  SizedModel model(table);
  const Asked small{.rungs = 2, .rounds = 1, .horizon = 4};
  const std::size_t small_bytes = cache_bytes_of_rows(model, 2, small.horizon, 2) + 20;
  const std::size_t memory = 8 * small_bytes;
  const std::size_t alone = [&] {
    SessionOptions options;
    options.cache_memory = memory;
    return steps_alone(model, options, small);
  }();
  // Records that fill what they may take, and records that would fill all.
  for (const auto& [records, filled] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1, memory - small_bytes},
                                                        {2, memory - small_bytes},
                                                        {3, memory - small_bytes},
                                                        {5, memory - small_bytes},
                                                        {2, memory},
                                                        {3, memory},
                                                        {5, memory}}) {
    for (const std::size_t prompt : {std::size_t{2}, filled / records / 20}) {
      CAPTURE(records, filled, prompt);
      SessionOptions options;
      options.cache_memory = memory;
      Session session(model, options);
      Heard heard;
      Heard others;
      std::size_t answered = 0;
      others.on_answer = [&](RequestId) { ++answered; };
      const std::size_t horizon = filled / records / 10 - prompt - 1;
      for (std::uint64_t number = 1; number <= records; ++number) {
        SampleRequest large =
            request_of({.rounds = 2, .horizon = horizon, .block = 1}, {number, number});
        large.prompt.assign(prompt, static_cast<TokenId>(number));
        session.submit(large, others);
      }
      for (int i = 0; i < 8; ++i) session.step();
      CHECK(session.totals().cache_bytes >= memory * 2 / 5);
      // Several of it, one after the other, and one that comes beside another.
      for (std::uint64_t number = 10; number < 13; ++number) {
        const RequestId id = session.submit(request_of(small, {number, number}), heard);
        CHECK(steps_to_answer(session, heard, id, 1) <= 2 * alone + 2);
      }
      CHECK(answered == 0);
      while (session.step()) {
      }
      CHECK(answered == records);
    }
  }
}

TEST_CASE("a client's record may take seven eighths of the memory, and that of a run all of it",
          "[session]") {
  TableModel table = scattered_table(7, 3);
  SizedModel model(table);
  SessionOptions options;
  options.cache_memory = 800;
  Session session(model, options);
  // The prompt's two tokens, the horizon, and one that is copied: ten bytes each.
  const auto request = [](std::size_t horizon, const Share& share) {
    return request_of({.horizon = horizon}, share);
  };
  CHECK_NOTHROW(session.require_room(request(67, {1, 1}), "the request"));
  require_bad_input(
      [&] {
        session.require_room(request(68, {1, 1}), "the request");
      },
      {"700 bytes, seven eighths of it, cannot hold", "needs 710 bytes", "lower the horizon"});
  CHECK_NOTHROW(session.require_room(request(77, {}), "the request"));
  require_bad_input([&] { session.require_room(request(78, {}), "the request"); },
                    {"800 bytes cannot hold", "lower the horizon"});
}

TEST_CASE("a first sample that waits for much memory is passed by few", "[session]") {
  TableModel table = scattered_table(7, 3);
  SizedModel model(table);
  const Asked wide{.rungs = 8, .rounds = 1, .horizon = 12};
  // Room for the wide one alone; the small ones end one after the other.
  SessionOptions options;
  options.cache_memory = 8 * 2 * 10 * 13 + 8 * 10 + 20;
  Session session(model, options);
  Heard heard;
  Heard others;
  std::uint64_t number = 10;
  std::size_t answered = 0;
  others.on_answer = [&](RequestId) {
    ++answered;
    ++number;
    const Asked small{.rungs = 1, .rounds = number % 4, .horizon = 4 + number % 9};
    session.submit(request_of(small, {number, number}), others);
  };
  for (int i = 0; i < 4; ++i) others.on_answer(0);
  session.step();
  answered = 0;
  const RequestId id = session.submit(request_of(wide, {2, 2}), heard);
  steps_to_answer(session, heard, id, 1);
  CHECK(answered > 4);
  CHECK(answered <= 64 + 4 + 1);
}

// A share leaves free as much as it takes: memory of 2 n samples has n of them under way.
TEST_CASE("a share has as many samples under way as leave free what they take, to the last",
          "[session]") {
  TableModel table = scattered_table(7, 3);
  SizedModel model(table);
  const Asked asked{.rungs = 2, .samples = 40, .rounds = 2, .horizon = 5};
  const SampleRequest request = request_of(asked, {1, 1});
  const std::size_t prompt = model.cache_bytes(request.prompt.size());
  const std::size_t sample = cache_bytes_of_rows(model, request.prompt.size(), 5, 2);
  for (const std::size_t most : {1, 2, 3, 5}) {
    CAPTURE(most);
    SessionOptions options;
    options.cache_memory = 2 * most * sample + prompt;
    Session session(model, options);
    Heard heard;
    session.submit(request_of(asked, {1, 1}), heard);
    std::size_t under_way = 0;
    while (heard.samples.size() < asked.samples) {
      REQUIRE(session.step());
      const std::size_t taken = session.totals().cache_bytes;
      CHECK(taken <= prompt + most * sample);
      // The last quarter of the answers has it too.
      if (heard.samples.size() > 3 * asked.samples / 4) under_way = std::max(under_way, taken);
    }
    CHECK(under_way == prompt + most * sample);
  }
}

TEST_CASE("no share holds more than its part once others want theirs", "[session]") {
  TableModel table = scattered_table(7, 3);
  SizedModel model(table);
  SessionOptions options;
  options.in_flight = 8;
  options.largest_batch = 6;
  Session session(model, options);
  Heard heard;
  const Asked endless{.samples = 1000, .rounds = 30, .horizon = 8};
  std::vector<RequestId> ids;
  ids.push_back(session.submit(request_of(endless, {1, 1}), heard));
  for (int i = 0; i < 5; ++i) session.step();
  ids.push_back(session.submit(request_of(endless, {1, 2}), heard));
  ids.push_back(session.submit(request_of(endless, {3, 3}), heard));
  for (int i = 0; i < 3000; ++i) session.step();
  std::map<RequestId, std::size_t> answers;
  for (const auto& [key, sample] : heard.samples) answers[key.first] += sample.answers.size();
  // The two requests of client 1 have together what client 3 has.
  const auto near = [](std::size_t a, std::size_t b) { return 4 * a <= 5 * b && 4 * b <= 5 * a; };
  CAPTURE(answers[ids[0]], answers[ids[1]], answers[ids[2]]);
  CHECK(answers[ids[2]] > 20);
  CHECK(near(answers[ids[0]] + answers[ids[1]], answers[ids[2]]));
  for (const RequestId id : ids) session.cancel(id);
  CHECK_FALSE(session.step());
  CHECK(session.totals().cache_bytes == 0);
}

}  // namespace tempera::gpu::fair_shares_test
