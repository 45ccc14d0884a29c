// Rows of logits against integers of any length: every winner, score and normaliser of batches
// whose vocabulary has several chunks, and whose rows have ladders, seeds and addresses of their
// own.
#include <limits>
#include <map>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/lottery/winner.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/naive_run.hpp"

namespace tempera::gpu {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Pseudo-random rows, one in sixteen tokens forbidden; the largest logit is in another chunk of
/// each row, and the later chunks are the likelier ones.
std::vector<float> row_of(std::size_t number, std::size_t vocabulary) {
  std::vector<float> row;
  for (std::size_t v = 0; v < vocabulary; ++v) {
    const naive::Limbs drawn = naive::philox({std::uint32_t(v), 0, 0, 0}, number);
    row.push_back(static_cast<float>(drawn[0] % 4096U) / 512.0F - 8.0F +
                  static_cast<float>(v / 2048));
    if (drawn[1] % 16 == 0) row.back() = -infinity;
  }
  row[(number * 2048 + 7) % vocabulary] = 3.5F;
  return row;
}

/// The tickets of rows at powers, each computed once.
class Tickets {
 public:
  const std::vector<std::uint64_t>& of(const std::vector<float>& row, std::size_t number,
                                       double power) {
    auto& tickets = known_[{number, power}];
    if (tickets.empty()) tickets = naive::tickets_of(row, power);
    return tickets;
  }

 private:
  std::map<std::pair<std::size_t, double>, std::vector<std::uint64_t>> known_;
};

naive::Address address_of(const Draw& draw) {
  return {draw.seed,
          draw.address.prompt_index,
          draw.address.sample_index,
          draw.address.turn,
          draw.address.position,
          static_cast<std::uint64_t>(draw.address.purpose),
          draw.address.rung};
}

}  // namespace

TEST_CASE("600 rows of three chunks are drawn and scored as integers of any length say", "[long]") {
  constexpr std::size_t count = 600, vocabulary = 4700, different = 12;
  const std::vector<std::vector<double>> ladders{
      {1.0, 3.5}, {0.5}, {1.0, 1.5, 2.25, 6.0}, {0.01, 2.0, 3.0}};
  std::vector<std::vector<float>> rows;
  std::vector<float> logits;
  std::vector<RowDraw> draws;
  for (std::size_t i = 0; i < different; ++i) rows.push_back(row_of(i, vocabulary));
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& row = rows[i % different];
    logits.insert(logits.end(), row.begin(), row.end());
    const auto& ladder = ladders[i % ladders.size()];
    const auto rung = static_cast<std::uint16_t>((i / 4) % ladder.size());
    // Every field of the address and both halves of the seed beyond its lowest bits.
    draws.push_back({ladder,
                     rung,
                     {0x9E3779B97F4A7C15U * (i + 1),
                      {i * 77'000'001U, i * 1747U, rung, i * 27'962U, i * 1746U,
                       i % 2 == 0 ? Purpose::extension_token : Purpose::proposal_token}}});
  }
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  PhiloxLottery lottery;
  const auto device = make_device_row_lottery();
  const auto drawn = device->draw(memory, vocabulary, draws, lottery);
  REQUIRE(drawn.size() == count);
  Tickets tickets;
  std::map<std::size_t, std::size_t> chunks;
  for (std::size_t i = 0; i < count; ++i) {
    CAPTURE(i);
    const std::size_t number = i % different;
    const auto& own = tickets.of(rows[number], number, draws[i].powers[draws[i].rung]);
    REQUIRE(drawn[i].id == naive::winner(own, naive::word_at(address_of(draws[i].draw))));
    ++chunks[drawn[i].id / 2048];
    if (i >= 4 * different) continue;  // the scores of each row and ladder are the same again
    const std::vector<double> powers(draws[i].powers.begin(), draws[i].powers.end());
    const naive::Token token = naive::scored(rows[number], powers, drawn[i].id);
    REQUIRE(to_bits(drawn[i].log_p) == to_bits(token.log_p));
    REQUIRE(drawn[i].log_z == token.log_z);
  }
  CHECK(chunks.size() == 3);
}

