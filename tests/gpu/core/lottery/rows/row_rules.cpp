// Rows that are changed before a draw, against the rules as docs/reference/samplers.md writes them:
// token by token, with integers of any length, and whatever the tokens' order and batch.
#include "gpu/core/lottery/rows/row_rules.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "gpu/core/lottery/rows/row_lottery.hpp"
#include "gpu/core/lottery/tickets.hpp"
#include "tests/gpu/session/naive_run.hpp"
#include "tests/law.hpp"

namespace tempera::gpu::row_rules_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
using Row = std::vector<float>;

Row changed(Row row, const TokenOptions& options, double power = 1.0,
            std::vector<std::uint32_t> drawn = {}, const std::vector<std::uint32_t>& prompt = {},
            const std::vector<std::uint32_t>& terminal = {}) {
  change_row(row, {options, terminal, prompt, std::move(drawn)}, power);
  return row;
}

std::set<std::size_t> left_of(const Row& row) {
  std::set<std::size_t> left;
  for (std::size_t v = 0; v < row.size(); ++v)
    if (row[v] != -infinity) left.insert(v);
  return left;
}

/// Few different logits, so that many tie; some are forbidden, some have one ticket.
Row random_row() {
  Row row = *rc::gen::nonEmpty(rc::gen::container<Row>(
      rc::gen::element(-infinity, -60.0F, -40.0F, -3.0F, -1.5F, -0.0F, 0.0F, 0.5F, 0.625F, 2.0F)));
  row[0] = 1.0F;
  return row;
}

TokenOptions random_cuts() {
  TokenOptions options;
  options.top_k = *rc::gen::inRange<std::size_t>(0, 12);
  options.min_p = *rc::gen::element(0.0, 0x1p-44, 0.1, 0.5, 0.99, 1.0);
  options.top_p = *rc::gen::element(1.0, 0.999, 0.9, 0.5, 0.1, 1e-9, 1e-40);
  return options;
}

/// m and k with p = m 2^-k.
std::pair<naive::Integer, unsigned> fraction_of(double p) {
  unsigned k = 0;
  for (; p != std::floor(p); ++k) p *= 2.0;
  return {naive::Integer(p), k};
}

/// The tokens that stay, each judged by itself.
std::set<std::size_t> kept_by_hand(const Row& row, const TokenOptions& options, double power) {
  std::set<std::size_t> left = left_of(row);
  const std::vector<std::uint64_t> tickets = naive::tickets_of(row, power);
  const auto keep = [&](const auto& stays) {
    const std::set<std::size_t> before = left;
    std::erase_if(left, [&](std::size_t v) { return !stays(before, v); });
  };
  if (options.top_k > 0)
    keep([&](const auto& before, std::size_t v) {
      std::size_t larger = 0;
      for (const std::size_t other : before) larger += row[other] > row[v] ? 1 : 0;
      return larger < options.top_k;
    });
  const auto [share, bits] = fraction_of(options.min_p);
  keep([&, m = share, k = bits](const auto&, std::size_t v) {
    return (naive::Integer(tickets[v]) << k) >= (m << 44);
  });
  const auto [nucleus, digits] = fraction_of(options.top_p);
  if (options.top_p < 1.0)
    keep([&, m = nucleus, k = digits](const auto& before, std::size_t v) {
      naive::Integer all = 0, larger = 0;
      for (const std::size_t other : before) {
        all += tickets[other];
        if (row[other] > row[v]) larger += tickets[other];
      }
      return (larger << k) < m * all;
    });
  return left;
}

}  // namespace

