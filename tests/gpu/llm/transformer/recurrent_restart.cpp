// A model with a recurrent state: records that begin anew, forks and batches have the bits of
// caches that never shared anything, and what is computed once more is counted apart.
#include <map>

#include "gpu/llm/transformer/kernels/host/host_kernels.hpp"
#include "tests/between.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"
#include "tests/gpu/llm/transformer/kernels/forms.hpp"
#include "tests/gpu/llm/transformer/recurrent_model.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::recurrent_restart_test {

namespace {

/// What both are asked for after a text is cut at `length` and goes on with `more`.
recurrent::Row restarted(Transformer& model, const Cache& cache, std::size_t length,
                         const recurrent::Text& more) {
  return recurrent::next(model, *cache.fork(length), more);
}

PagedCache& paged(const std::unique_ptr<Cache>& cache) { return dynamic_cast<PagedCache&>(*cache); }

}  // namespace

TEST_CASE("a record that begins anew at any position has the bits of a fresh run",
          "[transformer][recurrent]") {
  const Arithmetic arithmetic = GENERATE(from_range(arithmetics));
  CAPTURE(name_of(arithmetic));
  const auto model = recurrent::model(default_kernels(arithmetic));
  const auto text = recurrent::text_of(200);
  const auto all = recurrent::every_row(*model, text);
  const auto cache = model->empty_cache();
  recurrent::next(*model, *cache, text);
  // Every position modulo the distance of checkpoints, before the first one and after the second.
  for (std::size_t begin : {1, 129}) {
    for (std::size_t length = begin; length < begin + state_tokens; ++length) {
      CAPTURE(length);
      const auto computed = model->tokens_computed();
      const auto replayed = model->tokens_replayed();
      const auto fork = cache->fork(length);
      CHECK(fork->length() == length);
      CHECK(recurrent::next(*model, *fork, {}) == all[length - 1]);
      CHECK(model->tokens_computed() == computed);
      CHECK(model->tokens_replayed() - replayed == length % state_tokens);
      // The head alone runs if the fork has been asked before; then it goes its own way.
      CHECK(recurrent::next(*model, *fork, {}) == all[length - 1]);
      CHECK(model->tokens_replayed() - replayed == length % state_tokens);
      recurrent::Text other(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
      const recurrent::Text more{7, 3, 22, 11, 7};
      other.insert(other.end(), more.begin(), more.end());
      const auto row = recurrent::next(*model, *fork, more);
      CHECK(model->tokens_computed() - computed == more.size());
      CHECK(row == restarted(*model, *cache, length, more));
      const auto fresh = model->empty_cache();
      CHECK(row == recurrent::next(*model, *fresh, other));
    }
  }
  const auto whole = cache->fork(text.size());
  const auto replayed = model->tokens_replayed();
  CHECK(recurrent::next(*model, *whole, {}) == all.back());
  CHECK(model->tokens_replayed() == replayed);
}

TEST_CASE("every form of the kernels gives a recurrent model the same bits",
          "[transformer][recurrent]") {
  const auto text = recurrent::text_of(150);
  for (const Arithmetic arithmetic : arithmetics) {
    std::vector<std::vector<recurrent::Row>> rows;
    for (const Kernels* kernels : forms_of_the_kernels(arithmetic)) {
      rows.push_back(recurrent::every_row(*recurrent::model(*kernels), text));
      CAPTURE(kernels->name(), name_of(arithmetic));
      CHECK(rows.back() == rows.front());
    }
  }
}

TEST_CASE("a text longer than a launch, whole or in pieces, has the same states",
          "[transformer][recurrent]") {
  const auto model = recurrent::model();
  const auto text = recurrent::text_of(590);
  const auto all = recurrent::every_row(*model, text);
  const auto cache = model->empty_cache();
  std::size_t length = 0;
  for (const std::size_t more : {1, 62, 1, 1, 63, 128, 2, 254, 64, 14}) {
    length += more;
    const auto tokens = std::span(text).first(length).subspan(length - more);
    CHECK(recurrent::next(*model, *cache, tokens) == all[length - 1]);
  }
  REQUIRE(length == text.size());
}

TEST_CASE("any history of forks and batches leaves a recurrent cache to its own text",
          "[transformer][recurrent]") {
  const auto model = recurrent::model();
  struct Branch {
    recurrent::Text text;
    std::unique_ptr<Cache> cache;
  };
  law("rows are those of fresh caches, new tokens are computed once, and all is given back", [&] {
    std::vector<Branch> branches;
    branches.push_back({recurrent::text_of(*rc::gen::inRange<std::size_t>(1, 200)), {}});
    branches[0].cache = model->empty_cache();
    const auto steps = *rc::gen::inRange(1, 8);
    for (int step = 0; step < steps; ++step) {
      const auto& parent = branches[between<std::size_t>(0, branches.size() - 1)];
      const auto cut = *rc::gen::inRange<std::size_t>(0, parent.cache->length() + 1);
      Branch child{{parent.text.begin(), parent.text.begin() + static_cast<std::ptrdiff_t>(cut)},
                   parent.cache->fork(cut)};
      branches.push_back(std::move(child));
      std::vector<Pass> passes;
      std::vector<const Branch*> asked;
      std::uint64_t new_tokens = 0;
      std::uint64_t old_tokens = 0;
      for (auto& branch : branches) {
        const auto more = *rc::gen::container<recurrent::Text>(
            *rc::gen::inRange<std::size_t>(branch.text.empty() ? 1 : 0, 70),
            rc::gen::inRange<TokenId>(0, 23));
        if (branch.text.size() + more.size() < 260) {
          branch.text.insert(branch.text.end(), more.begin(), more.end());
        }
        if (!*rc::gen::arbitrary<bool>()) continue;
        passes.push_back(
            {branch.cache.get(), std::span(branch.text).subspan(branch.cache->length())});
        asked.push_back(&branch);
        new_tokens += branch.text.size() - branch.cache->length();
        old_tokens += paged(branch.cache).to_replay().size();
        RC_ASSERT(paged(branch.cache).to_replay().size() < state_tokens);
      }
      const auto before = model->tokens_computed();
      const auto replayed = model->tokens_replayed();
      const auto rows = recurrent::next(*model, passes);
      RC_ASSERT(model->tokens_computed() - before == new_tokens);
      RC_ASSERT(model->tokens_replayed() - replayed == old_tokens);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto fresh = model->empty_cache();
        RC_ASSERT(rows[i] == recurrent::next(*model, *fresh, asked[i]->text));
      }
      if (branches.size() > 4) branches.erase(branches.begin() + *rc::gen::inRange(0, 4));
    }
    const auto states = paged(branches[0].cache).state_pool();
    branches.clear();
    RC_ASSERT(states->free_pages() == states->pages());
    RC_ASSERT(model->pages().free_pages() == model->pages().pages());
  });
}

