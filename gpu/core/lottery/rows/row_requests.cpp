#include "gpu/core/lottery/rows/row_requests.hpp"

#include <string>

#include "base/error.hpp"

namespace tempera::gpu {

RowRequest& RowRequests::add(std::span<const double> ladder) {
  RowRequest request;
  request.first_rung = powers.size();
  request.rungs = static_cast<std::uint32_t>(ladder.size());
  powers.insert(powers.end(), ladder.begin(), ladder.end());
  return requests.emplace_back(request);
}

RowRequests requests_of(std::span<const RowDraw> draws) {
  RowRequests rows;
  for (const RowDraw& row : draws) {
    if (row.rung >= row.powers.size()) throw Bug("a row is drawn at no rung of its ladder");
    RowRequest& request = rows.add(row.powers);
    request.rung = static_cast<std::uint32_t>(row.rung);
    request.counter = counter_of(row.draw.address);
    request.seed = row.draw.seed;
  }
  return rows;
}

void require_drawable(std::size_t vocabulary) {
  if (vocabulary == 0 || vocabulary > largest_vocabulary)
    throw ModelError("a vocabulary of " + std::to_string(vocabulary) +
                     " tokens; the lottery takes 1 to 2^18");
}

void require_sound(std::uint32_t status, std::size_t row) {
  switch (static_cast<RowStatus>(status)) {
    case RowStatus::sound:
      break;
    case RowStatus::not_a_number:
      throw ModelError("a logit is NaN or +infinity (row " + std::to_string(row) +
                       " of the batch): the model's weights or activations overflow; "
                       "check the model's weights");
    case RowStatus::nothing_allowed:
      throw ModelError("every logit of row " + std::to_string(row) +
                       " is -infinity: no token is allowed after this prefix");
    case RowStatus::forbidden:
      throw ImpossibleToken("row " + std::to_string(row) + " scores a token of probability zero");
  }
}

ScoredToken scored_token(std::uint64_t token, double log_p, std::span<const double> log_z,
                         const RowRequest& request) {
  const auto own = log_z.subspan(request.first_rung, request.rungs);
  return {static_cast<std::uint32_t>(token), log_p, {own.begin(), own.end()}};
}

}  // namespace tempera::gpu