TEST_CASE("cuts leave the tokens of their rules, ties together, in every order of the tokens") {
  law("a token stays if the rules say so of it alone", [] {
    const Row row = random_row();
    const TokenOptions options = random_cuts();
    const double power = *rc::gen::element(0.5, 1.0, 2.5, 1048576.0);
    const Row cut = changed(row, options, power);
    RC_ASSERT(left_of(cut) == kept_by_hand(row, options, power));
    std::vector<std::size_t> order(row.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
    Row shuffled;
    for (const std::size_t v : order) shuffled.push_back(row[v]);
    const Row cut_shuffled = changed(shuffled, options, power);
    for (std::size_t i = 0; i < order.size(); ++i) {
      RC_ASSERT(cut_shuffled[i] == cut[order[i]]);
      RC_ASSERT(cut[i] == row[i] || cut[i] == -infinity);
    }
  });
}

TEST_CASE("the bounds of cuts are those of the rules to the ticket") {
  const Row row{0.0F, 0.0F, -1.0F, -1.0F, -2.0F, -infinity};
  using Tokens = std::set<std::size_t>;
  CHECK(left_of(changed(row, {.top_k = 1})) == Tokens{0, 1});
  CHECK(left_of(changed(row, {.top_k = 2})) == Tokens{0, 1});
  CHECK(left_of(changed(row, {.top_k = 3})) == Tokens{0, 1, 2, 3});
  CHECK(left_of(changed(row, {.top_k = 5})) == Tokens{0, 1, 2, 3, 4});
  CHECK(left_of(changed(row, {.top_k = 99})) == Tokens{0, 1, 2, 3, 4});
  CHECK(left_of(changed(row, {.min_p = 1.0})) == Tokens{0, 1});
  const double second = static_cast<double>(tickets_of(-1.0F, 0.0F, 2.0)) * 0x1p-44;
  CHECK(left_of(changed(row, {.min_p = second}, 2.0)) == Tokens{0, 1, 2, 3});
  CHECK(left_of(changed(row, {.min_p = second + 0x1p-44}, 2.0)) == Tokens{0, 1});
  // Four equal tokens: half of the tickets is two of them, which tie with the others.
  CHECK(left_of(changed({1.0F, 1.0F, 1.0F, 1.0F}, {.top_p = 0.5})) == Tokens{0, 1, 2, 3});
  // 2^44 tickets, then 1 each: 1 − 1/(2^44 + 2) is more than the first has of all.
  const Row tail{0.0F, -40.0F, -50.0F};
  const double first = 0x1p44 / (0x1p44 + 2.0);
  CHECK(left_of(changed(tail, {.top_p = first})) == Tokens{0});
  CHECK(left_of(changed(tail, {.top_p = std::nextafter(first, 1.0)})) == Tokens{0, 1});
  CHECK(left_of(changed(tail, {.top_p = std::nextafter(1.0, 0.0)})) == Tokens{0, 1, 2});
  CHECK(left_of(changed(tail, {.top_p = 5e-324})) == Tokens{0});
  // The nucleus is that of what the other cuts leave: 1 / (1 + e^-1) = 0.731 of the first two.
  const Row three{0.0F, -1.0F, -1.5F};
  CHECK(left_of(changed(three, {.top_p = 0.7})) == Tokens{0, 1});
  CHECK(left_of(changed(three, {.top_k = 2, .top_p = 0.7})) == Tokens{0});
  // And at the power that the row is drawn at.
  CHECK(left_of(changed(three, {.top_p = 0.7}, 2.0)) == Tokens{0});
}

TEST_CASE("the share of tickets is the least whole number that reaches it") {
  law("T - 1 < p W <= T", [] {
    const auto total = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 63);
    const double p = *rc::gen::oneOf(
        rc::gen::element(1.0, 0.5, 0.1, 0x1p-63, 0x1p-64, 1e-30, 5e-324),
        rc::gen::map(rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 53),
                     [](std::uint64_t m) { return static_cast<double>(m) * 0x1p-53; }));
    const auto [m, k] = fraction_of(p);
    const naive::Integer needed = share_of_tickets(p, total);
    RC_ASSERT((needed << k) >= m * total);
    RC_ASSERT(((needed - 1) << k) < m * total);
  });
}

TEST_CASE("penalties change the logits of tokens that are there, once for each and rounded once") {
  const Row row{2.0F, -1.0F, 0.5F, 3.0F, -infinity, 1.0F};
  const auto with = [&](const TokenOptions& options) {
    return changed(row, options, 1.0, {1, 2, 2, 4}, {0, 1, 0});
  };
  CHECK(with({.repetition_penalty = 2.0}) == Row{1.0F, -2.0F, 0.25F, 3.0F, -infinity, 1.0F});
  CHECK(with({.frequency_penalty = 0.5}) == Row{2.0F, -1.5F, -0.5F, 3.0F, -infinity, 1.0F});
  CHECK(with({.presence_penalty = -0.25}) == Row{2.0F, -0.75F, 0.75F, 3.0F, -infinity, 1.0F});
  CHECK(with({.repetition_penalty = 2.0, .frequency_penalty = 0.5, .presence_penalty = 1.0}) ==
        Row{1.0F, -3.5F, -1.75F, 3.0F, -infinity, 1.0F});
  // 0.1 is not a float: the division and both products are in doubles.
  const double third = static_cast<double>(0.5F) / 1.1 - (0.1 * 2.0 + 0.3);
  CHECK(with({.repetition_penalty = 1.1, .frequency_penalty = 0.1, .presence_penalty = 0.3})[2] ==
        static_cast<float>(third));
  // A penalty that leaves float32 neither forbids a token nor makes a logit infinite.
  const float most = std::numeric_limits<float>::max();
  CHECK(with({.repetition_penalty = 1e-300}) == Row{most, -0.0F, most, 3.0F, -infinity, 1.0F});
  // Cuts look at what penalties leave.
  CHECK(left_of(with({.presence_penalty = 2.0, .top_k = 3})) == std::set<std::size_t>{0, 3, 5});
}

