// Algorithm 1, the truncating sampler and their statistics a second time: plain loops, one draw
// after the other, written from the paper and from what the headers promise of words, tickets and
// scores, with integers of any length. Of production it takes exponential and logarithm alone,
// which are held against 50 digits elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gpu/core/lottery/exponential.hpp"
#include "gpu/core/sampler/event.hpp"
#include "gpu/core/sampler/stages.hpp"

namespace tempera::naive {

using Integer = boost::multiprecision::cpp_int;
using Real = boost::multiprecision::cpp_bin_float_50;
using TokenId = std::uint32_t;
using Limbs = std::array<std::uint32_t, 4>;
using Row = std::function<std::vector<float>(std::span<const TokenId>)>;

/// Philox4x32-10 of Salmon, Moraes, Dror and Shaw (2011), after their figure.
inline Limbs philox(Limbs counter, std::uint64_t key) {
  for (std::uint32_t round = 0; round < 10; ++round) {
    const std::uint32_t key_0 = std::uint32_t(key) + round * 0x9E3779B9U;
    const std::uint32_t key_1 = std::uint32_t(key >> 32) + round * 0xBB67AE85U;
    const std::uint64_t left = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t right = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {std::uint32_t(right >> 32) ^ counter[1] ^ key_0, std::uint32_t(right),
               std::uint32_t(left >> 32) ^ counter[3] ^ key_1, std::uint32_t(left)};
  }
  return counter;
}

/// Where a draw is: prompt, sample, turn, position, purpose and rung fill 32, 20, 24, 20, 16
/// and 16 bits of the counter, the lowest first.
struct Address {
  std::uint64_t seed;
  std::uint64_t prompt, sample, turn, position, purpose, rung;
};
enum Purpose : std::uint64_t { extension = 1, restart, proposal, accept, exchange };

inline Integer word_at(const Address& address) {
  Integer counter = Integer(address.prompt) + (Integer(address.sample) << 32) +
                    (Integer(address.turn) << 52) + (Integer(address.position) << 76) +
                    (Integer(address.purpose) << 96) + (Integer(address.rung) << 112);
  Limbs limbs{};
  for (std::uint32_t& limb : limbs) {
    limb = Integer(counter & 0xFFFFFFFFU).convert_to<std::uint32_t>();
    counter >>= 32;
  }
  const Limbs drawn = philox(limbs, address.seed);
  Integer word = 0;
  for (std::size_t i = 4; i-- > 0;) word = (word << 32) + drawn[i];
  return word;
}

/// The first index whose prefix sum exceeds floor(word · total / 2^128).
inline std::size_t winner(const std::vector<std::uint64_t>& tickets, const Integer& word) {
  Integer total = 0;
  for (const std::uint64_t own : tickets) total += own;
  const Integer threshold = (word * total) >> 128;
  Integer prefix_sum = 0;
  std::size_t i = 0;
  while ((prefix_sum += tickets[i]) <= threshold) ++i;
  return i;
}

/// round(2^bits · exp(distance)).
inline std::uint64_t rounded(int bits, double distance) {
  return static_cast<std::uint64_t>(std::nearbyint(std::ldexp(gpu::exponential(distance), bits)));
}

inline std::vector<std::uint64_t> tickets_of(const std::vector<float>& row, double power) {
  const double largest = *std::max_element(row.begin(), row.end());
  std::vector<std::uint64_t> tickets;
  for (const float logit : row)
    tickets.push_back(std::isinf(logit) ? 0
                                        : std::max<std::uint64_t>(
                                              1, rounded(44, power * (double{logit} - largest))));
  return tickets;
}

/// A token, log p0 of it, and ζ at every rung.
struct Token {
  TokenId id;
  double log_p;
  std::vector<double> log_z;
  Real negative_entropy;  ///< Σ p log p of the row that it was drawn from
};

/// Σ p log p of the softmax of a row.
inline Real negative_entropy(const std::vector<float>& row) {
  Real z = 0, sum = 0;
  for (const float logit : row)
    if (!std::isinf(logit)) z += exp(Real(logit));
  for (const float logit : row)
    if (!std::isinf(logit)) sum += exp(Real(logit)) / z * log(exp(Real(logit)) / z);
  return sum;
}

inline Token scored(const std::vector<float>& row, const std::vector<double>& powers, TokenId id,
                    bool confidence = false) {
  const double largest = *std::max_element(row.begin(), row.end());
  Integer grains = 0;
  for (const float logit : row)
    if (!std::isinf(logit)) grains += rounded(63, double{logit} - largest);
  // The sum to double by its two halves: each is rounded once, and their sum once.
  const auto low = Integer(grains & 0xFFFFFFFFFFFFFFFFU).convert_to<std::uint64_t>();
  const auto high = Integer(grains >> 64).convert_to<std::uint64_t>();
  const double z_1 = 2.0 * static_cast<double>(high) + std::ldexp(static_cast<double>(low), -63);
  Token token{id,
              double{row[id]} - largest - gpu::logarithm(z_1),
              {},
              confidence ? negative_entropy(row) : Real(0)};
  for (const double power : powers) {
    const auto tickets = tickets_of(row, power);
    std::uint64_t total = 0;
    for (const std::uint64_t own : tickets) total += own;
    const double log_g = gpu::logarithm(static_cast<double>(tickets[id])) -
                         gpu::logarithm(static_cast<double>(total));
    token.log_z.push_back(power * token.log_p - log_g);
  }
  return token;
}

using Record = std::vector<Token>;

inline double log_p0(const Record& record) {
  double sum = 0.0;
  for (const Token& token : record) sum += token.log_p;
  return sum;
}

inline std::vector<TokenId> ids_of(const Record& record) {
  std::vector<TokenId> ids;
  for (const Token& token : record) ids.push_back(token.id);
  return ids;
}

/// What is asked of one run; one entry of each list per stage.
struct Question {
  Row row;
  std::vector<TokenId> prompt;
  std::vector<TokenId> terminal;
  std::vector<double> powers;
  std::vector<std::size_t> horizons, rounds, moves, sweeps;
  /// How likely restart positions are in equal parts of the horizon; none: all alike.
  std::vector<std::uint64_t> restart_weights;
  bool deo = false;
  bool truncating = false;
  bool early = false;
  bool confidence = false;
  std::uint64_t pilot = 0;
  std::uint64_t seed = 0;
  std::uint64_t prompt_number = 0;
  std::uint64_t sample = 0;
};

/// What became of it: after each block extension and each round its events and the records' log p0.
struct Moment {
  std::vector<gpu::Event> events;
  std::vector<double> log_p0;
  std::vector<std::size_t> lengths;
  std::vector<Real> confidences;
  std::size_t stage = 0;
  std::size_t round = 0;  ///< rounds done in it; 0: the extension
};

class Chain {
 public:
  explicit Chain(Question question) : asked(std::move(question)) {
    if (asked.truncating)
      run_truncating();
    else
      run_tempering();
  }

