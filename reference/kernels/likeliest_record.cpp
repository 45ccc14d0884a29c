#include "reference/kernels/likeliest_record.hpp"

#include <set>

namespace tempera::reference {
namespace {

/// Σ of a law over the records whose likelihood `counts`.
template <class Counts>
Rational mass(const RecordSpace& space, const Law& law, const Counts& counts) {
  Rational sum = 0;
  for (std::size_t x = 0; x < space.size(); ++x)
    if (counts(space.likelihood(x))) sum += law[x];
  return sum;
}

}  // namespace

Rational tied_share() { return 1 - Rational(1, 65536); }

// If the greatest likelihood is m and the answer is x at place i: the places before i hold
// records below the ties, those after it records of at most m, and m itself is at i or after it.
Law likeliest_record_law(const RecordSpace& space, const std::vector<Law>& laws) {
  std::set<Rational> greatest;
  for (std::size_t x = 0; x < space.size(); ++x) greatest.insert(space.likelihood(x));
  Law answer(space.size());
  for (const Rational& m : greatest) {
    const Rational least_tied = m * tied_share();
    std::vector<Rational> untied, at_most, less;
    for (const Law& law : laws) {
      untied.push_back(mass(space, law, [&](const Rational& p) { return p < least_tied; }));
      at_most.push_back(mass(space, law, [&](const Rational& p) { return p <= m; }));
      less.push_back(mass(space, law, [&](const Rational& p) { return p < m; }));
    }
    Rational before = 1;
    for (std::size_t i = 0; i < laws.size(); before *= untied[i++]) {
      Rational after_at_most = 1;
      Rational after_less = 1;
      for (std::size_t j = i + 1; j < laws.size(); ++j) {
        after_at_most *= at_most[j];
        after_less *= less[j];
      }
      for (std::size_t x = 0; x < space.size(); ++x) {
        const Rational& p = space.likelihood(x);
        if (p > m || p < least_tied) continue;
        answer[x] += before * laws[i][x] * (p == m ? after_at_most : after_at_most - after_less);
      }
    }
  }
  return answer;
}

}  // namespace tempera::reference