TEST_CASE("the comparisons would see a state out of place", "[transformer][recurrent]") {
  const auto model = recurrent::model();
  const auto text = recurrent::text_of(200);
  const auto all = recurrent::every_row(*model, text);
  const auto cache = model->empty_cache();
  recurrent::next(*model, *cache, text);
  const std::size_t length = 170;
  const auto row = restarted(*model, *cache, length, {});
  REQUIRE(row == all[length - 1]);
  auto& states = *paged(cache).state_pool();
  const auto copy = [&](std::uint32_t source, std::uint32_t target) {
    for (std::size_t layer = 0; layer < states.memory().layout.arrays(); ++layer) {
      const PagePart part = part_of_array(states.memory(), layer);
      std::memcpy(part_of_page<std::byte>(part, target), part_of_page<std::byte>(part, source),
                  part.stride);
    }
  };
  SECTION("a checkpoint that is that of one before") {
    copy(paged(cache).states()[0], paged(cache).states()[1]);
    CHECK(restarted(*model, *cache, length, {}) != row);
  }
  SECTION("a checkpoint one token older or younger") {
    const auto other = model->empty_cache();
    const std::size_t tokens = 2 * state_tokens + GENERATE(-1, 1);
    recurrent::next(*model, *other, std::span(text).first(tokens));
    copy(paged(other).states().back(), paged(cache).states()[1]);
    CHECK(restarted(*model, *cache, length, {}) != row);
  }
  SECTION("a replay that begins one token late") {
    const auto fork = cache->fork(2 * state_tokens);
    const auto late = std::span(text).first(length).subspan(2 * state_tokens + 1);
    CHECK(recurrent::next(*model, *fork, late) != row);
  }
  SECTION("a replay that ends one token early") {
    const recurrent::Text more{4};
    CHECK(restarted(*model, *cache, length - 1, more) != restarted(*model, *cache, length, more));
  }
  SECTION("a state that is shared and written") {
    const auto fork = cache->fork(text.size());
    // This acts as if nobody else held it.
    states.release(paged(cache).states().back());
    recurrent::next(*model, *fork, recurrent::Text{9, 9});
    states.hold(paged(cache).states().back());
    const recurrent::Text more{4, 5};
    auto whole = text;
    whole.insert(whole.end(), more.begin(), more.end());
    const auto fresh = model->empty_cache();
    CHECK(recurrent::next(*model, *cache, more) != recurrent::next(*model, *fresh, whole));
  }
  SECTION("a state that was shared and not copied") {
    const auto fork = cache->fork(text.size());
    std::vector<PagedCache::PageCopy> never_made;
    paged(fork).reserve_states(text.size() + 1, never_made);
    REQUIRE(never_made.size() == 1);
    CHECK(recurrent::next(*model, *fork, recurrent::Text{4}) !=
          recurrent::next(*model, *cache, recurrent::Text{4}));
  }
}

TEST_CASE("states count as cache, and are shared", "[transformer][recurrent]") {
  const auto model = recurrent::model();
  const auto text = recurrent::text_of(130);
  const auto cache = model->empty_cache();
  recurrent::next(*model, *cache, text);
  const std::size_t state = paged(cache).state_pool()->page_bytes();
  const std::size_t page = model->pages().page_bytes();
  CHECK(model->cache_bytes(130) == 9 * page + 3 * state);
  CHECK(model->cache_bytes(128) == 8 * page + 2 * state);
  CHECK(model->most_cache_bytes() == 9 * page + 3 * state);
  // Its own are one page and one state: those after the checkpoint.
  const auto fork = cache->fork(129);
  recurrent::next(*model, *fork, {});
  CHECK(model->most_cache_bytes() == 10 * page + 4 * state);
}

}  // namespace tempera::gpu::recurrent_restart_test
