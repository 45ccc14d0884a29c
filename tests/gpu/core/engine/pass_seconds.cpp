// How many rows a pass has beside a small request: by what passes were seen to take.
#include "gpu/core/engine/pass_seconds.hpp"

#include "tests/law.hpp"

namespace tempera::gpu::pass_seconds_test {

TEST_CASE("where each row has its price, shares have equal rows; where none has, a pass is full",
          "[engine]") {
  PassSeconds priced, flat, unknown;
  for (std::size_t rows = 1; rows <= 4096; rows *= 2) {
    priced.note(rows, 1e-3 * static_cast<double>(rows));
    flat.note(rows, 1e-3);
  }
  for (const std::size_t least : {1, 2, 4, 16, 31}) {
    CAPTURE(least);
    CHECK(priced.rows(2, least, 64) >= 2 * least);
    CHECK(priced.rows(2, least, 64) < 4 * least);
    CHECK(flat.rows(2, least, 64) == 64);
    CHECK(unknown.rows(2, least, 64) == 64);
  }
  CHECK(priced.rows(64, 1, 64) == 64);
  CHECK(priced.rows(2, 100, 64) == 64);
  CHECK(priced.rows(1000, 1, 64) == 64);
}

TEST_CASE("the smallest share waits no longer than all shares would take alone", "[engine]") {
  law("any times that grow with the rows", [] {
    PassSeconds seen;
    double seconds = 0.0;
    for (std::size_t rows = 1; rows <= 1024; rows *= 2) {
      seconds += *rc::gen::inRange(0, 100) / 100.0;
      if (seconds > 0.0 && *rc::gen::inRange(0, 4) > 0) seen.note(rows, seconds);
    }
    const auto shares = *rc::gen::inRange<std::size_t>(2, 20);
    const auto least = *rc::gen::inRange<std::size_t>(1, 40);
    const auto most = *rc::gen::inRange<std::size_t>(1, 1024);
    const std::size_t rows = seen.rows(shares, least, most);
    RC_ASSERT(rows <= most);
    RC_ASSERT(rows >= std::min(most, shares * least));
    const double time = static_cast<double>(shares) * seen.expected(least);
    RC_ASSERT(rows == std::min(most, shares * least) || seen.expected(rows) <= time);
  });
}

TEST_CASE("what passes of a size take is what the last ones took", "[engine]") {
  PassSeconds seen;
  CHECK(seen.expected(5) == 0.0);
  seen.note(6, 2.0);
  CHECK(seen.expected(5) == 2.0);
  CHECK(seen.expected(1) == 2.0);  // of the next more rows
  CHECK(seen.expected(8) == 0.0);
  for (int i = 0; i < 200; ++i) seen.note(4, 1.0);
  CHECK(seen.expected(7) < 1.001);
  seen.note(1U << 20, 9.0);
  CHECK(seen.expected(1U << 18) == 9.0);
}

}  // namespace tempera::gpu::pass_seconds_test
