#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_count.hpp"

namespace tempera::reference {

/// A finite list of supported records of one model and horizon, depth-first in vocabulary order.
class RecordSpace {
 public:
  virtual ~RecordSpace() = default;

  const FiniteModel& model() const { return model_; }
  std::size_t horizon() const { return horizon_; }
  std::size_t size() const { return records_.size(); }
  const Record& operator[](std::size_t index) const { return records_[index]; }

  /// Π_t p0(x_t | x_{<t}) over the generated tokens of record `index`, never 0; the logarithms of
  /// its factors are eq:implementation-base-log-probability, and padding adds none
  /// (eq:theory-terminated-sequence-law).
  const Rational& likelihood(std::size_t index) const { return likelihoods_[index]; }
  /// Tokens joined by one space.
  std::string name(std::size_t index) const { return model_.text(records_[index].tokens); }
  std::vector<std::string> names() const;

  /// Index of the record with these generated tokens.
  std::optional<std::size_t> find(std::span<const Token> tokens) const;
  /// Index of the record written as tokens joined by one space. `where` names the flag in messages.
  /// @throw BadInput if it has an unknown token, goes on after a terminal one, has a wrong length
  /// or probability zero
  std::size_t parse(std::string_view text, const std::string& where) const;

 protected:
  RecordSpace(const FiniteModel& model, std::size_t horizon) : model_(model), horizon_(horizon) {}
  void append(const std::vector<Token>& tokens, bool terminated, const Rational& likelihood);

 private:
  virtual bool admits_open_records_of(std::size_t length) const = 0;

  FiniteModel model_;
  std::size_t horizon_;
  std::vector<Record> records_;
  std::vector<Rational> likelihoods_;
};

/// S_T (eq:theory-positive-support): records that terminate within T or reach it open. S_0, from
/// which the first stage is extended, holds the empty record alone.
/// @throw BadInput, before listing anything, if |S_T| exceeds record_limit
class FixedHorizonSpace : public RecordSpace {
 public:
  FixedHorizonSpace(const FiniteModel& model, std::size_t horizon);

 private:
  bool admits_open_records_of(std::size_t length) const override { return length == horizon(); }
};

/// The enlarged comparison space of the truncating kernel: every supported record of length 1..T,
/// terminated or not.
/// @throw BadInput if it exceeds the limit
class ComparisonSpace : public RecordSpace {
 public:
  ComparisonSpace(const FiniteModel& model, std::size_t horizon, std::size_t limit = record_limit);

  /// Whether record `index` is an element of S_T: terminated, or open at the horizon.
  bool in_fixed_horizon_space(std::size_t index) const {
    return (*this)[index].terminated || (*this)[index].length() == horizon();
  }

 private:
  bool admits_open_records_of(std::size_t length) const override {
    return length >= 1 && length <= horizon();
  }
};

}  // namespace tempera::reference
