#include "gpu/transformer/architectures/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/input/bad_input.hpp"

namespace tempera::gpu {

namespace {

/// Rows that go through the layers together; more only costs memory.
constexpr std::size_t largest_launch = 512;

template <class T>
void ensure_size(DeviceMemory<T>& memory, std::size_t size) {
  if (memory.size() < size) memory.resize(size);
}

AttentionShape attention_shape(const TransformerConfig& config) {
  return {config.num_attention_heads, config.num_key_value_heads, config.head_dim};
}

PageShape page_shape(const TransformerConfig& config) {
  return {config.num_hidden_layers, config.num_key_value_heads, config.head_dim,
          config.hidden_size};
}

/// What one launch needs to know of its rows, laid out as TokenRows in one upload.
struct Plan {
  std::vector<std::uint32_t> tokens;
  std::vector<std::uint32_t> positions;
  std::vector<std::uint32_t> first_page;
  std::vector<std::uint32_t> page_table;

  std::size_t rows() const { return tokens.size(); }

  void add(std::span<const TokenId> text, std::size_t begin, std::size_t end,
           std::span<const std::uint32_t> pages) {
    const auto first = static_cast<std::uint32_t>(page_table.size());
    page_table.insert(page_table.end(), pages.begin(), pages.end());
    for (std::size_t position = begin; position < end; ++position) {
      tokens.push_back(text[position]);
      positions.push_back(static_cast<std::uint32_t>(position));
      first_page.push_back(first);
    }
  }

  TokenRows upload(DeviceMemory<std::uint32_t>& memory) const {
    std::vector<std::uint32_t> all;
    all.reserve(3 * rows() + page_table.size());
    for (const auto* part : {&tokens, &positions, &first_page, &page_table}) {
      all.insert(all.end(), part->begin(), part->end());
    }
    ensure_size(memory, all.size());
    memory.upload(all);
    const std::uint32_t* start = memory.data();
    return {rows(), start, start + rows(), start + 2 * rows(), start + 3 * rows()};
  }
};

}  // namespace

Transformer::Transformer(TransformerConfig config, TransformerWeights weights)
    : config_(std::move(config)),
      weights_(std::move(weights)),
      pool_(std::make_shared<PagePool>(page_shape(config_))) {}

std::unique_ptr<Transformer> Transformer::load(const std::filesystem::path& folder) {
  auto config = read_transformer_config(folder);
  auto weights = load_weights(config, Checkpoint(folder));
  return std::unique_ptr<Transformer>(new Transformer(std::move(config), std::move(weights)));
}

std::unique_ptr<Transformer> Transformer::random(const TransformerConfig& config,
                                                 std::uint64_t seed) {
  require_consistent(config, "random transformer");
  return std::unique_ptr<Transformer>(new Transformer(config, random_weights(config, seed)));
}

std::unique_ptr<Cache> Transformer::empty_cache() const {
  return std::make_unique<PagedCache>(pool_);
}

void Transformer::require_valid(std::span<const TokenId> tokens) const {
  if (tokens.empty()) {
    throw BadInput("tokens", "there are none", "give the model a prompt of at least one token");
  }
  if (tokens.size() > max_position()) {
    throw BadInput("tokens",
                   "a text of " + std::to_string(tokens.size()) +
                       " tokens is longer than the model's max_position_embeddings of " +
                       std::to_string(max_position()),
                   "shorten the prompt or the horizon");
  }
  const auto wrong = std::find_if(tokens.begin(), tokens.end(),
                                  [&](TokenId token) { return token >= config_.vocab_size; });
  if (wrong != tokens.end()) {
    throw BadInput("tokens",
                   "token " + std::to_string(*wrong) + " at position " +
                       std::to_string(wrong - tokens.begin()) + " is outside the vocabulary of " +
                       std::to_string(config_.vocab_size),
                   "use the tokenizer that belongs to the model");
  }
}

Transformer::Extension Transformer::extension_of(const Pass& pass) const {
  auto* cache = dynamic_cast<PagedCache*>(pass.cache);
  if (cache == nullptr || cache->pool() != pool_) {
    throw std::invalid_argument("a pass has no cache, or that of another model");
  }
  if (cache->length() > pass.tokens.size()) {
    throw std::invalid_argument("a cache is longer than the text of its pass");
  }
  require_valid(pass.tokens);
  return {cache, pass.tokens};
}

void Transformer::next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) {
  std::vector<Extension> extensions;
  std::vector<const Cache*> caches;
  extensions.reserve(passes.size());
  for (const auto& pass : passes) {
    extensions.push_back(extension_of(pass));
    caches.push_back(pass.cache);
  }
  std::sort(caches.begin(), caches.end());
  if (std::adjacent_find(caches.begin(), caches.end()) != caches.end()) {
    throw std::invalid_argument("a cache occurs in two passes");
  }
  extend(extensions);
  std::vector<HeadRow> head_rows;
  head_rows.reserve(extensions.size());
  for (const auto& [cache, tokens] : extensions) {
    const std::size_t last = tokens.size() - 1;
    head_rows.push_back({cache->page_of(last), static_cast<std::uint32_t>(last % page_tokens)});
  }
  run_head(head_rows, rows);
}

void Transformer::logits_at_every_position(std::span<const TokenId> tokens,
                                           DeviceMemory<float>& rows) {
  require_valid(tokens);
  PagedCache cache(pool_);
  const Extension extension{&cache, tokens};
  extend({&extension, 1});
  std::vector<HeadRow> head_rows;
  head_rows.reserve(tokens.size());
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    head_rows.push_back({cache.page_of(token), static_cast<std::uint32_t>(token % page_tokens)});
  }
  run_head(head_rows, rows);
}

