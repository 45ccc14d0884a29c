#include "runs/audit/replay_model.hpp"

#include <algorithm>
#include <utility>

namespace tempera::gpu {
namespace {

constexpr std::size_t most_rows = 64;           // of one pass that draws
constexpr std::size_t most_pass_tokens = 1024;  // of one pass that computes

/// The beginning of a cache of the model's that may hold more.
class ReplayCache final : public Cache {
 public:
  ReplayCache(std::shared_ptr<Cache> cache, std::size_t length)
      : cache_(std::move(cache)), length_(length) {}

  std::size_t length() const override { return length_; }
  std::unique_ptr<Cache> fork(std::size_t length) const override {
    return std::make_unique<ReplayCache>(cache_, length);
  }

  /// A cache that holds the tokens of this one and no more, to continue from.
  std::unique_ptr<Cache> own() const { return cache_->fork(length_); }
  /// The model's cache, which holds this one's tokens alone and has one owner.
  Cache& alone() {
    if (cache_.use_count() > 1 || cache_->length() != length_) cache_ = own();
    return *cache_;
  }
  void replace(std::shared_ptr<Cache> cache) { cache_ = std::move(cache); }
  void grow(std::size_t tokens) { length_ += tokens; }

 private:
  std::shared_ptr<Cache> cache_;
  std::size_t length_;
};

/// All caches of a ReplayModel are its own.
ReplayCache& replayed(const Pass& pass) { return static_cast<ReplayCache&>(*pass.cache); }

DrawnFor drawn_for(const Draw& draw) {
  const DrawAddress& at = draw.address;
  return {draw.seed, at.prompt_index, at.sample_index, at.rung, at.turn, at.purpose};
}

}  // namespace

ReplayModel::ReplayModel(LanguageModel& model, std::vector<TokenId> terminal, std::size_t horizon,
                         std::map<DrawnFor, std::vector<TokenId>> recorded)
    : model_(model), terminal_(std::move(terminal)), horizon_(horizon) {
  for (auto& [of, tokens] : recorded) recorded_[of].tokens = std::move(tokens);
}

std::unique_ptr<Cache> ReplayModel::empty_cache() const {
  return std::make_unique<ReplayCache>(model_.empty_cache(), 0);
}

void ReplayModel::next_logits(std::span<const Pass> passes, DeviceMemory<float>& rows) {
  std::vector<Pass> own;
  for (const Pass& pass : passes) {
    own.push_back({&replayed(pass).alone(), pass.tokens});
    computed_tokens_ += pass.tokens.size();
  }
  model_.next_logits(own, rows);
  for (const Pass& pass : passes) replayed(pass).grow(pass.tokens.size());
  ++passes_;
}

/// Draws what is recorded ahead of the requests.
class ReplayModel::Ahead final : public FusedDraw {
 public:
  Ahead(ReplayModel& model, RowLottery& rows, Lottery& lottery)
      : model_(model),
        rows_(rows),
        lottery_(lottery),
        fused_(model.model_.fused_draw(rows, lottery)) {}

  std::vector<ScoredToken> next_tokens(std::span<const Pass> passes, std::span<const RowDraw> draws,
                                       DeviceMemory<float>& logits) override {
    const auto drawn = passes.first(draws.size());
    compute(drawn, draws, logits);
    draw_ahead(logits);
    std::vector<ScoredToken> tokens;
    for (std::size_t row = 0; row < draws.size(); ++row) {
      replayed(drawn[row]).grow(drawn[row].tokens.size());
      tokens.push_back(token_of(draws[row].draw));
    }
    if (passes.size() > draws.size()) model_.next_logits(passes.subspan(draws.size()), logits);
    return tokens;
  }

 private:
  /// A proposal or extension whose first token is asked for now.
  struct Begun {
    Recorded* recorded;
    std::shared_ptr<Cache> cache;   ///< of all its tokens but the last
    std::size_t length = 0;         ///< before its first token
    std::vector<TokenId> computed;  ///< what the cache takes beyond what it holds
    RowDraw draw;
  };

