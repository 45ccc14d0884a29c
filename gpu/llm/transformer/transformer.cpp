#include "gpu/llm/transformer/transformer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "gpu/core/model/no_room.hpp"
#include "gpu/llm/transformer/cache/shared_splits.hpp"

namespace tempera::gpu {

namespace {

/// Rows that go through the layers together; more only costs memory.
constexpr std::size_t largest_launch = 512;

/// States that there is room for at first: one of a large model takes tens of megabytes.
constexpr std::size_t fewest_states = 4;

/// What one launch needs to know of its rows, laid out as TokenRows in one upload.
struct LaunchRows {
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint32_t> positions;
  std::vector<std::uint32_t> first_page;
  std::vector<std::uint32_t> page_table;
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> shared_splits;
  // These are about records with states.
  std::vector<std::uint32_t> first_row;
  std::vector<std::uint32_t> first_state;
  std::vector<std::uint32_t> state_table;

  std::size_t rows() const { return tokens.size(); }

  /// Rows for `text`, whose first token is at `position`.
  void add(std::span<const TokenId> text, std::size_t position,
           std::span<const std::uint32_t> pages, std::span<const std::uint32_t> states) {
    if (!states.empty()) {
      first_row.push_back(static_cast<std::uint32_t>(rows()));
      first_state.push_back(static_cast<std::uint32_t>(state_table.size()));
      state_table.insert(state_table.end(), states.begin(), states.end());
    }
    const auto first = static_cast<std::uint32_t>(page_table.size());
    page_table.insert(page_table.end(), pages.begin(), pages.end());
    for (std::size_t i = 0; i < text.size(); ++i) {
      // A row has the pages of the row before it in the same record.
      const std::size_t shared = i == 0 ? 0 : (position - 1) / (split_pages * page_tokens) + 1;
      order.push_back(static_cast<std::uint32_t>(rows()));
      shared_splits.push_back(static_cast<std::uint32_t>(shared));
      tokens.push_back(text[i]);
      positions.push_back(static_cast<std::uint32_t>(position++));
      first_page.push_back(first);
    }
  }

  TokenRows upload(DeviceMemory<std::uint32_t>& memory, PagePool* states) {
    const std::size_t records = first_row.size();
    if (records > 0) first_row.push_back(static_cast<std::uint32_t>(rows()));
    std::vector<std::uint32_t> all;
    all.reserve(5 * rows() + page_table.size() + 2 * records + 1 + state_table.size());
    for (const auto* part : {&tokens, &positions, &first_page, &order, &shared_splits, &page_table,
                             &first_row, &first_state, &state_table}) {
      all.insert(all.end(), part->begin(), part->end());
    }
    memory.ensure_size(all.size());
    memory.upload(all);
    const std::uint32_t* start = memory.data();
    const std::size_t context =
        std::size_t{*std::max_element(positions.begin(), positions.end())} + 1;
    TokenRows batch{rows(), context, start, start + rows(), start + 2 * rows(), start + 5 * rows()};
    if (*std::max_element(shared_splits.begin(), shared_splits.end()) > 0)
      batch.shared = {start + 3 * rows(), start + 4 * rows()};
    if (records > 0) {
      const std::uint32_t* first = batch.page_table + page_table.size();
      batch.recurrent = {records, first, first + records + 1, first + 2 * records + 1,
                         states->memory()};
    }
    return batch;
  }
};

}  // namespace

Transformer::Transformer(std::unique_ptr<Architecture> architecture,
                         std::shared_ptr<const Kernels> kernels)
    : kernels_(std::move(kernels)),
      architecture_(std::move(architecture)),
      pool_(std::make_shared<PagePool>(architecture_->page_layout())),
      states_(architecture_->state_layout().bytes() == 0
                  ? nullptr
                  : std::make_shared<PagePool>(architecture_->state_layout(), fewest_states)),
      step_(architecture_->kernels().make_token_step()) {}

std::unique_ptr<Transformer> Transformer::load(const std::filesystem::path& folder,
                                               const std::shared_ptr<const Kernels>& kernels,
                                               std::optional<RopeFactors> rope_factors) {
  return std::make_unique<Transformer>(load_architecture(folder, *kernels, rope_factors), kernels);
}

std::unique_ptr<Transformer> Transformer::load(const std::filesystem::path& folder,
                                               const Kernels& kernels,
                                               std::optional<RopeFactors> rope_factors) {
  return std::make_unique<Transformer>(load_architecture(folder, kernels, rope_factors));
}

std::unique_ptr<Cache> Transformer::empty_cache() const {
  return std::make_unique<PagedCache>(pool_, states_);
}

std::size_t Transformer::most_cache_bytes() const {
  return states_ ? most_held_bytes_ : pool_->most_held() * pool_->page_bytes();
}

void Transformer::require_valid(std::span<const TokenId> tokens, std::size_t cached) const {
  const std::size_t length = cached + tokens.size();
  if (length == 0) {
    throw BadInput("tokens", "there are none", "give the model a prompt of at least one token");
  }
  if (length > max_position()) {
    throw BadInput("tokens",
                   "a text of " + std::to_string(length) +
                       " tokens is longer than the model's max_position_embeddings of " +
                       std::to_string(max_position()),
                   "shorten the prompt or the horizon");
  }
  const auto wrong = std::find_if(tokens.begin(), tokens.end(),
                                  [&](TokenId token) { return token >= vocabulary_size(); });
  if (wrong != tokens.end()) {
    const std::size_t position = cached + static_cast<std::size_t>(wrong - tokens.begin());
    throw BadInput("tokens",
                   "token " + std::to_string(*wrong) + " at position " + std::to_string(position) +
                       " is outside the vocabulary of " + std::to_string(vocabulary_size()),
                   "use the tokenizer that belongs to the model");
  }
}

Transformer::Extension Transformer::extension_of(const Pass& pass) const {
  if (pass.cache == nullptr || pass.cache->maker() != pool_.get()) {
    throw Bug("a pass has no cache, or that of another model");
  }
  require_valid(pass.tokens, pass.cache->length());
  // It is this model's own, by its maker.
  return {static_cast<PagedCache*>(pass.cache), pass.tokens};
}

std::vector<Transformer::Extension> Transformer::extensions_of(std::span<const Pass> passes) const {
  std::vector<Extension> extensions;
  std::vector<const Cache*> caches;
  extensions.reserve(passes.size());
  for (const auto& pass : passes) {
    extensions.push_back(extension_of(pass));
    caches.push_back(pass.cache);
  }
  std::sort(caches.begin(), caches.end());
  if (std::adjacent_find(caches.begin(), caches.end()) != caches.end()) {
    throw Bug("a cache occurs in two passes");
  }
  return extensions;
}

void Transformer::next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) {
  const CurrentDevice here(device_);
  const std::vector<Extension> extensions = extensions_of(passes);
  extend(extensions);
  std::vector<CachedToken> cached;
  cached.reserve(extensions.size());
  for (const auto& [cache, tokens] : extensions) {
    const std::size_t last = cache->length() - 1;
    cached.push_back({cache->page_of(last), static_cast<std::uint32_t>(last % page_tokens)});
  }
  run_head(cached, rows);
}

