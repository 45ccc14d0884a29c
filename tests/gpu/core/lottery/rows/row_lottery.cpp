#include "gpu/core/lottery/rows/row_lottery.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/error.hpp"
#include "gpu/core/lottery/row_steps.hpp"
#include "gpu/core/lottery/tickets.hpp"
#include "gpu/device/instruction_set.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/device/with_environment.hpp"
#include "tests/law.hpp"

using namespace tempera::gpu;

namespace {

/// A Philox lottery that does not say so: forces the way over the host.
class HiddenPhilox final : public Lottery {
 public:
  Word word(std::span<const std::uint64_t> tickets, const Draw& draw) override {
    return philox_.word(tickets, draw);
  }

 private:
  PhiloxLottery philox_;
};

/// Replays a tape, each word one further than the tape says.
class NextWord final : public Lottery {
 public:
  explicit NextWord(TapeLottery& tape) : tape_(tape) {}
  Word word(std::span<const std::uint64_t> tickets, const Draw& draw) override {
    Word next = tape_.word(tickets, draw);
    for (std::uint32_t& limb : next.limb)
      if (++limb != 0) break;
    return next;
  }
  void won(const Draw& draw, std::size_t winner) override { tape_.won(draw, winner); }

 private:
  TapeLottery& tape_;
};

/// Pseudo-random logits, some of them forbidden.
std::vector<float> logits_of(std::size_t count, std::uint64_t seed) {
  std::vector<float> logits(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Word word = philox({{static_cast<std::uint32_t>(i), 0, 0, 0}}, seed);
    logits[i] = static_cast<float>(word.limb[0] % 4096U) / 256.0F - 8.0F;
    if (word.limb[1] % 16 == 0) logits[i] = -std::numeric_limits<float>::infinity();
  }
  logits[0] = 0.5F;
  return logits;
}

using Ladders = std::vector<std::vector<double>>;

/// One draw for each ladder, each at a rung, a seed and an address of its own.
/// The draws refer to the ladders, so a temporary is refused.
std::vector<RowDraw> draws_of(Ladders&&, std::uint64_t) = delete;
std::vector<RowDraw> draws_of(const Ladders& ladders, std::uint64_t seed) {
  std::vector<RowDraw> draws;
  for (std::uint32_t row = 0; row < ladders.size(); ++row) {
    const std::size_t rung = row % ladders[row].size();
    draws.push_back({ladders[row],
                     rung,
                     {seed + row / 2,
                      {row, row + 1, static_cast<std::uint16_t>(rung), 70 + row, 90 * row,
                       Purpose::proposal_token}}});
  }
  return draws;
}

std::vector<float> rows_of(std::size_t count, std::size_t vocabulary, std::uint64_t seed) {
  std::vector<float> logits;
  for (std::size_t row = 0; row < count; ++row) {
    const auto one = logits_of(vocabulary, seed + row);
    logits.insert(logits.end(), one.begin(), one.end());
  }
  return logits;
}

}  // namespace

TEST_CASE("device, host and the open door agree bit for bit", "[long]") {
  law("any vocabulary, across chunks", [](std::uint64_t seed, std::uint16_t size) {
    const std::size_t vocabulary = 1 + size % 5000;
    const Ladders ladders{{1.0, 3.5}, {0.5}, {1.0, 1.5, 2.25, 6.0}, {2.0, 3.0, 4.0}};
    const auto logits = rows_of(ladders.size(), vocabulary, seed);
    const DeviceMemory<float> memory{std::span<const float>(logits)};
    const auto draws = draws_of(ladders, seed);
    PhiloxLottery philox_lottery;
    HiddenPhilox hidden;
    const auto device = make_device_row_lottery();
    const auto host = make_host_row_lottery();
    const auto drawn = device->draw(memory, vocabulary, draws, philox_lottery);
    RC_ASSERT(drawn == host->draw(memory, vocabulary, draws, philox_lottery));
    RC_ASSERT(drawn == device->draw(memory, vocabulary, draws, hidden));
    std::vector<RowToken> tokens;
    for (std::size_t row = 0; row < drawn.size(); ++row)
      tokens.push_back({ladders[row], drawn[row].id});
    RC_ASSERT(drawn == device->score(memory, vocabulary, tokens));
  });
}