TEST_CASE("a row whose tickets fill 2^62 is drawn by its word's first bits", "[long]") {
  constexpr std::size_t vocabulary = std::size_t{1} << 18;
  const std::vector<float> logits(vocabulary, -1.25F);
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const std::vector<double> powers{1.0, 2.0};
  PhiloxLottery lottery;
  const auto rows = make_device_row_lottery();
  for (std::uint32_t turn = 0; turn < 8; ++turn) {
    const Draw draw{turn * 0x100000001U, {3, 2, 1, turn, 5, Purpose::proposal_token}};
    const RowDraw one{powers, 1, draw};
    const ScoredToken token = rows->draw(memory, vocabulary, std::span(&one, 1), lottery).front();
    CHECK(token.id ==
          naive::Integer(naive::word_at(address_of(draw)) >> (128 - 18)).convert_to<std::size_t>());
    // log p0 = −18 log 2 to the error of one logarithm, and ζ_2 = 2 log p0 − log g = log p0.
    CHECK(std::abs(token.log_p + 18 * std::log(2.0)) < 0x1p-48);
    CHECK(std::abs(token.log_z[1] + 18 * std::log(2.0)) < 0x1p-47);
  }
}

TEST_CASE("no bit of the 128-bit product is lost in a threshold, carries included") {
  const std::vector<std::uint64_t> totals{1,
                                          3,
                                          (std::uint64_t{1} << 62) - 57,
                                          std::uint64_t{1} << 62,
                                          (std::uint64_t{1} << 63) - 25,
                                          (std::uint64_t{1} << 63) + 1,
                                          ~std::uint64_t{0}};
  std::size_t carries = 0;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const naive::Limbs limbs = naive::philox({i, 1, 2, 3}, 99);
    naive::Integer word = 0;
    for (std::size_t limb = 4; limb-- > 0;) word = (word << 32) + limbs[limb];
    for (const std::uint64_t total : totals) {
      const naive::Integer exact = (word * total) >> 128;
      REQUIRE(threshold_of({{limbs[0], limbs[1], limbs[2], limbs[3]}}, total) == exact);
      // What the lower half of the word adds.
      if (((word >> 64) * total) >> 64 != exact) ++carries;
    }
  }
  CHECK(carries > 100);
}

TEST_CASE("log z of each row and power goes over all chunks of the vocabulary", "[long]") {
  using Real = naive::Real;
  for (const std::size_t vocabulary : {2049, 4700}) {
    const std::vector<double> powers{0.5, 2.5};
    std::vector<std::vector<float>> rows;
    std::vector<float> logits;
    for (std::size_t i = 0; i < 2; ++i) {
      rows.push_back(row_of(i + 40, vocabulary));
      rows.back().back() = 2.0F;
      logits.insert(logits.end(), rows.back().begin(), rows.back().end());
    }
    const DeviceMemory<float> memory{std::span<const float>(logits)};
    const auto log_z =
        make_device_row_lottery()->log_normalizers(memory, vocabulary, rows.size(), powers);
    REQUIRE(log_z.size() == rows.size() * powers.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Real base = 0;
      std::vector<Real> powered(powers.size());
      for (const float logit : rows[i]) {
        if (std::isinf(logit)) continue;
        base += exp(Real(logit));
        for (std::size_t k = 0; k < powers.size(); ++k)
          powered[k] += exp(Real(powers[k]) * Real(logit));
      }
      for (std::size_t k = 0; k < powers.size(); ++k) {
        CAPTURE(vocabulary, i, powers[k]);
        const Real exact = log(powered[k]) - Real(powers[k]) * log(base);
        // Each of the two logarithms is right to 2^-45, and α is at most 2.5.
        CHECK(abs(Real(log_z[i * powers.size() + k]) - exact) < 4 * 0x1p-45);
      }
    }
  }
}

}  // namespace tempera::gpu