  const Question asked;
  std::vector<Record> replicas;
  std::vector<Moment> moments;

  bool ended(const Record& record) const {
    return !record.empty() &&
           std::count(asked.terminal.begin(), asked.terminal.end(), record.back().id) > 0;
  }

 private:
  void run_tempering() {
    replicas.resize(asked.powers.size());
    std::size_t moves_before = 0, sweep = 0;
    for (std::size_t m = 0; m < asked.horizons.size(); ++m) {
      extend(m);
      for (std::size_t n = 0; n < asked.rounds[m]; ++n) {
        for (std::size_t a = 0; a < asked.moves[m]; ++a)
          for (std::size_t k = 0; k < replicas.size(); ++k) move(k, moves_before + a, m);
        moves_before += asked.moves[m];
        for (std::size_t b = 0; b < asked.sweeps[m]; ++b, ++sweep)
          for (std::size_t k = 0; k + 1 < replicas.size(); ++k)
            if (!asked.deo || k % 2 == sweep % 2) attempt(k, sweep);
        tell(m, n + 1);
      }
    }
  }

  void run_truncating() {
    replicas.resize(1);
    std::size_t turn = 0;
    for (std::size_t m = 0; m < asked.horizons.size(); ++m) {
      extend(m);
      for (std::size_t n = 0; n < asked.rounds[m]; ++n) {
        for (std::size_t a = 0; a < asked.moves[m]; ++a) truncating_move(turn++);
        tell(m, n + 1);
      }
      if (ended(replicas[0])) return;
    }
  }

