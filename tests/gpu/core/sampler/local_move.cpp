#include "gpu/core/sampler/local_move.hpp"

#include "tests/gpu/core/sampler/small_run.hpp"
#include "tests/law.hpp"

namespace tempera::gpu {
namespace {

const Context context{{3, 4}, {0, 1}};
constexpr std::size_t accept = 0;
constexpr std::size_t reject = 1;

/// What one local move did to a record, its decisions read from a tape.
struct Replay {
  Replay(const std::vector<TokenId>& tokens, Rung rung, std::vector<std::size_t> decisions)
      : model(scattered_table(5, 3)),
        tape(std::move(decisions)),
        small(model, context, {1.0, 2.5}, tape),
        before(small.scored(4, tokens)),
        after(before.copy()) {
    small.finish(local_move(after, small.turn(rung, 7), RestartLaw::uniform(4)));
    event = small.run.events.at(0);
  }

  TableModel model;
  TapeLottery tape;
  SmallRun small;
  Record before;
  Record after;
  Event event;
};

/// log R as the paper writes it, from freshly scored records.
double paper_log_ratio(SmallRun& small, const Record& x, const std::vector<TokenId>& y,
                       std::size_t r, Rung k) {
  const Record fresh = small.scored(x.horizon(), y);
  double at_y = 0.0;
  double at_x = 0.0;
  for (std::size_t t = r; t <= fresh.length(); ++t) at_y += fresh.tokens().log_z(t)[k];
  for (std::size_t t = r; t <= x.length(); ++t) at_x += x.tokens().log_z(t)[k];
  return at_y - at_x;
}

}  // namespace

TEST_CASE("after its terminal token a record is its own proposal: one draw, no model call") {
  for (const std::size_t r : {3, 4}) {
    Replay replay({2, 0}, 1, {r - 1});
    CHECK(replay.tape.at_end());
    CHECK(replay.small.engine.batches() == 0);
    CHECK(replay.small.engine.decode_tokens() == 0);
    CHECK(same_record(replay.after, replay.before));
    CHECK(replay.small.run.events.size() == 1);
    CHECK(replay.event.kind == Event::Kind::local_move);
    CHECK(replay.event.turn == 7);
    CHECK(replay.event.rung == 1);
    CHECK(replay.event.restart == r);
    CHECK(replay.event.tokens == 0);
    CHECK_FALSE(replay.event.proposed);
    CHECK_FALSE(replay.event.accepted);
  }
}

TEST_CASE("an accepted move becomes its proposal, whatever its length") {
  struct Path {
    std::vector<TokenId> x;
    std::size_t r;
    std::vector<std::size_t> drawn;
    std::vector<TokenId> y;
  };
  const std::vector<Path> paths{
      {{2, 3, 4, 2}, 2, {4, 4, 1}, {2, 4, 4, 1}}, {{2, 3, 4, 2}, 2, {0}, {2, 0}},
      {{2, 0}, 2, {3, 3, 3}, {2, 3, 3, 3}},       {{0}, 1, {2, 2, 2, 2}, {2, 2, 2, 2}},
      {{2, 3, 4, 2}, 4, {3}, {2, 3, 4, 3}},       {{2, 3, 4, 2}, 1, {1}, {1}}};
  for (const Rung k : {0, 1}) {
    for (const Path& path : paths) {
      std::vector<std::size_t> decisions{path.r - 1};
      decisions.insert(decisions.end(), path.drawn.begin(), path.drawn.end());
      decisions.push_back(accept);
      Replay replay(path.x, k, decisions);
      CHECK(replay.tape.at_end());
      CHECK(replay.event.proposed);
      CHECK(replay.event.accepted);
      CHECK(replay.event.tokens == path.drawn.size());
      CHECK(replay.small.engine.decode_tokens() == path.drawn.size());
      CHECK(same_record(replay.after, replay.small.scored(4, path.y)));
      CHECK(owns_its_cache(replay.model, replay.after));
      CHECK(replay.event.log_ratio ==
            paper_log_ratio(replay.small, replay.before, path.y, path.r, k));
    }
  }
}

TEST_CASE("a rejected move leaves the record as it was") {
  std::size_t rejections = 0;
  for (TokenId second = 0; second < 5; ++second) {
    const std::vector<TokenId> x{2, 3, 4, 2};
    Replay accepted(x, 1, {3, second, accept});
    // A proposal that is better for sure leaves no ticket to reject it with.
    if (accepted.event.log_ratio >= 0.0) {
      CHECK_THROWS_AS(Replay(x, 1, {3, second, reject}), Bug);
      continue;
    }
    ++rejections;
    Replay replay(x, 1, {3, second, reject});
    CHECK(replay.tape.at_end());
    CHECK(replay.event.proposed);
    CHECK_FALSE(replay.event.accepted);
    CHECK(replay.event.log_ratio == accepted.event.log_ratio);
    CHECK(same_record(replay.after, replay.before));
    CHECK(owns_its_cache(replay.model, replay.after));
  }
  CHECK(rejections > 0);
}

namespace {

const RestartLaw uneven({3, 1, 5, 2});

/// One local move over the record's own positions, by a tape.
struct OwnPositions {
  OwnPositions(const std::vector<TokenId>& tokens, std::vector<std::size_t> decisions)
      : model(scattered_table(5, 3)),
        tape(std::move(decisions)),
        small(model, context, {1.0, 2.5}, tape),
        before(small.scored(4, tokens)),
        after(before.copy()) {
    small.finish(local_move<RecordRestartRules>(after, small.turn(1, 7), uneven));
    event = small.run.events.at(0);
  }

