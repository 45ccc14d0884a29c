// How many tokens a pass has beside a small request: by what passes were seen to take.
#include "gpu/core/engine/pass_seconds.hpp"

#include "tests/law.hpp"

namespace tempera::gpu::pass_seconds_test {

TEST_CASE(
    "where each token has its price, clients have equal tokens; where none has, a pass is full",
    "[engine]") {
  PassSeconds priced, flat, unknown;
  for (std::size_t tokens = 1; tokens <= 4096; tokens *= 2) {
    priced.note(tokens, 1e-3 * static_cast<double>(tokens));
    flat.note(tokens, 1e-3);
  }
  for (const std::size_t least : {1, 2, 4, 16, 31}) {
    CAPTURE(least);
    CHECK(priced.tokens(2, least, 64) == 2 * least);
    CHECK(flat.tokens(2, least, 64) == 64);
    CHECK(unknown.tokens(2, least, 64) == 64);
  }
  CHECK(priced.tokens(64, 1, 64) == 64);
  CHECK(priced.tokens(2, 100, 64) == 64);
  CHECK(priced.tokens(1000, 1, 64) == 64);
}

TEST_CASE("the smallest client waits no longer than all clients would take alone", "[engine]") {
  law("any price of a pass and of a token", [] {
    const double pass = *rc::gen::inRange(0, 100);
    const double token = *rc::gen::inRange(1, 20);
    const auto seconds = [&](std::size_t tokens) {
      return pass + token * static_cast<double>(tokens);
    };
    PassSeconds seen;
    const auto sizes =
        *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 1500));
    for (const std::size_t size : sizes) seen.note(size, seconds(size));
    // A pass larger than all that were seen is tried.
    seen.note(2000, seconds(2000));
    const auto clients = *rc::gen::inRange<std::size_t>(2, 20);
    const auto least = *rc::gen::inRange<std::size_t>(1, 40);
    const auto most = *rc::gen::inRange<std::size_t>(1, 1024);
    const std::size_t tokens = seen.tokens(clients, least, most);
    RC_ASSERT(tokens <= most);
    RC_ASSERT(tokens >= std::min(most, clients * least));
    // Sums of doubles of this size are wrong by less.
    const double time = static_cast<double>(clients) * seconds(least) * (1 + 1e-9);
    RC_ASSERT(seconds(tokens) <= time);
  });
}

TEST_CASE("what passes of a size take is what the last ones took", "[engine]") {
  PassSeconds seen;
  CHECK(seen.expected(5) == 0.0);
  seen.note(6, 3.0);
  CHECK(seen.expected(6) == 3.0);
  CHECK(seen.expected(4) == 2.0);  // in proportion
  CHECK(seen.expected(1) == 0.5);
  CHECK(seen.expected(7) == 0.0);  // to be tried
  seen.note(4, 4.0);               // of the same size: their mean
  CHECK(seen.expected(5) == 3.5);
  for (int i = 0; i < 200; ++i) seen.note(4, 1.0);
  CHECK(seen.expected(4) < 1.001);
  seen.note(8, 2.0);
  CHECK(seen.expected(6) > 1.499);
  CHECK(seen.expected(6) < 1.501);
  CHECK(seen.expected(2) > 0.5);
  CHECK(seen.expected(2) < 0.501);
  seen.note(2, 0.9);
  CHECK(seen.expected(1) > 0.849);  // on the line of the two smallest
  CHECK(seen.expected(1) < 0.851);
  seen.note(std::size_t{1} << 40, 9.0);
  CHECK(seen.expected(std::size_t{1} << 40) == 9.0);
}

}  // namespace tempera::gpu::pass_seconds_test