  Address at(std::size_t rung, std::size_t turn, std::size_t position, Purpose purpose) const {
    // The pilot's number is the second byte of the field of 16 bits that holds the purpose.
    return {asked.seed, asked.prompt_number,         asked.sample, turn,
            position,   purpose + 256 * asked.pilot, rung};
  }
  std::size_t draw(const std::vector<std::uint64_t>& tickets, const Address& address) const {
    return winner(tickets, word_at(address));
  }
  bool decide(double log_ratio, const Address& address) const {
    const double probability = log_ratio >= 0.0 ? 1.0 : gpu::exponential(log_ratio);
    const auto yes = static_cast<std::uint64_t>(std::floor(std::ldexp(probability, 62)));
    return draw({yes, (std::uint64_t{1} << 62) - yes}, address) == 0;
  }
  /// Tokens until the record ends or has `length`; returns how many.
  std::size_t continue_to(Record& record, std::size_t length, std::size_t rung, std::size_t turn,
                          Purpose purpose) const {
    std::size_t drawn = 0;
    for (; record.size() < length && !ended(record); ++drawn) {
      std::vector<TokenId> history = asked.prompt;
      for (const Token& token : record) history.push_back(token.id);
      const std::vector<float> row = asked.row(history);
      const std::size_t id =
          draw(tickets_of(row, asked.powers[rung]), at(rung, turn, record.size(), purpose));
      record.push_back(scored(row, asked.powers, static_cast<TokenId>(id), asked.confidence));
    }
    return drawn;
  }
  static double scores(const Record& record, std::size_t from, std::size_t to, std::size_t rung) {
    double sum = 0.0;
    for (std::size_t t = from; t <= to && t <= record.size(); ++t) sum += record[t - 1].log_z[rung];
    return sum;
  }

  void extend(std::size_t m) {
    for (std::size_t k = 0; k < replicas.size(); ++k) {
      gpu::Event event{.kind = gpu::Event::Kind::extension, .rung = k, .turn = std::uint32_t(m)};
      event.tokens = continue_to(replicas[k], asked.horizons[m], k, m, extension);
      events_.push_back(event);
    }
    tell(m, 0);
  }

  /// Position r of T is in the last part j of J that begins, at j T/J, before it ends.
  std::vector<std::uint64_t> restart_tickets(std::size_t m) const {
    const std::size_t horizon = asked.horizons[m], parts = asked.restart_weights.size();
    std::vector<std::uint64_t> tickets(horizon, 1);
    for (std::size_t r = 1; r <= horizon; ++r)
      for (std::size_t j = 0; j < parts && j * horizon <= parts * (r - 1); ++j)
        tickets[r - 1] = asked.restart_weights[j];
    return tickets;
  }

  void move(std::size_t k, std::size_t turn, std::size_t m) {
    Record& x = replicas[k];
    gpu::Event event{.rung = k, .turn = std::uint32_t(turn)};
    const std::size_t r = event.restart = 1 + draw(restart_tickets(m), at(k, turn, 0, restart));
    if (!(ended(x) && r > x.size())) {
      Record y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(r - 1));
      event.tokens = continue_to(y, asked.horizons[m], k, turn, proposal);
      event.proposed = true;
      event.log_ratio = scores(y, r, y.size(), k) - scores(x, r, x.size(), k);
      event.accepted = decide(event.log_ratio, at(k, turn, 0, accept));
      event.changed =
          event.accepted && !std::equal(x.begin(), x.end(), y.begin(), y.end(),
                                        [](const auto& a, const auto& b) { return a.id == b.id; });
      event.horizon = asked.horizons[m];
      if (asked.early && asked.powers[k] >= 1.0) give_up_early(event, x, y);
      if (event.accepted) x = y;
    }
    events_.push_back(event);
  }