TEST_CASE("terminal tokens wait for min_tokens, and go with ignore_eos, if others are there") {
  const Row row{1.0F, 0.0F, 2.0F, 3.0F};
  using Tokens = std::set<std::size_t>;
  const auto left = [&](const TokenOptions& options, std::size_t drawn, const Row& of) {
    return left_of(changed(of, options, 1.0, std::vector<std::uint32_t>(drawn, 0), {}, {2, 3, 9}));
  };
  CHECK(left({.min_tokens = 2}, 0, row) == Tokens{0, 1});
  CHECK(left({.min_tokens = 2}, 1, row) == Tokens{0, 1});
  CHECK(left({.min_tokens = 2}, 2, row) == Tokens{0, 1, 2, 3});
  CHECK(left({.ignore_eos = true}, 50, row) == Tokens{0, 1});
  CHECK(left({.ignore_eos = true, .top_k = 1}, 0, row) == Tokens{0});
  CHECK(left({.ignore_eos = true}, 0, {-infinity, -infinity, 2.0F, 3.0F}) == Tokens{2, 3});
  CHECK(change_rows({.min_tokens = 2}, 1));
  CHECK_FALSE(change_rows({.min_tokens = 2}, 2));
  CHECK(change_rows({.ignore_eos = true}, 2));
  CHECK_FALSE(change_rows({}, 0));
  for (const TokenOptions& options :
       {TokenOptions{.repetition_penalty = 1.5}, TokenOptions{.frequency_penalty = -1.0},
        TokenOptions{.presence_penalty = 1.0}, TokenOptions{.top_k = 1}, TokenOptions{.min_p = 0.1},
        TokenOptions{.top_p = 0.9}})
    CHECK(change_rows(options, 100));
}

TEST_CASE("rows are drawn by their rules beside others, in every form, and scored as the model's") {
  constexpr std::size_t vocabulary = 4700, count = 12;
  Row logits;
  const std::vector<double> powers{1.0}, sharp{2.5};
  const std::vector<std::uint32_t> terminal{3}, prompt{5, 6};
  std::vector<RowDraw> draws;
  for (std::uint32_t row = 0; row < count; ++row) {
    for (std::size_t v = 0; v < vocabulary; ++v)
      logits.push_back(
          static_cast<float>(naive::philox({std::uint32_t(v), 0, 0, 0}, row)[0] % 256U) / 32.0F);
    draws.push_back(
        {row % 2 == 0 ? powers : sharp, 0, {row, {row, 0, 0, 0, row, Purpose::extension_token}}});
    if (row % 3 == 0) continue;
    TokenOptions options{.repetition_penalty = 1.5, .min_tokens = 4, .top_k = 40, .top_p = 0.8};
    if (row % 3 == 2) options = {.top_p = 0.001};
    draws.back().rules = RowRules{options, terminal, prompt, {7, 8}};
  }
  DeviceMemory<float> memory{std::span<const float>(logits)};
  PhiloxLottery lottery;
  const auto forms = [] {
    std::vector<std::unique_ptr<RowLottery>> all;
    all.push_back(make_host_row_lottery());
    all.push_back(make_device_row_lottery());
    all.push_back(make_thrust_row_lottery());
    all.push_back(make_cuda_row_lottery());
    return all;
  }();
  const auto expected = draw_by_rules(*forms.front(), memory, vocabulary, draws, lottery);
  REQUIRE(expected.size() == count);
  for (std::size_t row = 0; row < count; ++row) {
    CAPTURE(row);
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * vocabulary);
    const Row own(begin, begin + vocabulary);
    Row drawn_from = own;
    const double power = draws[row].powers[0];
    if (draws[row].rules) change_row(drawn_from, *draws[row].rules, power);
    CHECK((left_of(drawn_from).size() < 100) == draws[row].rules.has_value());
    const auto& at = draws[row].draw.address;
    const naive::Address address{draws[row].draw.seed,
                                 at.prompt_index,
                                 at.sample_index,
                                 at.turn,
                                 at.position,
                                 static_cast<std::uint64_t>(at.purpose),
                                 at.rung};
    CHECK(expected[row].id ==
          naive::winner(naive::tickets_of(drawn_from, power), naive::word_at(address)));
    const naive::Token token = naive::scored(own, {power}, expected[row].id);
    CHECK(to_bits(expected[row].log_p) == to_bits(token.log_p));
    CHECK(expected[row].log_z == token.log_z);
  }
  for (const auto& form : forms) {
    CAPTURE(form->form());
    CHECK(draw_by_rules(*form, memory, vocabulary, draws, lottery) == expected);
    // The logits are the model's again.
    CHECK(memory.download(0, logits.size()) == logits);
    for (std::size_t row = 0; row < count; ++row) {
      DeviceMemory<float> one{std::span<const float>(logits).subspan(row * vocabulary, vocabulary)};
      CHECK(draw_by_rules(*form, one, vocabulary, std::span(draws).subspan(row, 1), lottery)
                .front() == expected[row]);
    }
  }
}

TEST_CASE("a row that cannot be drawn from is refused as ever, whatever its rules") {
  const std::vector<double> powers{1.0};
  const auto rows = make_device_row_lottery();
  PhiloxLottery lottery;
  for (const float wrong : {std::nanf(""), infinity, -infinity}) {
    DeviceMemory<float> memory{std::span<const float>(Row{wrong, -infinity})};
    RowDraw draw{powers, 0, {}};
    draw.rules = RowRules{{.ignore_eos = true, .top_k = 1, .min_p = 0.5, .top_p = 0.5}, {}, {}, {}};
    CHECK_THROWS_AS(draw_by_rules(*rows, memory, 2, std::span(&draw, 1), lottery), ModelError);
  }
}

}  // namespace tempera::gpu::row_rules_test
