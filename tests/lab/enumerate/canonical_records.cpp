#include "lab/enumerate/canonical_records.hpp"

#include "gpu/core/model/table_model.hpp"
#include "lab/enumerate/small_transformer.hpp"
#include "tests/catch.hpp"

using namespace tempera;

namespace {

using Tokens = std::vector<gpu::TokenId>;

/// A record of `tokens` with sound scores, and a cache that was computed from `cached`.
gpu::Record with_cache_of(lab::CanonicalRecords& canonical, const gpu::Context& context,
                          const Tokens& tokens, const Tokens& cached) {
  const gpu::Record scored = canonical.copy(tokens, 3);
  const gpu::Record other = canonical.copy(cached, 3);
  gpu::Record record(context, other.cache().fork(other.cache().length()));
  record.raise_horizon(3);
  for (std::size_t t = 1; t <= scored.length(); ++t) {
    const auto log_z = scored.tokens().log_z(t);
    record.append(
        {scored.tokens().token(t), scored.tokens().log_p(t), {log_z.begin(), log_z.end()}});
  }
  return record;
}

void cache_of_others_is_stale(const lab::EnumerableModel& model) {
  const gpu::Ladder ladder({1.0, 2.5, 4.0});
  lab::CanonicalRecords canonical(model, ladder);
  const auto stale = [&](const Tokens& tokens, const Tokens& cached) {
    return canonical.stale_parts(with_cache_of(canonical, model.context, tokens, cached));
  };
  CHECK(stale({1, 2}, {1, 2}).empty());
  CHECK(stale({1, 2, 1}, {1, 2}).empty());
  CHECK(stale({2, 2, 1}, {1, 2}) == std::vector<std::string>{"cache"});
  CHECK(stale({1, 2, 1}, {2, 1, 1}) == std::vector<std::string>{"cache"});
}

}  // namespace

TEST_CASE("a record whose cache is of other tokens is stale, on a transformer and on a table") {
  const auto transformer = lab::small_transformer(3, 17);
  cache_of_others_is_stale({*transformer, {{1}, {0}}, {"e", "a", "b"}});
  const lab::FiniteLogits table(
      reference::load_finite_model(TEMPERA_SOURCE_DIR "/toy_models/unequal_lengths.json"));
  const lab::EnumerableModel model = table.enumerable();
  const gpu::Ladder ladder({1.0, 2.0});
  lab::CanonicalRecords canonical(model, ladder);
  const lab::CompiledSpace space(model, 2);
  std::size_t stale = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    for (std::size_t y = 0; y < space.size(); ++y) {
      gpu::Record record = canonical.copy(space.tokens(x), 2);
      gpu::Record other = canonical.copy(space.tokens(y), 2);
      record.exchange_cache(other);
      const Tokens own = space.tokens(x);
      const auto held = dynamic_cast<const gpu::TokenCache&>(record.cache()).tokens();
      const bool beginning =
          held.size() <= own.size() && std::equal(held.begin(), held.end(), own.begin());
      CAPTURE(x, y);
      CHECK(canonical.stale_parts(record).empty() == beginning);
      stale += beginning ? 0 : 1;
    }
  CHECK(stale > 4);
}
