#include "reference/kernels/power_smc.hpp"

#include <map>

#include "base/error.hpp"
#include "reference/kernels/systematic_resampling.hpp"
#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {
namespace {

struct Particle {
  std::vector<Token> tokens;
  Rational weight = 1;

  friend bool operator<(const Particle& a, const Particle& b) {
    return a.tokens != b.tokens ? a.tokens < b.tokens : a.weight < b.weight;
  }
};
using Particles = std::vector<Particle>;
using States = std::map<Particles, Rational>;

bool has_ended(const FiniteModel& model, const std::vector<Token>& tokens) {
  return !tokens.empty() && model.is_terminal(tokens.back());
}

void add(States& states, Particles particles, const Rational& probability) {
  states[std::move(particles)] += probability;
  if (states.size() > particle_state_limit)
    throw BadInput("particles",
                   "have more than " + std::to_string(particle_state_limit) + " joint states",
                   "take fewer particles or a shorter horizon");
}

/// Particle `i` advanced by one token in every state; adds the expected tokens.
States advanced(const FiniteModel& model, const Power& power, std::size_t i, const States& states,
                Rational& tokens) {
  States next;
  for (const auto& [particles, probability] : states) {
    if (has_ended(model, particles[i].tokens)) {
      add(next, particles, probability);
      continue;
    }
    tokens += probability;
    const TokenRow& row = model.token_row(particles[i].tokens);
    const TokenRow proposal = token_proposal(row, power);
    for (Token v = 0; v < row.size(); ++v) {
      if (row[v] == 0) continue;
      Particles moved = particles;
      moved[i].tokens.push_back(v);
      moved[i].weight *= power.raise(row[v]) / proposal[v];
      add(next, std::move(moved), probability * proposal[v]);
    }
  }
  return next;
}

std::vector<Rational> weights_of(const Particles& particles) {
  std::vector<Rational> weights;
  for (const Particle& particle : particles) weights.push_back(particle.weight);
  return weights;
}

bool is_degenerate(const std::vector<Rational>& weights) {
  Rational sum = 0;
  Rational squares = 0;
  for (const Rational& weight : weights) {
    sum += weight;
    squares += weight * weight;
  }
  return sum * sum / squares < Rational(weights.size()) / 2;
}

States resampled(const States& states) {
  States next;
  for (const auto& [particles, probability] : states) {
    const auto weights = weights_of(particles);
    if (!is_degenerate(weights)) {
      add(next, particles, probability);
      continue;
    }
    for (const Offspring& outcome : systematic_resampling(weights)) {
      Particles offspring;
      for (const std::size_t ancestor : outcome.ancestors)
        offspring.push_back({particles[ancestor].tokens, 1});
      add(next, std::move(offspring), probability * outcome.probability);
    }
  }
  return next;
}

}  // namespace

ParticleLaw power_smc_law(const FixedHorizonSpace& space, std::size_t interval, const Power& power,
                          std::size_t particles) {
  if (interval == 0) throw BadInput("interval", "is 0", "look at the weights after some tokens");
  if (particles == 0) throw BadInput("particles", "are 0", "take at least 1");
  States states{{Particles(particles), Rational(1)}};
  ParticleLaw law{Law(space.size()), 0};
  for (std::size_t t = 1; t <= space.horizon(); ++t) {
    for (std::size_t i = 0; i < particles; ++i)
      states = advanced(space.model(), power, i, states, law.tokens);
    if (t % interval == 0 || t == space.horizon()) states = resampled(states);
  }
  for (const auto& [held, probability] : states) {
    Rational total = 0;
    for (const Particle& particle : held) total += particle.weight;
    for (const Particle& particle : held)
      law.answer[space.find(particle.tokens).value()] += probability * particle.weight / total;
  }
  return law;
}

}  // namespace tempera::reference