  /// Computes the recorded tokens of what begins with one of these draws.
  void compute(std::span<const Pass> passes, std::span<const RowDraw> draws,
               DeviceMemory<float>& logits) {
    begun_.clear();
    for (std::size_t row = 0; row < draws.size(); ++row) {
      const Draw& draw = draws[row].draw;
      const auto found = model_.recorded_.find(drawn_for(draw));
      if (found == model_.recorded_.end()) throw TokenDiffers(draw, std::nullopt, std::nullopt);
      Recorded& recorded = found->second;
      if (!recorded.scored.empty()) continue;
      recorded.first = draw.address.position;
      const std::vector<TokenId> possible = possible_tokens(recorded);
      if (possible.empty()) throw differs(draw, recorded, std::nullopt);
      ReplayCache& cache = replayed(passes[row]);
      Begun begun{&recorded,
                  cache.own(),
                  cache.length() + passes[row].tokens.size(),
                  {passes[row].tokens.begin(), passes[row].tokens.end()},
                  draws[row]};
      begun.computed.insert(begun.computed.end(), possible.begin(), possible.end() - 1);
      recorded.scored.resize(possible.size());
      cache.replace(begun.cache);
      begun_.push_back(std::move(begun));
    }
    std::vector<Pass> pass;
    std::size_t tokens = 0;
    const auto make = [&] {
      if (pass.empty()) return;
      model_.model_.next_logits(pass, logits);
      ++model_.passes_;
      model_.computed_tokens_ += tokens;
      pass.clear();
      tokens = 0;
    };
    for (const Begun& begun : begun_) {
      if (begun.computed.empty()) continue;
      if (tokens + begun.computed.size() > most_pass_tokens) make();
      pass.push_back({begun.cache.get(), begun.computed});
      tokens += begun.computed.size();
    }
    make();
  }

  /// Draws after each token of what has begun, and compares.
  void draw_ahead(DeviceMemory<float>& logits) {
    struct Row {
      const Begun* begun;
      std::size_t index;
    };
    std::vector<Row> rows;
    for (const Begun& begun : begun_)
      for (std::size_t i = 0; i < begun.recorded->scored.size(); ++i) rows.push_back({&begun, i});
    for (std::size_t first = 0; first < rows.size(); first += most_rows) {
      const auto some = std::span(rows).subspan(first, std::min(most_rows, rows.size() - first));
      std::vector<std::unique_ptr<Cache>> forks;
      std::vector<Pass> passes;
      std::vector<RowDraw> draws;
      for (const Row& row : some) {
        forks.push_back(row.begun->cache->fork(row.begun->length + row.index));
        passes.push_back({forks.back().get(), {}});
        draws.push_back(row.begun->draw);
        draws.back().draw.address.position += static_cast<std::uint32_t>(row.index);
        if (auto& rules = draws.back().rules) {
          const auto first_tokens = std::span(row.begun->recorded->tokens).first(row.index);
          rules->drawn.insert(rules->drawn.end(), first_tokens.begin(), first_tokens.end());
        }
      }
      const std::vector<ScoredToken> tokens = next_tokens_of_model(passes, draws, logits);
      for (std::size_t i = 0; i < some.size(); ++i) {
        const TokenId recorded = some[i].begun->recorded->tokens[some[i].index];
        if (tokens[i].id != recorded) throw TokenDiffers(draws[i].draw, recorded, tokens[i].id);
        some[i].begun->recorded->scored[some[i].index] = tokens[i];
      }
    }
  }

  std::vector<ScoredToken> next_tokens_of_model(std::span<const Pass> passes,
                                                std::span<const RowDraw> draws,
                                                DeviceMemory<float>& logits) {
    ++model_.passes_;
    if (fused_) return fused_->next_tokens(passes, draws, logits);
    model_.model_.next_logits(passes, logits);
    return draw_by_rules(rows_, logits, model_.vocabulary_size(), draws, lottery_);
  }

  /// The recorded tokens that can have been drawn one after the other.
  std::vector<TokenId> possible_tokens(const Recorded& recorded) const {
    std::vector<TokenId> tokens;
    for (const TokenId token : recorded.tokens) {
      if (recorded.first + tokens.size() >= model_.horizon_ || token >= model_.vocabulary_size())
        break;
      tokens.push_back(token);
      if (std::ranges::find(model_.terminal_, token) != model_.terminal_.end()) break;
    }
    return tokens;
  }

  /// The token of a draw, if its proposal or extension has begun.
  ScoredToken token_of(const Draw& draw) const {
    const Recorded& recorded = model_.recorded_.at(drawn_for(draw));
    const std::size_t index = draw.address.position - recorded.first;
    if (index >= recorded.scored.size()) throw differs(draw, recorded, std::nullopt);
    return recorded.scored[index];
  }

  static TokenDiffers differs(const Draw& draw, const Recorded& recorded,
                              std::optional<TokenId> drawn) {
    const std::size_t index = draw.address.position - recorded.first;
    const bool is_there = index < recorded.tokens.size();
    return {draw, is_there ? std::optional(recorded.tokens[index]) : std::nullopt, drawn};
  }

  ReplayModel& model_;
  RowLottery& rows_;
  Lottery& lottery_;
  std::unique_ptr<FusedDraw> fused_;
  std::vector<Begun> begun_;  ///< in the batch under way
};

std::unique_ptr<FusedDraw> ReplayModel::fused_draw(RowLottery& rows, Lottery& lottery) {
  return std::make_unique<Ahead>(*this, rows, lottery);
}

}  // namespace tempera::gpu