class Transformer::DrawInStep final : public FusedDraw {
 public:
  DrawInStep(Transformer& model, RowLottery& rows, Lottery& lottery)
      : model_(model), rows_(rows), lottery_(lottery) {}
  std::vector<ScoredToken> next_tokens(std::span<const Pass> passes, std::span<const RowDraw> draws,
                                       DeviceMemory<float>& logits) override {
    if (!draws.empty() && draws.size() <= TokenStep::largest_rows && !have_rules(draws))
      return model_.draw_in_step(passes, draws);
    model_.next_logits(passes, logits);
    return draw_by_rules(rows_, logits, model_.vocabulary_size(), draws, lottery_);
  }

 private:
  Transformer& model_;
  RowLottery& rows_;
  Lottery& lottery_;
};

std::unique_ptr<FusedDraw> Transformer::fused_draw(RowLottery& rows, Lottery& lottery) {
  std::unique_ptr<FusedDraw> fused;
  if (step_ != nullptr) {
    rows.fuse_if_queued(lottery,
                        [&] { fused = std::make_unique<DrawInStep>(*this, rows, lottery); });
  }
  return fused;
}

std::vector<ScoredToken> Transformer::draw_in_step(std::span<const Pass> passes,
                                                   std::span<const RowDraw> draws) {
  const CurrentDevice here(device_);
  const std::vector<Extension> extensions = extensions_of(passes);
  std::vector<Extension> before;  // what is computed before the step
  std::vector<Extension> last;    // and in it
  std::vector<StepRow> step_rows;
  for (std::size_t row = 0; row < extensions.size(); ++row) {
    const auto& [cache, tokens] = extensions[row];
    const bool is_drawn = row < draws.size();
    const std::size_t in_step = is_drawn && !tokens.empty() ? 1 : 0;
    if (tokens.size() > in_step || !cache->to_replay().empty()) {
      before.push_back({cache, tokens.first(tokens.size() - in_step)});
    }
    if (in_step != 0) last.push_back({cache, tokens.last(1)});
    if (!is_drawn) continue;
    step_rows.push_back({cache, {}, draws[row]});
    if (in_step != 0) step_rows.back().token = tokens.back();
  }
  if (!before.empty()) extend(before);
  if (!scratch_page_) scratch_page_ = pool_->take();
  if (states_ && !scratch_state_) scratch_state_ = states_->take();
  const std::vector<PagedCache::PageCopy> copies = reserve(last);
  const std::vector<PagedCache::PageCopy> state_copies = [&] {
    try {
      return reserve_states(last);
    } catch (const NoRoom&) {
      copy_pages(copies, *pool_);
      throw;
    }
  }();
  const StepModel model{
      vocabulary_size(),
      max_position(),
      pool_->memory(),
      *scratch_page_,
      states_ ? states_->memory() : PageMemory{},
      scratch_state_.value_or(0),
      [this](const TokenRows& computed, const CachedRows& asked, const LogitRows& logit_rows) {
        architecture_->step(computed, asked, pool_->memory(), logit_rows);
      }};
  const auto hold = [&] {
    for (const auto& [cache, tokens] : last) cache->hold(tokens);
    tokens_computed_ += last.size();
  };
  try {
    std::vector<ScoredToken> drawn = step_->run(model, step_rows, copies, state_copies);
    hold();
    return drawn;
  } catch (const ModelError&) {
    hold();  // some row cannot be drawn from, but all are computed
    throw;
  }
}

