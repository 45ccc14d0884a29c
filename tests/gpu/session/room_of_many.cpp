// A request of many records under little memory. It costs others steps, and what it costs
// itself is looks at caches: both are counted, and neither grows with the number of its records.
#include <optional>

#include "tests/gpu/session/asked_request.hpp"
#include "tests/gpu/session/counted_model.hpp"

namespace tempera::gpu::room_of_many_test {
namespace {

std::size_t memory_of_records(std::size_t records, std::size_t horizon) {
  return (2 + records * (horizon + 1)) * 10;
}

}  // namespace

TEST_CASE("what a step looks at does not grow with the number of those who wait", "[session]") {
  for (const std::size_t particles : {100, 1000, 4000}) {
    CAPTURE(particles);
    CountedModel model;
    SessionOptions options;
    options.cache_memory = memory_of_records(30, 12);
    options.largest_batch = 16;
    Session session(model, options);
    Heard heard;
    session.submit(request_of({.particles = particles, .horizon = 12, .block = 6}, {1, 1}), heard);
    session.step();  // all begin to wait
    session.step();
    for (std::size_t steps = 0; steps < 400 && heard.calls == 0; ++steps) {
      const std::size_t before = model.looks.asked;
      REQUIRE(session.step());
      CAPTURE(steps);
      REQUIRE(model.looks.asked - before <= 10 * options.largest_batch);
    }
    CHECK(model.most_held <= options.cache_memory);
  }
}

TEST_CASE("a run of many records looks at caches as often as it computes rows and forks",
          "[session][unsanitized]") {
  std::optional<std::vector<std::uint64_t>> bits;
  for (const std::size_t memory :
       {memory_of_records(3, 12), memory_of_records(50, 12), memory_of_records(2000, 12)}) {
    CAPTURE(memory);
    CountedModel model;
    SessionOptions options;
    options.cache_memory = memory;
    Session session(model, options);
    Heard heard;
    const RequestId id =
        session.submit(request_of({.particles = 1200, .horizon = 12, .block = 4}, {1, 1}), heard);
    while (session.step()) {
    }
    CHECK(model.most_held <= memory);
    CHECK(model.looks.asked <= 8 * (model.rows_computed + model.looks.forked));
    if (!bits) bits = heard.bits_of(id);
    CHECK(heard.bits_of(id) == *bits);
  }
}

TEST_CASE("a small request beside one of many records takes at most twice its steps and two more",
          "[session][unsanitized]") {
  const Asked many{.particles = 2000, .horizon = 28, .block = 14};
  const std::vector<Asked> small{
      {.horizon = 4, .is_tokenwise = true},
      {.rungs = 1},
      {.rungs = 3, .samples = 2},
      {.samples = 8, .horizon = 4, .is_tokenwise = true},
      {.particles = 12},
  };
  for (const std::size_t records : {40, 100})
    for (const std::uint64_t client : {1, 2})
      for (const Asked& asked : small) {
        CAPTURE(records, client, asked.rungs, asked.samples, asked.is_tokenwise, asked.particles);
        SessionOptions options;
        options.cache_memory = memory_of_records(records, 28);
        CountedModel one;
        Session by_itself(one, options);
        Heard plain;
        const RequestId same = by_itself.submit(request_of(asked, {9, 9}), plain);
        const std::size_t alone = steps_to_answer(by_itself, plain, same, asked.samples);
        CountedModel model;
        Session session(model, options);
        Heard heard;
        session.submit(request_of(many, {1, 1}), heard);
        for (int i = 0; i < 30; ++i) session.step();
        Heard answers;
        const RequestId id = session.submit(request_of(asked, {client, 2}), answers);
        CHECK(steps_to_answer(session, answers, id, asked.samples) <= 2 * alone + 2);
        CHECK(answers.bits_of(id) == plain.bits_of(same));
        CHECK(model.most_held <= options.cache_memory);
      }
}

TEST_CASE("several requests of many records leave room for a small one", "[session]") {
  const Asked many{.particles = 500, .horizon = 28, .block = 14};
  const Asked small{.rungs = 2, .horizon = 4};
  SessionOptions options;
  options.cache_memory = memory_of_records(60, 28);
  CountedModel one;
  Session by_itself(one, options);
  Heard plain;
  const RequestId same = by_itself.submit(request_of(small, {9, 9}), plain);
  const std::size_t alone = steps_to_answer(by_itself, plain, same, 1);
  CountedModel model;
  Session session(model, options);
  Heard heard;
  for (std::uint64_t number = 1; number < 4; ++number)
    session.submit(request_of(many, {number, number}), heard);
  for (int i = 0; i < 20; ++i) session.step();
  Heard answers;
  const RequestId id = session.submit(request_of(small, {7, 7}), answers);
  CHECK(steps_to_answer(session, answers, id, 1) <= 2 * alone + 2);
  CHECK(model.most_held <= options.cache_memory);
}

}  // namespace tempera::gpu::room_of_many_test
