#include "lab/judge/drawn_models.hpp"

#include "gpu/core/lottery/philox.hpp"
#include "reference/model/record_space.hpp"

namespace tempera::lab {
namespace {

using reference::Rational;
using reference::Token;
using reference::TokenRow;

constexpr std::size_t few_states = 64;
constexpr std::uint32_t largest_weight = 4;

/// Whole numbers that a seed and the number of a model determine.
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::uint64_t number) : seed_(seed), number_(number) {}
  /// From 0 to count - 1.
  std::uint32_t below(std::uint32_t count) {
    const gpu::Word word = gpu::philox({{at_++, static_cast<std::uint32_t>(number_),
                                         static_cast<std::uint32_t>(number_ >> 32U), 0}},
                                       seed_);
    return word.limb[0] % count;
  }

 private:
  std::uint64_t seed_, number_;
  std::uint32_t at_ = 0;
};

}  // namespace

reference::FiniteModel drawn_model(std::uint64_t seed, std::uint64_t number) {
  Numbers numbers(seed, number);
  const bool has_join = number % 3 == 2;
  const std::vector<std::string> names =
      has_join || numbers.below(2) == 0 ? std::vector<std::string>{"a", has_join ? "aa" : "b", "e"}
                                        : std::vector<std::string>{"a", "e"};
  const auto row = [&] {
    TokenRow weights;
    Rational total = 0;
    for (std::size_t v = 0; v < names.size(); ++v)
      total += weights.emplace_back(numbers.below(largest_weight + 1));
    if (total == 0) total = weights.front() = 1;
    for (Rational& weight : weights) weight /= total;
    return weights;
  };
  const std::string name = "random-" + std::to_string(seed) + "-" + std::to_string(number);
  reference::FiniteModelParts parts{name, {names, name}, {}, {}, {}};
  // The first token is never terminal, and the last always is.
  for (Token v = 1; v < names.size(); ++v)
    if (v + 1 == names.size() || (!has_join && numbers.below(3) == 0)) parts.terminal.push_back(v);
  parts.next.emplace(std::vector<Token>{}, row());
  for (Token v = 0; v < parts.terminal.front(); ++v)
    parts.next.emplace(std::vector<Token>{v}, row());
  parts.default_row = row();
  return reference::FiniteModel(std::move(parts), name);
}

std::size_t horizon_of_few_states(const reference::FiniteModel& model, std::size_t rungs,
                                  std::size_t longest) {
  std::size_t horizon = longest;
  for (; horizon > 1; --horizon) {
    const std::size_t records = reference::FixedHorizonSpace(model, horizon).size();
    std::size_t states = 1;
    for (std::size_t k = 0; k < rungs && states <= few_states; ++k) states *= records;
    if (states <= few_states) break;
  }
  return horizon;
}

}  // namespace tempera::lab