  /// The proposal y is complete; the first of its prefixes whose rejection was certain.
  void give_up_early(gpu::Event& event, const Record& x, const Record& y) const {
    const std::size_t r = event.restart;
    const double power = asked.powers[event.rung];
    const Real most = log(Real(1.5)) + ldexp(Real(1), -25) + power * ldexp(Real(1), -45);
    Real x_sum = 0, y_sum = 0;
    for (std::size_t t = r; t <= x.size(); ++t) x_sum += x[t - 1].log_z[event.rung];
    for (std::size_t length = r - 1; length < y.size(); ++length) {
      if (length >= r) y_sum += y[length - 1].log_z[event.rung];
      const auto left = static_cast<double>(event.horizon - length);
      const Real bound = y_sum - x_sum + left * most;
      const double as_double = bound.convert_to<double>();
      if (decide(as_double, at(event.rung, event.turn, 0, accept))) continue;
      event.early = true;
      event.tokens = length + 1 - r;
      event.log_ratio = as_double;
      return;
    }
  }

  void attempt(std::size_t k, std::size_t sweep) {
    gpu::Event event{
        .kind = gpu::Event::Kind::swap, .rung = k, .turn = std::uint32_t(sweep), .proposed = true};
    event.log_ratio = (asked.powers[k + 1] - asked.powers[k]) *
                      (naive::log_p0(replicas[k]) - naive::log_p0(replicas[k + 1]));
    event.accepted = decide(event.log_ratio, at(k, sweep, 0, exchange));
    if (event.accepted) std::swap(replicas[k], replicas[k + 1]);
    events_.push_back(event);
  }

  void truncating_move(std::size_t turn) {
    Record& x = replicas[0];
    gpu::Event event{.turn = std::uint32_t(turn), .proposed = true};
    const std::vector<std::uint64_t> uniform(x.size(), 1);
    const std::size_t r = event.restart = 1 + draw(uniform, at(0, turn, 0, restart));
    Record y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(r - 1));
    event.tokens = continue_to(y, x.size(), 0, turn, proposal);
    event.log_ratio = scores(y, r, y.size(), 0) - scores(x, r, y.size(), 0);
    event.accepted = decide(event.log_ratio, at(0, turn, 0, accept));
    if (event.accepted) x = y;
    events_.push_back(event);
  }

  void tell(std::size_t m, std::size_t round) {
    Moment moment{std::move(events_), {}, {}, {}, m, round};
    for (const Record& record : replicas) {
      moment.log_p0.push_back(naive::log_p0(record));
      moment.lengths.push_back(record.size());
      Real sum = 0;
      for (const Token& token : record) sum += token.negative_entropy;
      moment.confidences.push_back(record.empty() ? Real(0) : Real(sum / record.size()));
    }
    moments.push_back(std::move(moment));
    events_.clear();
  }

  std::vector<gpu::Event> events_;
};

/// What the runs of one ladder did, all together.
struct Totals {
  explicit Totals(std::vector<double> ladder)
      : powers(std::move(ladder)),
        moves(powers.size()),
        proposed(powers.size()),
        accepted(powers.size()),
        tokens(powers.size()),
        proposal_tokens(powers.size()),
        kept_tokens(powers.size()),
        early(powers.size()),
        unspent(powers.size()),
        deciles(powers.size()),
        attempts(powers.size() - 1),
        exchanged(powers.size() - 1),
        terms(powers.size() - 1),
        mean(powers.size() - 1),
        log_p0(powers.size()),
        confidence(powers.size()) {}

