#include "reference/kernels/cached_ratio.hpp"

#include "reference/kernels/token_proposal.hpp"

namespace tempera::reference {
namespace {

Rational normalizers_from(const RecordSpace& space, const Power& power, std::size_t s,
                          std::size_t r) {
  Rational product = 1;
  const std::span<const Token> tokens = space[s].tokens;
  for (std::size_t t = r; t <= tokens.size(); ++t)
    product *= token_normalizer(space.model().token_row(tokens.first(t - 1)), power);
  return product;
}

}  // namespace

Rational cached_ratio(const RecordSpace& space, const Power& power, std::size_t x, std::size_t y,
                      std::size_t r) {
  return normalizers_from(space, power, y, r) / normalizers_from(space, power, x, r);
}

}  // namespace tempera::reference
