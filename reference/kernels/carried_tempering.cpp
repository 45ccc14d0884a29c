#include "reference/kernels/carried_tempering.hpp"

#include <algorithm>
#include <numeric>

#include "reference/numbers/common_denominator.hpp"

namespace tempera::reference {
namespace {

// How many records have each likelihood.
std::vector<std::size_t> records_of_likelihood(const RecordTree& tree) {
  std::vector<std::size_t> records(tree.likelihoods().size());
  for (std::size_t x = 0; x < tree.size(); ++x) ++records[tree.likelihood(x)];
  return records;
}

}  // namespace

TreeTarget::TreeTarget(const TreeKernel& kernel) : kernel_(kernel) {
  const auto records = records_of_likelihood(kernel.tree());
  const OverCommonDenominator powered = over_common_denominator(kernel.powered());
  denominator_ = 0;
  for (std::size_t id = 0; id < records.size(); ++id)
    denominator_ += powered.numerators[id] * records[id];
  normalizer_ = Rational(denominator_) / Rational(powered.denominator);
}

Rational TreeTarget::operator()(std::size_t x) const {
  return kernel_.powered()[kernel_.tree().likelihood(x)] / normalizer_;
}

std::vector<PrimeField::Element> TreeTarget::modulo(const PrimeField& field) const {
  const auto scale = field.of(Rational(1 / normalizer_));
  std::vector<PrimeField::Element> values, result;
  for (const Rational& value : kernel_.powered())
    values.push_back(field.multiply(field.of(value), scale));
  result.reserve(kernel_.tree().size());
  for (std::size_t x = 0; x < kernel_.tree().size(); ++x)
    result.push_back(values[kernel_.tree().likelihood(x)]);
  return result;
}

CarriedTempering::CarriedTempering(const FiniteModel& model, std::size_t horizon,
                                   const Ladder& ladder, const RestartLaw& restart)
    : tree_(std::make_shared<RecordTree>(model, horizon)) {
  CarriedChain(*tree_, ladder.rungs());  // refuses what is too large before the work begins
  for (std::size_t k = 0; k < ladder.rungs(); ++k) {
    kernels_.push_back(std::make_shared<TreeKernel>(*tree_, ladder[k], restart));
    targets_.emplace_back(*kernels_[k]);
    if (k > 0) swaps_.push_back(std::make_shared<TreeSwap>(*tree_, ladder[k - 1], ladder[k]));
  }
}

CarriedChain CarriedTempering::local_sweep() const {
  CarriedChain chain(*tree_, rungs());
  for (std::size_t k = 0; k < rungs(); ++k) chain.then_move(k, kernels_[k]);
  return chain;
}

CarriedChain CarriedTempering::swap(std::size_t k) const {
  CarriedChain chain(*tree_, rungs());
  chain.then_swap(k - 1, swaps_[k - 1]);
  return chain;
}

CarriedChain CarriedTempering::layer(std::size_t first_edge, std::size_t stride) const {
  CarriedChain chain(*tree_, rungs());
  for (std::size_t k = first_edge; k < rungs(); k += stride) chain.then(swap(k));
  return chain;
}

CarriedChain CarriedTempering::transition(std::size_t n_local, std::size_t n_sweep) const {
  CarriedChain chain(*tree_, rungs());
  for (std::size_t i = 0; i < n_local; ++i) chain.then(local_sweep());
  for (std::size_t i = 0; i < n_sweep; ++i) chain.then(ordered_sweep());
  return chain;
}

CarriedChain CarriedTempering::deo_transition() const {
  CarriedChain chain = local_sweep();
  chain.then(odd_layer());
  chain.then(local_sweep());
  chain.then(even_layer());
  return chain;
}

Rational CarriedTempering::target(std::size_t state) const {
  Rational mass = 1;
  for (std::size_t k = rungs(); k-- > 0; state /= tree_->size())
    mass *= targets_[k](state % tree_->size());
  return mass;
}

Integer CarriedTempering::target_denominator() const {
  Integer denominator = 1;
  for (const TreeTarget& target : targets_) denominator *= target.denominator();
  return denominator;
}

std::vector<PrimeField::Element> CarriedTempering::target_modulo(const PrimeField& field) const {
  std::vector<PrimeField::Element> joint{field.one()};
  for (const TreeTarget& target : targets_) {
    const auto of_rung = target.modulo(field);
    std::vector<PrimeField::Element> longer;
    longer.reserve(joint.size() * of_rung.size());
    for (const auto before : joint)
      for (const auto mass : of_rung) longer.push_back(field.multiply(before, mass));
    joint = std::move(longer);
  }
  return joint;
}

// With x below, y above and p0(x) < p0(y), π_k(x) π_{k+1}(y) (p0(x)/p0(y))^{β - α} is
// π_{k+1}(x) π_k(y): the sum over such pairs is the sum over the pairs that are exchanged for
// certain, equal likelihoods left out.
std::vector<Rational> CarriedTempering::swap_acceptances() const {
  const auto records = records_of_likelihood(*tree_);
  const auto& likelihoods = tree_->likelihoods();
  std::vector<std::size_t> ascending(records.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::sort(ascending.begin(), ascending.end(),
            [&](auto a, auto b) { return likelihoods[a] < likelihoods[b]; });
  std::vector<Rational> acceptances;
  for (std::size_t k = 0; k + 1 < rungs(); ++k) {
    const auto lower = over_common_denominator(kernels_[k]->powered());
    const auto upper = over_common_denominator(kernels_[k + 1]->powered());
    Integer up_to = 0, accepted = 0;
    for (const std::size_t id : ascending) {
      const Integer below = lower.numerators[id] * records[id];
      const Integer above = upper.numerators[id] * records[id];
      accepted += below * (2 * up_to + above);
      up_to += above;
    }
    acceptances.push_back(Rational(accepted) / Rational(targets_[k].denominator()) /
                          Rational(targets_[k + 1].denominator()));
  }
  return acceptances;
}

}  // namespace tempera::reference
