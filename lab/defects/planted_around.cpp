// Defects of what is around the moves: texts, models, blocks, and samplers that weigh.
#include <algorithm>

#include "lab/defects/kernel_gallery.hpp"
#include "lab/defects/small_kernels.hpp"
#include "reference/kernels/token_proposal.hpp"

namespace tempera::lab {
namespace {

using reference::FiniteModel;
using reference::Power;
using reference::Token;
using reference::TokenRow;

/// The tokens of a record's text, each time the longest that fits.
Tokens tokenised_again(const JudgedCase& judged, const Tokens& record) {
  const auto& names = judged.model().vocabulary();
  std::string text;
  for (const Token token : record) text += names[token];
  Tokens tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t longest = names.size();
    for (std::size_t v = 0; v < names.size(); ++v)
      if (text.compare(at, names[v].size(), names[v]) == 0 &&
          (longest == names.size() || names[v].size() > names[longest].size()))
        longest = v;
    tokens.push_back(static_cast<Token>(longest));
    at += names[longest].size();
  }
  return tokens;
}

JudgedCase case_of_texts() {
  const auto q = [](int a, int b) { return Rational(a) / Rational(b); };
  return {
      FiniteModel(
          {"texts", {{"x", "xx", "."}, "gallery"}, {2}, {}, TokenRow{q(1, 2), q(1, 4), q(1, 4)}},
          "gallery"),
      2,
      {{Power(2)}, {}}};
}

/// A row as another form of the same pass computes it.
using OtherRow = std::function<TokenRow(const TokenRow&, std::size_t t, std::size_t length)>;

/// Π z of a record's rows as that form has them.
Rational weight_under(const JudgedCase& judged, const Tokens& record, std::size_t kept,
                      const Power& power, const OtherRow& other) {
  Rational weight = 1;
  for (std::size_t t = kept; t < record.size(); ++t)
    weight *= reference::token_normalizer(
        other(row_after(judged, std::span(record).first(t)), t, record.size()), power);
  return weight;
}

TokenRow in_proportion(TokenRow row) {
  Rational total = 0;
  for (const Rational& share : row) total += share;
  for (Rational& share : row) share /= total;
  return row;
}

/// Whole sixteenths, one at least for each token that the row has.
TokenRow rounded(const TokenRow& row, std::size_t, std::size_t) {
  TokenRow sixteenths;
  for (const Rational& p : row) {
    const Rational scaled = 16 * p + Rational(1) / 2;
    const reference::Integer whole = numerator(scaled) / denominator(scaled);
    sixteenths.emplace_back(p == 0 ? 0 : std::max<reference::Integer>(1, whole));
  }
  return in_proportion(sixteenths);
}

/// The first token the likelier, the longer the sequence that the factors are made for.
TokenRow stretched(const TokenRow& row, std::size_t t, std::size_t length) {
  TokenRow longer = row;
  longer[0] *= length - t;
  return in_proportion(longer);
}

/// Two particles of PowerSMC, resampled after every token. The row holds, for every record, the
/// expectation of Ẑ if it is picked at the end: p0^α up to proportion, whatever the number of
/// particles, if each resampling passes its mean weight on to Ẑ and begins at weight 1 again.
JudgedKernel two_particles(bool resets_weights) {
  return [resets_weights](const JudgedCase& judged, const JudgedState&) {
    const Power& power = judged.target().powers.front();
    const auto is_open = [&](const Tokens& record) {
      return record.size() < judged.horizon() && !has_ended(judged, record);
    };
    KernelRow row;
    Tokens picked;
    Rational normalizer;
    enumerate_exactly(
        [&](KernelLottery& lottery) {
          std::vector<Tokens> particles(2);
          std::vector<Rational> weights(2, Rational(1));
          normalizer = 1;
          for (std::size_t t = 0; t < judged.horizon(); ++t) {
            for (std::size_t i = 0; i < 2; ++i) {
              if (!is_open(particles[i])) continue;
              const TokenRow& base = row_after(judged, particles[i]);
              particles[i].push_back(
                  static_cast<Token>(lottery.draw(reference::token_proposal(base, power))));
              weights[i] *= reference::token_normalizer(base, power);
            }
            normalizer *= (weights[0] + weights[1]) / 2;
            const std::vector<Tokens> before = particles;
            const std::vector<Rational> carried = weights;
            for (std::size_t i = 0; i < 2; ++i) {
              const std::size_t ancestor = lottery.draw(carried);
              particles[i] = before[ancestor];
              weights[i] = resets_weights ? Rational(1) : carried[ancestor];
            }
          }
          picked = particles[lottery.draw(weights)];
        },
        [&](const Rational& probability) { row[{picked}] += probability * normalizer; });
    Rational total = 0;
    for (const auto& [state, mass] : row) total += mass;
    for (auto& [state, mass] : row) mass /= total;
    return row;
  };
}

/// The steps of the sound move that went somewhere.
KernelRow accepted_only(const JudgedCase& judged, const JudgedState& from) {
  static const JudgedKernel sound = kernel_of(SmallMove());
  KernelRow row = sound(judged, from);
  const Rational stays = row[from];
  if (stays == 1) return row;
  row.erase(from);
  for (auto& [state, probability] : row) probability /= 1 - stays;
  return row;
}

std::vector<PlantedDefect> of_texts() {
  const SmallMove local;
  const auto step = [local](const JudgedCase& judged, const JudgedState& from,
                            KernelLottery& lottery) {
    return JudgedState{tokenised_again(
        judged, local(judged, from.front(), judged.target().powers.front(), lottery))};
  };
  return {
      {"decode and re-tokenise",
       "the record is carried as text, and comes back as the tokens that the tokenizer prefers",
       enumerated(step), case_of_texts()},
      planted("terminal token searched in the prompt",
              "the end of the record is the first terminal token of prompt and record: the "
              "prompt's own turn marker",
              [](SmallMove& move) {
                move.is_open = [](const JudgedCase&, const Tokens&) { return false; };
              }),
      planted("stop string inside the chain",
              "a proposal is cut where a stop string appears, before the horizon",
              [](SmallMove& move) {
                move.is_open = [](const JudgedCase& judged, const Tokens& record) {
                  return record.size() < judged.horizon() && !has_ended(judged, record) &&
                         (record.empty() || record.back() != 0);
                };
              }),
      planted("extension of the last stage forgotten",
              "the last stage continues at the horizon of the one before it",
              [](SmallMove& move) {
                move.is_open = [](const JudgedCase& judged, const Tokens& record) {
                  return record.size() + 1 < judged.horizon() && !has_ended(judged, record);
                };
              }),
  };
}

}  // namespace