  TableModel model;
  TapeLottery tape;
  SmallRun small;
  Record before;
  Record after;
  Event event;
};

}  // namespace

// Up to len(x) the tickets are 3, 3 + 1, 3 + 1 + 5 and 3 + 1 + 5 + 2; a logarithm is off by less
// than 2^-51.
TEST_CASE("over its own positions a record restarts nowhere after its end, with the factor") {
  const double totals[] = {3.0, 4.0, 9.0, 11.0};
  struct Path {
    std::vector<TokenId> x;
    std::size_t r;
    std::vector<std::size_t> drawn;
    std::vector<TokenId> y;
  };
  for (const Path& path :
       {Path{{2, 0}, 2, {3, 3, 3}, {2, 3, 3, 3}}, Path{{2, 3, 4, 2}, 2, {0}, {2, 0}},
        Path{{2, 3, 0}, 1, {1}, {1}}, Path{{2, 3, 0}, 3, {1}, {2, 3, 1}}}) {
    std::vector<std::size_t> decisions{path.r - 1};
    decisions.insert(decisions.end(), path.drawn.begin(), path.drawn.end());
    decisions.push_back(accept);
    OwnPositions replay(path.x, decisions);
    CHECK(replay.tape.at_end());
    CHECK(replay.event.accepted);
    CHECK(replay.event.changed);
    CHECK(same_record(replay.after, replay.small.scored(4, path.y)));
    const double factor = std::log(totals[path.x.size() - 1] / totals[path.y.size() - 1]);
    CHECK(replay.event.log_ratio ==
          Approx(paper_log_ratio(replay.small, replay.before, path.y, path.r, 1) + factor)
              .epsilon(0)
              .margin(1e-12));
  }
  for (const std::size_t after : {3, 4}) CHECK_THROWS_AS(OwnPositions({2, 0}, {after - 1}), Bug);
}

TEST_CASE("an accepted proposal that is the record itself has changed nothing") {
  const Replay same({2, 3, 0}, 1, {2, 0, accept});
  CHECK(same.event.accepted);
  CHECK_FALSE(same.event.changed);
  const Replay other({2, 3, 0}, 1, {2, 1, accept});
  CHECK(other.event.accepted);
  CHECK(other.event.changed);
}

TEST_CASE("a chain of moves keeps records sound") {
  law("scores and cache are those of a fresh record after any seed's moves", [] {
    TableModel model = scattered_table(5, *rc::gen::arbitrary<std::uint64_t>());
    PhiloxLottery lottery;
    SmallRun small(model, context, {1.5}, lottery, *rc::gen::arbitrary<std::uint64_t>());
    Record x(context, model.empty_cache());
    small.finish(extend(x, Turn(small.run, 0, 0, Purpose::extension_token), 6));
    for (std::size_t number = 0; number < 12; ++number) {
      small.finish(local_move(x, small.turn(0, number), RestartLaw::uniform(6)));
      RC_ASSERT(same_record(x, small.scored(6, x.token_ids())));
      RC_ASSERT(owns_its_cache(model, x));
      RC_ASSERT(x.terminated() || x.length() == 6);
    }
  });
}

}  // namespace tempera::gpu
