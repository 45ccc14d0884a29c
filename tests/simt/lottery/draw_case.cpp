#include "tests/simt/lottery/draw_case.hpp"

#include <algorithm>

#include "gpu/core/lottery/row_steps.hpp"
#include "gpu/core/lottery/selecting_word.hpp"

namespace tempera::gpu {

namespace {

constexpr std::uint64_t poison = 0xFFFFFFFFFFFFFFFFULL;

template <class T>
std::vector<std::uint64_t> bits_of(const std::vector<T>& values) {
  std::vector<std::uint64_t> bits;
  for (const T& value : values) {
    if constexpr (std::is_same_v<T, GrainSum>) {
      bits.push_back(value.high);
      bits.push_back(value.low);
    } else if constexpr (std::is_same_v<T, float>) {
      bits.push_back(std::bit_cast<std::uint32_t>(value));
    } else {
      bits.push_back(std::bit_cast<std::uint64_t>(
          static_cast<std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>>(
              value)));
    }
  }
  return bits;
}

}  // namespace

DrawCase::DrawCase(std::size_t rows, std::size_t vocabulary, std::uint64_t seed)
    : vocabulary_(vocabulary), chunks_((vocabulary + RowBatch::chunk - 1) / RowBatch::chunk) {
  for (std::uint32_t row = 0; row < rows; ++row) {
    // Peaked and flat rows take turns; one token in sixteen is forbidden.
    const float scale = row % 3 == 0 ? 6.0F : row % 3 == 1 ? 0.25F : 1.5F;
    for (std::uint32_t v = 0; v < vocabulary; ++v) {
      const Word word = philox({{v, row, 0, 0}}, seed);
      const float spread = static_cast<float>(word.limb[0] % 4096U) / 256.0F - 8.0F;
      const bool forbidden = word.limb[1] % 16 == 0 && v != row % vocabulary;
      logits_.push_back(forbidden ? -std::numeric_limits<float>::infinity() : spread * scale);
    }
    RowRequest request;
    request.first_rung = powers_.size();
    request.rungs = row % 5 == 4 ? 19 : 1 + row % 6;
    request.rung = static_cast<std::uint32_t>((row * 7 + 3) % request.rungs);
    const auto rung = static_cast<std::uint16_t>(request.rung);
    request.counter = counter_of({row, row + 1, rung, 70 + row, 90 * row, Purpose::proposal_token});
    request.seed = seed + row / 2;
    for (std::uint32_t k = 0; k < request.rungs; ++k)
      powers_.push_back(0.5 + 0.375 * k + 0.0625 * (row % 4));
    requests_.push_back(request);
  }
  chunk_largest_.assign(rows * chunks_, -1e30F);
  largest_.assign(rows, -1e30F);
  ticket_sums_.assign(chunks_ * powers_.size(), poison);
  grain_sums_.assign(rows * chunks_, {poison, poison});
  status_.assign(rows, 77);
  token_.assign(rows, poison);
  log_p_.assign(rows, -1e300);
  log_z_.assign(powers_.size(), -1e300);
}

void DrawCase::select_ends() {
  for (std::size_t row = 0; row < rows(); ++row) {
    RowRequest& request = requests_[row];
    const double power = powers_[request.first_rung + request.rung];
    const auto first = logits_.begin() + static_cast<std::ptrdiff_t>(row * vocabulary_);
    const float largest =
        *std::max_element(first, first + static_cast<std::ptrdiff_t>(vocabulary_));
    std::vector<std::uint64_t> sums{0};
    for (std::size_t v = 0; v < vocabulary_; ++v)
      sums.push_back(sums.back() + tickets_of(logit(row, v), largest, power));
    // A threshold of the sum before a token selects that token, one less the token before it.
    const std::size_t indices[] = {RowBatch::chunk, RowBatch::chunk + 8 * (1 + row),
                                   2 * RowBatch::chunk, 1};
    const std::size_t index = std::min(indices[row / 2 % 4], vocabulary_ - 1);
    const std::uint64_t threshold = sums[index] == 0 ? 0 : sums[index] - row % 2;
    request.counter = counter_giving(least_word(threshold, sums.back()), request.seed);
  }
}

RowBatch DrawCase::batch() {
  RowBatch batch;
  batch.rows = rows();
  batch.vocabulary = vocabulary_;
  batch.chunks = chunks_;
  batch.logits = logits_.data();
  batch.powers = powers_.data();
  batch.requests = requests_.data();
  batch.chunk_largest = chunk_largest_.data();
  batch.largest = largest_.data();
  batch.ticket_sums = ticket_sums_.data();
  batch.grain_sums = grain_sums_.data();
  batch.status = status_.data();
  batch.token = token_.data();
  batch.log_p = log_p_.data();
  batch.log_z = log_z_.data();
  return batch;
}

std::vector<float> DrawCase::tile_largest(std::size_t width) const {
  std::vector<float> tiles;
  for (std::size_t row = 0; row < rows(); ++row) {
    for (std::size_t first = 0; first < vocabulary_; first += width) {
      float largest = -std::numeric_limits<float>::infinity();
      for (std::size_t v = first; v < std::min(first + width, vocabulary_); ++v) {
        const float logit = logits_[row * vocabulary_ + v];
        if (logit != logit || largest != largest)
          largest = std::numeric_limits<float>::quiet_NaN();
        else
          largest = std::max(largest, logit);
      }
      tiles.push_back(largest);
    }
  }
  return tiles;
}

std::vector<DrawCase::Written> DrawCase::written() const {
  // A row that is no law has a status and nothing else.
  return {{"status", bits_of(status_)},         {"ticket sums", bits_of(ticket_sums_)},
          {"grain sums", bits_of(grain_sums_)}, {"tokens", bits_of(token_)},
          {"log p", bits_of(log_p_)},           {"log z", bits_of(log_z_)}};
}

std::vector<std::string> differences(const DrawCase& one, const DrawCase& other) {
  std::vector<std::string> names;
  const auto left = one.written();
  const auto right = other.written();
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i] != right[i]) names.push_back(left[i].what);
  return names;
}

DrawCase drawn_by_host(DrawCase rows) {
  const RowSteps& steps = host_row_steps(InstructionSet::plain);
  const RowBatch batch = rows.batch();
  steps.find_largest(batch);
  steps.sum_tickets(batch);
  steps.draw_winners(batch);
  return rows;
}

}  // namespace tempera::gpu