void Transformer::extend(std::span<const Extension> extensions) {
  make_room(extensions);
  Plan plan;
  const auto run = [&] {
    if (plan.rows() == 0) return;
    run_layers(plan.upload(plan_));
    tokens_computed_ += plan.rows();
    plan = Plan();
  };
  for (const auto& [cache, tokens] : extensions) {
    for (std::size_t begin = cache->length(); begin < tokens.size();) {
      const std::size_t end = std::min(tokens.size(), begin + largest_launch - plan.rows());
      plan.add(tokens, begin, end, cache->pages());
      if (plan.rows() == largest_launch) run();
      begin = end;
    }
  }
  run();
  for (const auto& [cache, tokens] : extensions) cache->hold(tokens);
}

void Transformer::make_room(std::span<const Extension> extensions) {
  std::vector<PagedCache::PageCopy> copies;
  std::size_t longest = 0;
  for (const auto& [cache, tokens] : extensions) {
    cache->reserve(tokens.size(), copies);
    longest = std::max(longest, tokens.size());
  }
  ensure_rotary_tables(longest);
  if (copies.empty()) return;
  std::vector<std::uint32_t> pages(2 * copies.size());
  for (std::size_t i = 0; i < copies.size(); ++i) {
    pages[i] = copies[i].source;
    pages[copies.size() + i] = copies[i].target;
  }
  ensure_size(plan_, pages.size());
  plan_.upload(pages);
  copy_pages(plan_.data(), plan_.data() + copies.size(), copies.size(), pool_->memory());
}

void Transformer::ensure_rotary_tables(std::size_t positions) {
  if (positions <= rotary_positions_) return;
  constexpr std::size_t fewest = 256;
  positions = std::min(std::max({positions, 2 * rotary_positions_, fewest}), max_position());
  const std::size_t half = config_.head_dim / 2;
  std::vector<float> cosines(positions * half);
  std::vector<float> sines(positions * half);
  for (std::size_t d = 0; d < half; ++d) {
    const double frequency =
        std::pow(config_.rope_theta, -static_cast<double>(d) / static_cast<double>(half));
    for (std::size_t position = 0; position < positions; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      cosines[position * half + d] = static_cast<float>(std::cos(angle));
      sines[position * half + d] = static_cast<float>(std::sin(angle));
    }
  }
  cosines_ = DeviceMemory<float>(std::span<const float>(cosines));
  sines_ = DeviceMemory<float>(std::span<const float>(sines));
  rotary_positions_ = positions;
}

void Transformer::run_layers(const TokenRows& batch) {
  const std::size_t rows = batch.rows;
  const std::size_t hidden = config_.hidden_size;
  const auto epsilon = static_cast<float>(config_.rms_norm_eps);
  const auto shape = attention_shape(config_);
  const auto memory = pool_->memory();
  const RotaryTables tables{cosines_.data(), sines_.data()};
  ensure_size(states_, rows * hidden);
  ensure_size(normed_, rows * hidden);
  ensure_size(query_key_value_, rows * shape.row_floats());
  ensure_size(attended_, rows * shape.query_size());
  ensure_size(gated_, rows * config_.intermediate_size);

  embed(weights_.embedding, batch, states_.data());
  for (std::size_t index = 0; index < weights_.layers.size(); ++index) {
    const auto& layer = weights_.layers[index];
    normalize(states_.data(), layer.input_norm.data(), rows, hidden, epsilon, normed_.data());
    multiply(layer.query_key_value, normed_.data(), rows, shape.row_floats(),
             query_key_value_.data());
    rotate_into_pages(shape, layer.query_norm.data(), layer.key_norm.data(), epsilon, tables, batch,
                      index, memory, query_key_value_.data());
    attend(shape, query_key_value_.data(), batch, index, memory, attended_.data());
    multiply_and_add(layer.attention_output, attended_.data(), rows, hidden, states_.data());
    normalize(states_.data(), layer.post_attention_norm.data(), rows, hidden, epsilon,
              normed_.data());
    multiply_gated(layer.gate_up, normed_.data(), rows, config_.intermediate_size, gated_.data());
    multiply_and_add(layer.down, gated_.data(), rows, hidden, states_.data());
  }
  normalize_into_pages(states_.data(), weights_.final_norm.data(), batch, epsilon, memory);
}

void Transformer::run_head(std::span<const HeadRow> head_rows, DeviceMemory<float>& rows) {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t vocabulary = config_.vocab_size;
  ensure_size(rows, head_rows.size() * vocabulary);
  for (std::size_t begin = 0; begin < head_rows.size(); begin += largest_launch) {
    const auto part = head_rows.subspan(begin, std::min(largest_launch, head_rows.size() - begin));
    std::vector<std::uint32_t> places(2 * part.size());
    for (std::size_t row = 0; row < part.size(); ++row) {
      places[row] = part[row].page;
      places[part.size() + row] = part[row].slot;
    }
    ensure_size(plan_, places.size());
    plan_.upload(places);
    ensure_size(normed_, part.size() * hidden);
    gather_hidden(plan_.data(), plan_.data() + part.size(), part.size(), pool_->memory(),
                  normed_.data());
    multiply(weights_.output_head(), normed_.data(), part.size(), vocabulary,
             rows.data() + begin * vocabulary);
  }
}

}  // namespace tempera::gpu
