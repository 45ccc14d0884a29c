#include "reference/model/record_count.hpp"

#include "base/error.hpp"

namespace tempera::reference {
namespace {

// Counts the records below an open prefix. Away from the listed prefixes every subtree of one depth
// is alike, so the default row's counts are tabulated once by depth.
class RecordCount {
 public:
  RecordCount(const FiniteModel& model, std::size_t horizon, bool prefixes_too)
      : model_(model), horizon_(horizon), prefixes_too_(prefixes_too) {
    if (horizon > horizon_limit) {
      throw BadInput(model.source(),
                     "horizon " + std::to_string(horizon) + " is above the limit of " +
                         std::to_string(horizon_limit) + " for enumeration",
                     "use a smaller horizon");
    }
    if (!model.default_row()) return;
    below_default_.push_back(open_record_at_the_horizon());
    while (below_default_.size() <= horizon) {
      below_default_.push_back(
          sum_over_row(*model.default_row(), [&](Token) { return below_default_.back(); }));
    }
  }

  Integer below(std::vector<Token>& prefix) const {
    const std::size_t remaining = horizon_ - prefix.size();
    if (remaining == 0) return open_record_at_the_horizon();
    if (model_.default_row() && !lists_rows_below(prefix)) return below_default_[remaining];
    return sum_over_row(model_.token_row(prefix), [&](Token token) {
      prefix.push_back(token);
      Integer count = below(prefix);
      prefix.pop_back();
      return count;
    });
  }

 private:
  // An open record that reaches the horizon is one of S_T; as a prefix it is counted by its parent.
  Integer open_record_at_the_horizon() const { return prefixes_too_ ? 0 : 1; }

  template <class CountBelow>
  Integer sum_over_row(const TokenRow& row, CountBelow count_below) const {
    Integer total = 0;
    for (Token token = 0; token < row.size(); ++token) {
      if (row[token] == 0) continue;
      if (model_.is_terminal(token) || prefixes_too_) total += 1;
      if (!model_.is_terminal(token)) total += count_below(token);
    }
    return total;
  }

  bool lists_rows_below(const std::vector<Token>& prefix) const {
    const auto first = model_.listed_rows().lower_bound(prefix);
    return first != model_.listed_rows().end() && first->first.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), first->first.begin());
  }

  const FiniteModel& model_;
  const std::size_t horizon_;
  const bool prefixes_too_;
  std::vector<Integer> below_default_;
};

Integer count(const FiniteModel& model, std::size_t horizon, bool prefixes_too) {
  std::vector<Token> empty;
  return RecordCount(model, horizon, prefixes_too).below(empty);
}

}  // namespace

Integer count_fixed_horizon_records(const FiniteModel& model, std::size_t horizon) {
  return count(model, horizon, false);
}

Integer count_comparison_records(const FiniteModel& model, std::size_t horizon) {
  return count(model, horizon, true);
}

}  // namespace tempera::reference