std::vector<PlantedDefect> planted_around() {
  std::vector<PlantedDefect> defects = of_texts();
  defects.push_back(planted(
      "prefill that differs from decode",
      "the current record is scored by a prefill in lower precision, the proposal by the decode "
      "that made it",
      [](SmallMove& move) {
        move.ratio = [](const JudgedCase& judged, const Tokens& x, const Tokens& y,
                        std::size_t kept, const Power& power) {
          return Rational(weight_of(judged, y, kept, power) /
                          weight_under(judged, x, kept, power, rounded));
        };
      }));
  defects.push_back(planted(
      "length-dependent rotary factors",
      "records are scored with factors for their final length, and drawn with those for the length "
      "at the time",
      [](SmallMove& move) {
        move.ratio = [](const JudgedCase& judged, const Tokens& x, const Tokens& y,
                        std::size_t kept, const Power& power) {
          return Rational(weight_under(judged, y, kept, power, stretched) /
                          weight_under(judged, x, kept, power, stretched));
        };
      }));
  defects.push_back({"rejected moves not counted",
                     "the chain is written down only when it has moved", accepted_only,
                     small_case()});
  defects.push_back({"resampling without resetting weights",
                     "a resampled particle keeps the weight by which it was chosen",
                     two_particles(false), small_case({2})});
  return defects;
}

JudgedKernel sound_particles() { return two_particles(true); }

}  // namespace tempera::lab