  void add(const Chain& run) {
    // The rungs that each replica holds in turn, B for the first and T for the last.
    std::vector<std::size_t> replica_at(powers.size());
    std::vector<std::string> visits(powers.size());
    for (std::size_t k = 0; k < powers.size(); ++k) replica_at[k] = k;
    const auto visit = [&] {
      visits[replica_at.front()] += 'B';
      visits[replica_at.back()] += 'T';
    };
    if (powers.size() > 1) visit();
    for (const Moment& moment : run.moments) {
      for (const gpu::Event& event : moment.events) {
        decode_tokens += event.tokens;
        if (event.kind == gpu::Event::Kind::swap) {
          ++attempts[event.rung];
          if (!event.accepted) continue;
          ++exchanged[event.rung];
          std::swap(replica_at[event.rung], replica_at[event.rung + 1]);
          visit();
          continue;
        }
        tokens[event.rung] += event.tokens;
        if (event.kind == gpu::Event::Kind::extension) continue;
        ++moves[event.rung];
        proposed[event.rung] += event.proposed ? 1 : 0;
        accepted[event.rung] += event.accepted ? 1 : 0;
        proposal_tokens[event.rung] += event.tokens;
        kept_tokens[event.rung] += event.accepted ? event.tokens : 0;
        early[event.rung] += event.early ? 1 : 0;
        const std::size_t horizon = run.asked.horizons[moment.stage];
        if (event.early) unspent[event.rung] += horizon + 1 - event.restart - event.tokens;
        if (event.proposed) {
          // The tenth of 1..T that r is in: the first d with r <= ceil((d + 1) T / 10).
          std::size_t d = 0;
          while (10 * (event.restart - 1) >= (d + 1) * horizon) ++d;
          ++deciles[event.rung][d].first;
          deciles[event.rung][d].second += event.accepted ? 1 : 0;
        }
      }
      if (moment.stage + 1 != run.asked.horizons.size() || moment.round == 0) continue;
      ++records;
      for (std::size_t k = 0; k < powers.size(); ++k) {
        log_p0[k] += moment.log_p0[k];
        confidence[k] += moment.confidences[k];
        if (k + 1 == powers.size()) continue;
        ++terms[k];
        mean[k] += exp(Real((powers[k + 1] - powers[k]) * moment.log_p0[k]));
      }
    }
    for (const std::string& visited : visits) {
      // B … T … B is one trip, and its last B begins the next.
      const auto bottom = visited.find('B');
      if (bottom == std::string::npos) continue;
      for (std::size_t top = visited.find('T', bottom); top != std::string::npos;) {
        const auto back = visited.find('B', top);
        if (back == std::string::npos) break;
        ++round_trips;
        top = visited.find('T', back);
      }
    }
  }
  /// log of the mean of exp((α_{k+1} − α_k) log p0(x^(k))).
  double log_z_ratio(std::size_t k) const {
    return log(Real(mean[k] / terms[k])).convert_to<double>();
  }

  std::vector<double> powers;
  std::vector<std::uint64_t> moves, proposed, accepted, tokens;  ///< per rung
  std::vector<std::uint64_t> proposal_tokens, kept_tokens, early, unspent;
  std::vector<std::array<std::pair<std::uint64_t, std::uint64_t>, 10>> deciles;
  std::vector<std::uint64_t> attempts, exchanged, terms;  ///< per edge
  std::vector<Real> mean;                                 ///< sum of the terms
  std::vector<Real> log_p0, confidence;  ///< per rung, sums over the last stage's rounds
  std::uint64_t records = 0;             ///< and how many these are
  std::uint64_t round_trips = 0;
  std::uint64_t decode_tokens = 0;
};

/// The number of an id: FNV-1a, 64 bits, mixed by Philox under the key 0.
inline std::pair<std::uint32_t, std::uint32_t> number_of(const std::string& id) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  const Limbs word = philox({std::uint32_t(hash), std::uint32_t(hash >> 32), 0, 0}, 0);
  return {word[0], word[1]};
}

/// The seed of a prompt with this number: the run's, with the second half of the number in its
/// upper half.
inline std::uint64_t seed_of(std::uint64_t seed, std::pair<std::uint32_t, std::uint32_t> number) {
  return seed ^ (std::uint64_t{number.second} << 32);
}

}  // namespace tempera::naive