void Transformer::logits_at_every_position(std::span<const TokenId> tokens,
                                           DeviceMemory<float>& rows) {
  const CurrentDevice here(device_);
  require_valid(tokens, 0);
  PagedCache cache(pool_, states_);
  const Extension extension{&cache, tokens};
  extend({&extension, 1});
  std::vector<CachedToken> cached;
  cached.reserve(tokens.size());
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    cached.push_back({cache.page_of(token), static_cast<std::uint32_t>(token % page_tokens)});
  }
  run_head(cached, rows);
}

void Transformer::extend(std::span<const Extension> extensions) {
  make_room(extensions);
  LaunchRows launch;
  const auto run = [&] {
    if (launch.rows() == 0) return;
    architecture_->forward(launch.upload(launch_, states_.get()), pool_->memory());
    tokens_computed_ += launch.rows();
    launch = LaunchRows();
  };
  std::vector<std::vector<TokenId>> texts;  // with what is replayed
  for (const auto& [cache, tokens] : extensions) {
    const auto replayed = cache->to_replay();
    auto& text = texts.emplace_back(replayed.begin(), replayed.end());
    text.insert(text.end(), tokens.begin(), tokens.end());
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t count = std::min(text.size() - begin, largest_launch - launch.rows());
      launch.add(std::span<const TokenId>(text).subspan(begin, count), cache->computed() + begin,
                 cache->pages(), cache->states());
      if (launch.rows() == largest_launch) run();
      begin += count;
    }
  }
  run();
  for (std::size_t i = 0; i < extensions.size(); ++i) {
    PagedCache& cache = *extensions[i].cache;
    tokens_replayed_ += cache.to_replay().size();
    tokens_computed_ -= cache.to_replay().size();
    cache.hold(texts[i]);
  }
}

std::vector<PagedCache::PageCopy> Transformer::reserve(std::span<const Extension> extensions) {
  std::vector<PagedCache::PageCopy> copies;
  try {
    for (const auto& [cache, tokens] : extensions) {
      cache->reserve(cache->length() + tokens.size(), copies);
    }
  } catch (const NoRoom&) {
    copy_pages(copies, *pool_);  // which their caches hold already
    throw;
  }
  return copies;
}

std::vector<PagedCache::PageCopy> Transformer::reserve_states(
    std::span<const Extension> extensions) {
  std::vector<PagedCache::PageCopy> copies;
  if (!states_) return copies;
  try {
    for (const auto& [cache, tokens] : extensions) {
      cache->reserve_states(cache->length() + tokens.size(), copies);
    }
  } catch (const NoRoom&) {
    copy_pages(copies, *states_);
    throw;
  }
  const auto held = [](const PagePool& pool) {
    return (pool.pages() - pool.free_pages()) * pool.page_bytes();
  };
  most_held_bytes_ = std::max(most_held_bytes_, held(*pool_) + held(*states_));
  return copies;
}

void Transformer::make_room(std::span<const Extension> extensions) {
  copy_pages(reserve(extensions), *pool_);
  if (states_) copy_pages(reserve_states(extensions), *states_);
}

void Transformer::copy_pages(std::span<const PagedCache::PageCopy> copies, PagePool& pool) {
  if (copies.empty()) return;
  std::vector<std::uint32_t> pages(2 * copies.size());
  for (std::size_t i = 0; i < copies.size(); ++i) {
    pages[i] = copies[i].source;
    pages[copies.size() + i] = copies[i].target;
  }
  launch_.ensure_size(pages.size());
  launch_.upload(pages);
  kernels().copy_pages(launch_.data(), launch_.data() + copies.size(), copies.size(),
                       pool.memory());
}

void Transformer::run_head(std::span<const CachedToken> tokens, DeviceMemory<float>& rows) {
  rows.ensure_size(tokens.size() * vocabulary_size());
  for (std::size_t begin = 0; begin < tokens.size(); begin += largest_launch) {
    const auto part = tokens.subspan(begin, std::min(largest_launch, tokens.size() - begin));
    std::vector<std::uint32_t> pages_and_slots(2 * part.size());
    for (std::size_t row = 0; row < part.size(); ++row) {
      pages_and_slots[row] = part[row].page;
      pages_and_slots[part.size() + row] = part[row].slot;
    }
    launch_.ensure_size(pages_and_slots.size());
    launch_.upload(pages_and_slots);
    architecture_->logits({part.size(), launch_.data(), launch_.data() + part.size()},
                          pool_->memory(), {rows.data() + begin * vocabulary_size()});
  }
}

}  // namespace tempera::gpu
