#include "lab/enumerate/canonical_records.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/core/model/table_model.hpp"

namespace tempera::lab {
namespace {

bool bits_agree(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same_scores(const gpu::ScoredSequence& a, const gpu::ScoredSequence& b) {
  for (std::size_t t = 1; t <= a.size(); ++t) {
    const auto log_z = a.log_z(t);
    if (!bits_agree(a.log_p(t), b.log_p(t)) ||
        !std::equal(log_z.begin(), log_z.end(), b.log_z(t).begin(), bits_agree))
      return false;
  }
  return true;
}

}  // namespace

CanonicalRecords::CanonicalRecords(const EnumerableModel& model, const gpu::Ladder& ladder,
                                   std::unique_ptr<gpu::RowLottery> rows)
    : model_(model), ladder_(ladder), rows_(std::move(rows)) {}

const gpu::Record& CanonicalRecords::fresh(const std::vector<gpu::TokenId>& tokens) {
  const auto known = fresh_.find(tokens);
  if (known != fresh_.end()) return known->second;
  return fresh_
      .emplace(tokens, gpu::score_record(model_.model, *scoring_, ladder_, model_.context,
                                         tokens.size(), tokens))
      .first->second;
}

gpu::Record CanonicalRecords::copy(const std::vector<gpu::TokenId>& tokens, std::size_t horizon) {
  gpu::Record record = fresh(tokens).copy();
  record.raise_horizon(horizon);
  return record;
}

std::vector<std::string> CanonicalRecords::stale_parts(const gpu::Record& record) {
  const std::vector<gpu::TokenId> tokens = record.token_ids();
  std::vector<std::string> stale;
  if (!same_scores(fresh(tokens).tokens(), record.tokens())) stale.emplace_back("scores");
  if (!holds_beginning_of(record.cache(), tokens)) stale.emplace_back("cache");
  return stale;
}

/// Whether a cache holds what computing the beginning of prompt and record from scratch puts there.
/// A table's cache holds the tokens themselves; of any other the logits that follow from it are
/// compared, bit for bit, with those computed from scratch.
bool CanonicalRecords::holds_beginning_of(const gpu::Cache& cache,
                                          const std::vector<gpu::TokenId>& tokens) {
  std::vector<gpu::TokenId> history = model_.context.prompt;
  history.insert(history.end(), tokens.begin(), tokens.end());
  if (cache.length() > history.size()) return false;
  if (const auto* table = dynamic_cast<const gpu::TokenCache*>(&cache))
    return std::equal(table->tokens().begin(), table->tokens().end(), history.begin());
  if (history.empty()) return true;
  const auto own = cache.fork(std::min(cache.length(), history.size() - 1));
  const auto scratch = model_.model.empty_cache();
  const gpu::Pass passes[] = {{own.get(), std::span(history).subspan(own->length())},
                              {scratch.get(), history}};
  model_.model.next_logits(passes, logits_);
  const std::size_t vocabulary = model_.model.vocabulary_size();
  const std::vector<float> rows = logits_.download(0, 2 * vocabulary);
  return std::memcmp(rows.data(), rows.data() + vocabulary, vocabulary * sizeof(float)) == 0;
}

}  // namespace tempera::lab
