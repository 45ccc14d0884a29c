// The seven rows of a comparison against the replay of their runs: every count of every row, where
// no two counts of the settings are alike.
#include <set>

#include "gpu/core/model/table_model.hpp"
#include "runs/ladders/sampler_comparison.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/session/naive_run.hpp"
#include "tests/temporary_file.hpp"

namespace tempera::gpu::replayed_comparison_test {
namespace {

const std::string characters = "$12%=3";
const std::vector<TokenId> terminal{0, 3};
constexpr std::uint64_t seed = 0xC0FFEE0000000011U;

/// Each token is one character.
class CharacterText final : public TokenText {
 public:
  std::vector<TokenId> encode(std::string_view text, const std::string&) const override {
    std::vector<TokenId> tokens;
    for (const char c : text) tokens.push_back(static_cast<TokenId>(characters.find(c)));
    return tokens;
  }
  std::string decode(std::span<const TokenId> tokens) const override {
    std::string text;
    for (const TokenId token : tokens) text += characters[token];
    return text;
  }
};

std::vector<float> row_after(std::span<const TokenId> prefix) {
  naive::Limbs state{static_cast<std::uint32_t>(prefix.size()), 0, 0, 0};
  for (const TokenId token : prefix) {
    state[3] = token;
    state = naive::philox(state, 77);
  }
  std::vector<float> row;
  for (std::size_t v = 0; v < characters.size(); ++v) {
    state[3] = static_cast<std::uint32_t>(v);
    row.push_back(static_cast<float>(naive::philox(state, 77)[0] % 24U) / 8.0F);
  }
  return row;
}

struct NaiveRow {
  std::size_t solved = 0;
  std::size_t unfinished = 0;
  std::uint64_t decode_tokens = 0;
};

/// One row: a ladder, its rounds and sweeps; answers at the last rung.
NaiveRow row_of(const std::vector<Problem>& problems, std::vector<double> powers,
                std::size_t rounds, std::size_t moves, std::size_t sweeps, bool truncating) {
  NaiveRow row;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    naive::Question asked;
    asked.row = row_after;
    asked.prompt = CharacterText().encode(problems[p].prompt, "");
    asked.terminal = terminal;
    asked.powers = powers;
    asked.horizons = {3, 6, 7};
    asked.rounds = std::vector<std::size_t>(3, rounds);
    asked.moves = std::vector<std::size_t>(3, moves);
    asked.sweeps = std::vector<std::size_t>(3, sweeps);
    asked.truncating = truncating;
    asked.seed = seed;
    asked.prompt_number = p;
    const naive::Chain run(asked);
    for (const naive::Moment& moment : run.moments)
      for (const Event& event : moment.events) row.decode_tokens += event.tokens;
    const naive::Record& answer = run.replicas.back();
    if (!run.ended(answer)) {
      ++row.unfinished;
      continue;
    }
    std::string text;
    for (const naive::Token& token : answer) text += characters[token.id];
    text.pop_back();
    const std::string wanted = "=" + problems[p].answer;
    const bool is_last = text.rfind('=') + wanted.size() == text.size();
    if (text.ends_with(wanted) && is_last) ++row.solved;
  }
  return row;
}

OpenedModel character_model() {
  const test::TemporaryFile file("a model");
  return OpenedModel::open(file.path(), [](const std::string&) {
    OpenedModel::Parts parts;
    parts.model = std::make_unique<TableModel>(characters.size(), row_after);
    parts.terminal = terminal;
    parts.text = std::make_unique<CharacterText>();
    return parts;
  });
}

}  // namespace

TEST_CASE("an answer that has not ended is not right, wherever it was cut off") {
  const OpenedModel model = character_model();
  const auto solved = [&](const std::string& text, bool terminated) {
    return is_solved(model, model.encode(text, "test"), terminated, "1");
  };
  CHECK(solved("=1$", true));
  CHECK(solved("=1%", true));
  CHECK_FALSE(solved("=1", false));
  CHECK_FALSE(solved("=12", false));
  CHECK_FALSE(solved("2=1=", false));
}

TEST_CASE("each row of a comparison runs its own sampler, ladder, rounds, moves and sweeps") {
  const OpenedModel model = character_model();
  std::vector<Problem> problems;
  for (const char* prompt : {"1", "21", "3=", "12=", "2"})
    for (const char* answer : {"1", "2", "3", ""}) problems.push_back({prompt, answer});
  const std::vector<double> powers{0.8, 1.4, 2.2};
  ComparisonFile said;
  said.sampler.horizon = 7;
  said.sampler.block = 3;
  said.sampler.powers = powers;
  said.sampler.rounds = {4};
  said.sampler.local_moves = {2};
  said.sampler.sweeps = {3};
  said.sampler.seed = seed;
  said.truncating_rounds = 5;
  said.matched_rounds = 7;
  const ComparisonSettings settings{{}, problems, "problems", resolve_contestants(said)};

  const std::vector<double> base{1.0}, sharpest{2.2};
  const std::vector<NaiveRow> expected{
      row_of(problems, base, 0, 2, 0, false),     row_of(problems, sharpest, 0, 2, 0, false),
      row_of(problems, sharpest, 5, 2, 0, true),  row_of(problems, sharpest, 4, 2, 0, false),
      row_of(problems, sharpest, 7, 2, 0, false), row_of(problems, powers, 4, 2, 0, false),
      row_of(problems, powers, 4, 2, 3, false)};
  const auto rows = compare_samplers(model, settings);
  REQUIRE(rows.size() == expected.size());
  std::set<std::uint64_t> tokens;
  std::set<std::size_t> solved;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(rows[i].sampler);
    CHECK(rows[i].problems == problems.size());
    CHECK(rows[i].solved == expected[i].solved);
    CHECK(rows[i].unfinished == expected[i].unfinished);
    CHECK(rows[i].decode_tokens == expected[i].decode_tokens);
    tokens.insert(expected[i].decode_tokens);
    solved.insert(expected[i].solved);
  }
  // No row could stand for another.
  CHECK(tokens.size() == rows.size());
  CHECK(solved.size() > 1);
}

}  // namespace tempera::gpu::replayed_comparison_test