TEST_CASE("sums of tickets and grains are those of one token after another, near and far") {
  // Turns of 32 tokens near the largest, all beyond where tickets are counted one by one (at a
  // distance of 31.2 / α) or grains are none (44.5), around both, and forbidden; a rest of 13.
  constexpr std::size_t vocabulary = 2048 + 6 * 32 + 13;
  // More rungs than share a turn's distances.
  const std::vector<double> powers{0.7, 1.0, 2.5, 3.0, 4.0, 5.5, 6.0, 7.0, 8.0, 9.25, 10.0};
  std::vector<float> logits(vocabulary);
  for (std::size_t v = 0; v < vocabulary; ++v) {
    const auto step = static_cast<float>(v % 32) / 32.0F;
    const float of_turn[] = {0.0F,   -44.0F - step, -12.0F - step, -300.0F,
                             -46.0F, -31.0F - step, -44.5F,        -1e30F};
    logits[v] = of_turn[v / 32 % 8] - step;
    if (v % 37 == 5 || v / 32 % 9 == 4) logits[v] = -std::numeric_limits<float>::infinity();
  }
  logits[40] = 0.0F;
  RowRequest request;
  request.rungs = static_cast<std::uint32_t>(powers.size());
  RowBatch batch;
  batch.rows = 1;
  batch.vocabulary = vocabulary;
  batch.chunks = 2;
  batch.logits = logits.data();
  batch.powers = powers.data();
  batch.requests = &request;
  for (const auto set : instruction_sets) {
    if (!why_missing(set).empty()) continue;  // named by the tests of all forms
    CAPTURE(std::string(name_of(set)));
    std::vector<float> chunk_largest(2);
    float largest = 0.0F;
    std::vector<std::uint64_t> ticket_sums(2 * powers.size());
    std::vector<GrainSum> grain_sums(2);
    std::uint32_t status = 9;
    batch.chunk_largest = chunk_largest.data();
    batch.largest = &largest;
    batch.ticket_sums = ticket_sums.data();
    batch.grain_sums = grain_sums.data();
    batch.status = &status;
    host_row_steps(set).find_largest(batch);
    CHECK(largest == 0.0F);
    CHECK(status == 0);
    host_row_steps(set).sum_tickets(batch);
    for (std::size_t c = 0; c < 2; ++c) {
      GrainSum grains;
      std::vector<std::uint64_t> tickets(powers.size());
      for (std::size_t v = batch.begin_of(c); v < batch.end_of(c); ++v) {
        grains = grains + grains_of(logits[v], largest);
        for (std::size_t k = 0; k < powers.size(); ++k)
          tickets[k] += tickets_of(logits[v], largest, powers[k]);
      }
      CHECK(grain_sums[c].high == grains.high);
      CHECK(grain_sums[c].low == grains.low);
      for (std::size_t k = 0; k < powers.size(); ++k)
        CHECK(ticket_sums[c * powers.size() + k] == tickets[k]);
    }
    for (const std::size_t wrong : {std::size_t{0}, std::size_t{33}, vocabulary - 1}) {
      const float kept = logits[wrong];
      for (const float value :
           {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        logits[wrong] = value;
        host_row_steps(set).find_largest(batch);
        CHECK(status == static_cast<std::uint32_t>(RowStatus::not_a_number));
      }
      logits[wrong] = kept;
    }
  }
}

TEST_CASE("every instruction set draws and scores the bits of the readable form", "[long]") {
  const std::vector<double> powers{1.0, 1.5, 2.25, 6.0};
  const Ladders ladders(9, powers);
  PhiloxLottery philox_lottery;
  HiddenPhilox hidden;
  const auto readable = make_host_row_lottery();
  CHECK(readable->form() == std::string("thrust"));
  for (const auto set : instruction_sets) {
    const std::string name(name_of(set));
    if (const auto why = why_missing(set); !why.empty()) {
      std::cout << "SKIPPED: the row lottery for " << name << ": " << why << '\n';
      continue;
    }
    CAPTURE(name);
    const WithEnvironment environment(name.c_str());
    const auto rows = make_device_row_lottery();
    CHECK(rows->form() == "host, " + std::string(name_of(base_of(set))));
    for (const std::size_t vocabulary : {1, 7, 2048, 2049, 5000}) {
      const auto logits = rows_of(ladders.size(), vocabulary, 31);
      const DeviceMemory<float> memory{std::span<const float>(logits)};
      const auto draws = draws_of(ladders, 3);
      const auto drawn = readable->draw(memory, vocabulary, draws, philox_lottery);
      CHECK(rows->draw(memory, vocabulary, draws, philox_lottery) == drawn);
      CHECK(rows->draw(memory, vocabulary, draws, hidden) == drawn);
      std::vector<RowToken> tokens;
      for (std::size_t row = 0; row < drawn.size(); ++row)
        tokens.push_back({ladders[row], drawn[row].id});
      CHECK(rows->score(memory, vocabulary, tokens) == drawn);
      CHECK(rows->log_normalizers(memory, vocabulary, ladders.size(), powers) ==
            readable->log_normalizers(memory, vocabulary, ladders.size(), powers));
    }
  }
}

// The fused draw, at the first and the last word of outcomes on both sides of every chunk's end:
// the sums of chunks, the threshold with its carries and the search within a chunk must all be
// exact.
TEST_CASE("every outcome near a chunk's end wins with the first and the last of its words",
          "[long]") {
  const std::vector<double> powers{1.0, 2.0, 6.0};
  for (const std::size_t vocabulary : {1, 7, 2048, 2049, 4096, 5000}) {
    CAPTURE(vocabulary);
    const auto logits = logits_of(vocabulary, 11);
    std::vector<std::size_t> tokens;
    for (std::size_t v = 0; v < vocabulary; ++v)
      if (std::isfinite(logits[v]) && (v % 2048 < 5 || v % 2048 > 2042 || v + 5 > vocabulary))
        tokens.push_back(v);
    std::vector<std::size_t> winners;
    for (const std::size_t v : tokens) winners.insert(winners.end(), 3, v);
    std::vector<float> rows;
    for (std::size_t row = 0; row < winners.size(); ++row)
      rows.insert(rows.end(), logits.begin(), logits.end());
    const DeviceMemory<float> memory{std::span<const float>(rows)};
    const Ladders ladders(winners.size(), powers);
    const auto draws = draws_of(ladders, 5);
    for (const auto& lottery : {make_device_row_lottery(), make_host_row_lottery()}) {
      TapeLottery tape(winners);
      const auto drawn = lottery->draw(memory, vocabulary, draws, tape);
      CHECK(tape.at_end());
      for (std::size_t row = 0; row < winners.size(); ++row) CHECK(drawn[row].id == winners[row]);
    }
  }
}

// 2^18 equal tokens hold 2^62 tickets, the largest total there is.
TEST_CASE("the largest vocabulary of equal tokens is drawn exactly", "[long]") {
  const std::size_t vocabulary = largest_vocabulary;
  const std::vector<float> logits(vocabulary, 1.5F);
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const Ladders ladders{{1.0}};
  const auto draws = draws_of(ladders, 1);
  const auto rows = make_device_row_lottery();
  for (const std::size_t winner :
       {std::size_t{0}, std::size_t{2047}, std::size_t{131072}, vocabulary - 2, vocabulary - 1}) {
    TapeLottery tape({winner, winner, winner});
    for (int word = 0; word < 3; ++word)
      CHECK(rows->draw(memory, vocabulary, draws, tape).front().id == winner);
  }
}

TEST_CASE("a word one past its outcome's last is an error that names the row's draw") {
  const std::size_t vocabulary = 2100;
  const auto logits = logits_of(vocabulary, 7);
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const Ladders ladders{{1.0, 3.5}};
  const auto draws = draws_of(ladders, 17);
  const auto rows = make_device_row_lottery();
  TapeLottery tape({0, 0});
  NextWord next(tape);
  CHECK(rows->draw(memory, vocabulary, draws, next).front().id == 0);  // the least, and one
  CHECK_THROWS_WITH(rows->draw(memory, vocabulary, draws, next),       // the largest, and one
                    Catch::Contains("proposal token of prompt 0, sample 1, rung 0, turn 70") &&
                        Catch::Contains("selects index 0"));
}

TEST_CASE("rows of other ladders and seeds in the batch change nothing") {
  const std::size_t vocabulary = 2100;
  const Ladders ladders{{1.0, 3.5}, {0.5}, {1.0, 1.5, 2.25, 6.0}, {2.0, 3.0, 4.0}, {3.5}};
  const auto logits = rows_of(ladders.size(), vocabulary, 5);
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const auto draws = draws_of(ladders, 17);
  PhiloxLottery lottery;
  const auto rows = make_device_row_lottery();
  const auto together = rows->draw(memory, vocabulary, draws, lottery);
  for (std::size_t row = 0; row < draws.size(); ++row) {
    CAPTURE(row);
    const DeviceMemory<float> own{std::span(logits).subspan(row * vocabulary, vocabulary)};
    const auto alone = rows->draw(own, vocabulary, std::span(draws).subspan(row, 1), lottery);
    CHECK(alone.front() == together[row]);
    CHECK(alone.front().log_z.size() == ladders[row].size());
  }
}

TEST_CASE("the winner and its scores follow the definition") {
  const std::size_t vocabulary = 4500;
  const auto logits = logits_of(vocabulary, 7);
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const std::vector<double> powers{1.0, 2.0, 4.0};
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  const Draw draw{99, {3, 2, 1, 5, 8, Purpose::extension_token}};
  const std::vector<RowDraw> draws{{powers, 1, draw}};
  const ScoredToken token = rows->draw(memory, vocabulary, draws, lottery).front();

  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<std::uint64_t> tickets;
  for (const float logit : logits) tickets.push_back(tickets_of(logit, largest, 2.0));
  CHECK(token.id == lottery.draw(tickets, draw));
  GrainSum grains;
  for (const float logit : logits) grains = grains + grains_of(logit, largest);
  const double log_p = (static_cast<double>(logits[token.id]) - static_cast<double>(largest)) -
                       log_of_grains(grains);
  CHECK(token.log_p == log_p);
  for (std::size_t k = 0; k < powers.size(); ++k) {
    std::uint64_t total = 0;
    for (const float logit : logits) total += tickets_of(logit, largest, powers[k]);
    const std::uint64_t own = tickets_of(logits[token.id], largest, powers[k]);
    CHECK(token.log_z[k] == powers[k] * log_p - log_share(own, total));
  }
}

TEST_CASE("log z is the tokenwise normalizer") {
  // Two tokens of probability 1/2: z_α = 2^(1−α).
  const std::vector<float> logits{1.25F, 1.25F};
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const std::vector<double> powers{1.0, 2.0, 4.0};
  const auto log_z = make_device_row_lottery()->log_normalizers(memory, 2, 1, powers);
  // 4 ulp: two logarithms and one product.
  CHECK(std::abs(log_z[0]) <= 0x1p-51);
  CHECK(std::abs(log_z[1] + std::log(2.0)) <= 0x1p-51);
  CHECK(std::abs(log_z[2] + 3 * std::log(2.0)) <= 0x1p-49);
}

// The least word of the first token of a chunk has the tickets before it for its threshold.
TEST_CASE("the least and the largest word of each end of a chunk draw that token") {
  constexpr std::size_t chunk = 2048;  // RowBatch's
  const std::vector<float> logits(2 * chunk + 3, 0.0F);
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const Ladders ladders{{2.0}};
  const auto draws = draws_of(ladders, 1);
  for (const auto& rows : {make_device_row_lottery(), make_host_row_lottery()})
    for (const std::size_t token : {std::size_t{0}, chunk - 1, chunk, chunk + 1, 2 * chunk - 1,
                                    2 * chunk, logits.size() - 1}) {
      CAPTURE(rows->form(), token);
      // In turn the least such word, the largest, and one inside.
      TapeLottery tape({token, token, token});
      for (int word = 0; word < 3; ++word)
        CHECK(rows->draw(memory, logits.size(), draws, tape).front().id == token);
    }
}

TEST_CASE("a row that is not a law is an error") {
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  const Ladders ladders{{1.0}};
  const auto draws = draws_of(ladders, 1);
  const auto draw = [&](const std::vector<float>& logits) {
    const DeviceMemory<float> memory{std::span<const float>(logits)};
    return rows->draw(memory, logits.size(), draws, lottery);
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK_THROWS_AS(draw({0.0F, std::numeric_limits<float>::quiet_NaN(), 1.0F}), tempera::ModelError);
  CHECK_THROWS_AS(draw({std::numeric_limits<float>::quiet_NaN(), 1.0F}), tempera::ModelError);
  CHECK_THROWS_AS(draw({0.0F, infinity}), tempera::ModelError);
  // In the last of three chunks, and with no other winner near it.
  std::vector<float> three_chunks(5000, 0.0F);
  three_chunks.back() = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS(draw(three_chunks), tempera::ModelError);
  CHECK_THROWS_AS(draw({-infinity, -infinity}), tempera::ModelError);
  const std::vector<float> logits{0.0F, -infinity};
  const DeviceMemory<float> memory{std::span<const float>(logits)};
  const std::vector<RowToken> forbidden{{ladders.front(), 1}};
  CHECK_THROWS_AS(rows->score(memory, 2, forbidden), tempera::gpu::ImpossibleToken);
}
