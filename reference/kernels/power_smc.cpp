#include "reference/kernels/power_smc.hpp"

#include <algorithm>
#include <map>
#include <span>

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

/// Every weight times p0^to / p0^from of the particle's record.
States raised(const FiniteModel& model, const Power& from, const Power& to, const States& states) {
  States next;
  for (const auto& [particles, probability] : states) {
    Particles risen = particles;
    for (Particle& particle : risen)
      for (std::size_t t = 0; t < particle.tokens.size(); ++t) {
        const Rational& p =
            model.token_row(std::span(particle.tokens).first(t))[particle.tokens[t]];
        particle.weight *= to.raise(p) / from.raise(p);
      }
    add(next, std::move(risen), probability);
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

ParticleLaw power_smc_law(const FixedHorizonSpace& space, std::size_t interval,
                          const std::vector<Power>& ramp, std::size_t particles) {
  if (interval == 0) throw BadInput("interval", "is 0", "look at the weights after some tokens");
  if (particles == 0) throw BadInput("particles", "are 0", "take at least 1");
  if (ramp.empty()) throw BadInput("powers", "are missing", "give at least one");
  States states{{Particles(particles), Rational(1)}};
  ParticleLaw law{Law(space.size()), 0};
  const std::size_t intervals = (space.horizon() + interval - 1) / interval;
  std::size_t rung = 0;
  for (std::size_t t = 1; t <= space.horizon(); ++t) {
    const std::size_t number = (t - 1) / interval;
    const std::size_t next =
        number + 1 == intervals ? ramp.size() - 1 : std::min(number, ramp.size() - 1);
    if (t > 1 && next != rung) states = raised(space.model(), ramp[rung], ramp[next], states);
    rung = next;
    for (std::size_t i = 0; i < particles; ++i)
      states = advanced(space.model(), ramp[rung], i, states, law.tokens);
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
