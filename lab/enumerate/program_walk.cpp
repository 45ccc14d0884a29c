#include "lab/enumerate/program_walk.hpp"

#include <algorithm>
#include <compare>
#include <optional>

#include "base/error.hpp"
#include "gpu/core/sampler/progress.hpp"
#include "lab/enumerate/canonical_records.hpp"
#include "lab/enumerate/tree_lottery.hpp"

namespace tempera::lab {
namespace {

using Records = std::vector<std::vector<gpu::TokenId>>;

Records tokens_of(const std::vector<gpu::Record>& replicas) {
  Records records;
  for (const gpu::Record& record : replicas) records.push_back(record.token_ids());
  return records;
}

/// The state of a run between two rounds; no records before the first.
struct Rest : gpu::Position {
  Records records = {};

  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Rest&, const Rest&) = default;
  bool is_as_far_as(const Rest& other) const {
    return stage == other.stage && extended == other.extended && round == other.round;
  }
};

/// Follows the unfinished moves of a rung in the key of a state.
constexpr std::uint64_t no_turn = ~std::uint64_t{0};

/// Ends a run of the program if the walk has seen enough of it.
struct Stop {};

/// Where a run of the program goes on after a decision: to a draw, to a rest, or to its end.
struct Destination {
  enum class Kind { draw, rest, end } kind;
  std::size_t index;
};

/// A state of the program in which it draws.
struct State {
  std::vector<std::uint64_t> tickets;
  std::uint64_t total = 0;
  bool is_token = false;                                  ///< whether it draws a token
  std::size_t start = 0;                                  ///< of the path that first led here
  std::vector<std::size_t> winners;                       ///< and its decisions
  std::vector<std::pair<std::size_t, Destination>> ways;  ///< winner, and where it leads
};

bool is_token(const gpu::Draw& draw) {
  return draw.address.purpose == gpu::Purpose::extension_token ||
         draw.address.purpose == gpu::Purpose::proposal_token;
}

/// Numbers things in the order in which they are met.
template <class Thing>
class Numbered {
 public:
  /// The number, and whether it is new.
  std::pair<std::size_t, bool> number(const Thing& thing) {
    const auto [found, is_new] = numbers_.try_emplace(thing, numbers_.size());
    if (is_new) things_.push_back(&found->first);
    return {found->second, is_new};
  }
  const Thing& operator[](std::size_t number) const { return *things_[number]; }
  std::size_t size() const { return things_.size(); }

 private:
  std::map<Thing, std::size_t> numbers_;
  std::vector<const Thing*> things_;
};

/// One piece of the program, from some starts to its end or to the next cut: a graph without
/// cycles, whose nodes are the states in which it draws.
class Piece final : public gpu::ChoosingLottery, public gpu::Observer {
 public:
  Piece(Program program, const EnumerableModel& model, const gpu::Ladder& ladder,
        const gpu::Plan& plan, Cuts cuts, std::size_t largest_batch, MoveOptions options,
        const TokenOptions& tokens, CanonicalRecords& canonical, std::vector<Rest> starts)
      : program_(program),
        model_(model),
        ladder_(ladder),
        plan_(plan),
        cuts_(cuts),
        largest_batch_(largest_batch),
        options_(options),
        tokens_(tokens),
        canonical_(canonical),
        starts_(std::move(starts)) {
    for (std::size_t start = 0; start < starts_.size(); ++start) {
      begins_.emplace_back();
      run(start, {}, std::nullopt);
    }
    while (!untried_.empty()) {
      const auto [state, winner] = untried_.back();
      untried_.pop_back();
      std::vector<std::size_t> path = states_[state].winners;
      path.push_back(winner);
      run(states_[state].start, std::move(path), std::pair(state, winner));
    }
  }

  /// Adds what becomes of `masses`, the probabilities of the starts, and the tokens that are drawn.
  void carry(const std::vector<Rational>& masses, std::map<Rest, Rational>& rests, OutcomeLaw& ends,
             Rational& decode_tokens) const {
    std::vector<Rational> at_state(states_.size());
    std::vector<std::size_t> ways_in(states_.size());
    for (const State& state : states_)
      for (const auto& [winner, to] : state.ways)
        if (to.kind == Destination::Kind::draw) ++ways_in[to.index];
    const auto arrive = [&](const Destination& to, const Rational& mass) {
      if (to.kind == Destination::Kind::draw) at_state[to.index] += mass;
      if (to.kind == Destination::Kind::rest) rests[rests_[to.index]] += mass;
      if (to.kind == Destination::Kind::end) ends[ends_[to.index]] += mass;
    };
    for (std::size_t start = 0; start < starts_.size(); ++start)
      arrive(begins_[start].value(), masses[start]);
    std::vector<std::size_t> complete;
    for (std::size_t state = 0; state < states_.size(); ++state)
      if (ways_in[state] == 0) complete.push_back(state);
    std::size_t carried = 0;
    for (; !complete.empty(); ++carried) {
      const std::size_t from = complete.back();
      complete.pop_back();
      const State& state = states_[from];
      if (state.is_token) decode_tokens += at_state[from];
      for (const auto& [winner, to] : state.ways) {
        arrive(to, at_state[from] * Rational(state.tickets[winner], state.total));
        if (to.kind == Destination::Kind::draw && --ways_in[to.index] == 0)
          complete.push_back(to.index);
      }
    }
    if (carried != states_.size())
      throw NotEnumerable("the program comes back to a state that it has left");
  }

  std::size_t states() const { return states_.size(); }
  std::size_t runs() const { return runs_; }
  std::size_t stale_records() const { return stale_records_; }

 private:
  /// The ticket of an acceptance that accepts.
  static constexpr std::size_t accepting = 0;

  using Way = std::pair<std::size_t, std::size_t>;  // a state and the winner of its draw

  /// Runs the program from a start along a path, then on until it meets a known state.
  void run(std::size_t start, std::vector<std::size_t> path, std::optional<Way> last) {
    ++runs_;
    abandon();
    start_ = start;
    path_ = std::move(path);
    steps_ = 0;
    last_ = last;
    is_over_ = false;
    unfinished_.assign(plan_.replicas(ladder_), {});
    last_turn_.assign(plan_.replicas(ladder_), no_turn);
    seen_.assign(plan_.replicas(ladder_), {});
    const Rest& from = starts_[start];
    progress_ = gpu::Progress{from};
    for (const auto& tokens : from.records)
      progress_.replicas.push_back(canonical_.copy(
          tokens, plan_.stages[from.extended ? from.stage : from.stage - 1].horizon));
    // One request at a time and the latest first: a rung ends its moves before the next begins, so
    // that more paths meet. No bit depends on it.
    gpu::Engine engine(model_.model, canonical_.rows(), *this, largest_batch_,
                       gpu::WorkOrder::last_come);
    gpu::Chain chain{engine, model_.context, ladder_};
    static_cast<MoveOptions&>(chain.options) = options_;
    static_cast<TokenOptions&>(chain.options) = tokens_;
    std::vector<gpu::Task> tasks;
    tasks.push_back(program_(chain, plan_, progress_, this));
    try {
      engine.run(tasks);
    } catch (const Stop&) {
      return;
    }
    inspect();
    const Outcome outcome{tokens_of(progress_.replicas),
                          gpu::answer_of(progress_, plan_).token_ids()};
    arrive({Destination::Kind::end, ends_.number(outcome).first});
  }

  std::size_t choose(std::span<const std::uint64_t> tickets, const gpu::Draw& draw) override {
    if (is_over_) throw Stop{};
    if (largest_batch_ > 1) forget_ended();
    if (options_.early_rejection && largest_batch_ == 1) forget_before(draw.address);
    if (steps_ == path_.size())
      meet(tickets, draw);
    else if (steps_ + 1 == path_.size())
      require_same(tickets, states_[last_.value().first].tickets);
    const std::size_t winner = path_[steps_++];
    note(draw.address, winner);
    return winner;
  }

  /// At the end of the path: ends the run in a known state, goes on with the first decision of a
  /// new one.
  void meet(std::span<const std::uint64_t> tickets, const gpu::Draw& draw) {
    inspect();
    const auto [number, is_new] = keys_.number(key_of(draw.address));
    arrive({Destination::Kind::draw, number});
    if (!is_new) {
      require_same(tickets, states_[number].tickets);
      stop();
    }
    states_.push_back({{tickets.begin(), tickets.end()},
                       gpu::total_of(tickets),
                       is_token(draw),
                       start_,
                       path_,
                       {}});
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < tickets.size(); ++i) {
      if (tickets[i] == 0) continue;
      if (first)
        untried_.emplace_back(number, i);
      else
        first = i;
    }
    last_ = Way(number, first.value());
    path_.push_back(*first);
  }

  void round_ended(const gpu::Progress& progress, std::span<const gpu::Event>) override {
    if (cuts_ == Cuts::none) return;
    if (is_over_) throw Stop{};
    inspect();
    const Rest rest{progress, tokens_of(progress.replicas)};
    arrive({Destination::Kind::rest, rests_.number(rest).first});
    stop();
  }

  static void require_same(std::span<const std::uint64_t> tickets,
                           const std::vector<std::uint64_t>& known) {
    if (!std::equal(tickets.begin(), tickets.end(), known.begin(), known.end()))
      throw NotEnumerable("a state of the program is met again and shows other tickets");
  }

  [[noreturn]] void stop() {
    is_over_ = true;  // what else is under way must not go on
    throw Stop{};
  }

  void arrive(const Destination& to) {
    if (last_)
      states_[last_->first].ways.emplace_back(last_->second, to);
    else
      begins_[start_] = to;
  }

  void inspect() {
    for (const gpu::Record& record : progress_.replicas)
      stale_records_ += canonical_.stale_parts(record).empty() ? 0 : 1;
  }

  /// What tells the state of the program at a draw from any other.
  std::vector<std::uint64_t> key_of(const gpu::DrawAddress& at) const {
    std::vector<std::uint64_t> key{static_cast<std::uint64_t>(at.purpose),
                                   at.rung,
                                   at.turn,
                                   at.position,
                                   progress_.resampled,
                                   progress_.drawn};
    for (std::size_t k = 0; k < progress_.replicas.size(); ++k) {
      const auto tokens = progress_.replicas[k].token_ids();
      key.push_back(progress_.replicas[k].horizon());
      key.push_back(tokens.size());
      key.insert(key.end(), tokens.begin(), tokens.end());
      key.push_back(last_turn_[k]);
      for (const auto& [turn, winners] : unfinished_[k]) {
        key.push_back(turn);
        key.push_back(winners.size());
        key.insert(key.end(), winners.begin(), winners.end());
      }
      key.push_back(no_turn);
    }
    return key;
  }

  /// Another record has ended the moves that were ahead of it.
  void forget_ended() {
    for (std::size_t k = 0; k < progress_.replicas.size(); ++k) {
      auto tokens = progress_.replicas[k].token_ids();
      if (tokens == seen_[k]) continue;
      seen_[k] = std::move(tokens);
      unfinished_[k].clear();
    }
  }

  /// A rung that is at one move has ended those before it; at a swap all have ended theirs.
  void forget_before(const gpu::DrawAddress& at) {
    if (at.purpose == gpu::Purpose::swap) unfinished_.assign(unfinished_.size(), {});
    if (at.purpose != gpu::Purpose::restart_position &&
        at.purpose != gpu::Purpose::proposal_token && at.purpose != gpu::Purpose::accept)
      return;
    auto& moves = unfinished_[at.rung];
    moves.erase(moves.begin(), moves.lower_bound(at.turn));
  }

  /// Keeps what was decided since each of a rung's moves began, some ahead of others. A token of a
  /// block extension is in its record when its batch is over, and so is what came of a move or swap
  /// that has ended.
  void note(const gpu::DrawAddress& at, std::size_t winner) {
    std::map<std::uint64_t, std::vector<std::uint64_t>>& moves = unfinished_[at.rung];
    switch (at.purpose) {
      case gpu::Purpose::extension_token:
        if (largest_batch_ > 1) moves[at.turn] = {winner};
        break;
      case gpu::Purpose::restart_position:
        if (largest_batch_ == 1) {  // the moves before it have ended
          moves.clear();
          last_turn_[at.rung] = at.turn;
        }
        moves[at.turn] = {winner};
        break;
      case gpu::Purpose::proposal_token:
        moves[at.turn].push_back(winner);
        break;
      case gpu::Purpose::accept:
        last_turn_[at.rung] = at.turn;
        // A move that is ahead looks at its word before its turn: the moves before it continue, and
        // what it saw stays until another record ends it.
        if (options_.early_rejection && largest_batch_ > 1) {
          moves[at.turn].push_back(winner);
          break;
        }
        // A word that has accepted at a bound decides again when more of the proposal is known.
        if (options_.early_rejection && winner == accepting) {
          moves.erase(moves.begin(), moves.lower_bound(at.turn));
          moves[at.turn].push_back(winner);
        } else {
          moves.erase(moves.begin(), moves.upper_bound(at.turn));
        }
        break;
      case gpu::Purpose::swap:
        if (largest_batch_ == 1) unfinished_.assign(unfinished_.size(), {});
        last_turn_.assign(last_turn_.size(), no_turn);
        break;
      case gpu::Purpose::survival:
        moves.clear();  // the token is in the record
        break;
      case gpu::Purpose::resample:
      case gpu::Purpose::final_particle:
        break;  // what came of it is in the records, or in the answer
    }
  }

  Program program_;
  const EnumerableModel& model_;
  const gpu::Ladder& ladder_;
  const gpu::Plan& plan_;
  Cuts cuts_;
  std::size_t largest_batch_;
  MoveOptions options_;
  TokenOptions tokens_;
  CanonicalRecords& canonical_;
  const std::vector<Rest> starts_;

  std::vector<std::optional<Destination>> begins_;  // of each start
  std::vector<State> states_;
  Numbered<std::vector<std::uint64_t>> keys_;  // of the states
  Numbered<Rest> rests_;
  Numbered<Outcome> ends_;
  std::vector<Way> untried_;
  std::size_t runs_ = 0;
  std::size_t stale_records_ = 0;

  // These are about the run that is under way.
  std::size_t start_ = 0;
  std::vector<std::size_t> path_;
  std::size_t steps_ = 0;
  std::optional<Way> last_;  // the decision whose destination comes next; none at a start
  bool is_over_ = false;
  gpu::Progress progress_;
  /// Each rung's unfinished moves and what was decided in them.
  std::vector<std::map<std::uint64_t, std::vector<std::uint64_t>>> unfinished_;
  std::vector<std::uint64_t> last_turn_;  // of each rung, the last move seen to begin or end
  Records seen_;                          // of each rung, at the last draw
};

}  // namespace

WalkedProgram walk_program(Program program, const EnumerableModel& model, const gpu::Ladder& ladder,
                           const gpu::Plan& plan, Cuts cuts, std::size_t largest_batch,
                           std::unique_ptr<gpu::RowLottery> rows, std::size_t most_starts,
                           MoveOptions options, const TokenOptions& tokens) {
  CanonicalRecords canonical(model, ladder, std::move(rows));
  WalkedProgram walked;
  std::map<Rest, Rational> rests{{Rest{}, Rational(1)}};
  while (!rests.empty()) {
    std::vector<Rest> starts;
    std::vector<Rational> masses;
    const auto belongs = [&](const Rest& rest) {
      return starts.empty() || (rest.is_as_far_as(starts.front()) &&
                                (starts.size() < most_starts ||
                                 rest.records.front() == starts.back().records.front()));
    };
    while (!rests.empty() && belongs(rests.begin()->first)) {
      starts.push_back(rests.begin()->first);
      masses.push_back(rests.begin()->second);
      rests.erase(rests.begin());
    }
    const Piece piece(program, model, ladder, plan, cuts, largest_batch, options, tokens, canonical,
                      std::move(starts));
    piece.carry(masses, rests, walked.law, walked.decode_tokens);
    walked.states += piece.states();
    walked.runs += piece.runs();
    walked.stale_records += piece.stale_records();
  }
  return walked;
}

WalkedProgram walk_every_path(Program program, const EnumerableModel& model,
                              const gpu::Ladder& ladder, const gpu::Plan& plan) {
  CanonicalRecords canonical(model, ladder);
  WalkedProgram walked;
  gpu::Progress progress;
  std::uint64_t tokens = 0;
  walked.runs = enumerate(
      [&](gpu::Lottery& tree) {
        gpu::Engine engine(model.model, canonical.rows(), tree);
        gpu::Chain chain{engine, model.context, ladder};
        progress = {};
        std::vector<gpu::Task> tasks;
        tasks.push_back(program(chain, plan, progress, nullptr));
        engine.run(tasks);
        tokens = engine.decode_tokens();
      },
      [&](const Rational& probability) {
        for (const gpu::Record& record : progress.replicas)
          walked.stale_records += canonical.stale_parts(record).empty() ? 0 : 1;
        walked.law[{tokens_of(progress.replicas), gpu::answer_of(progress, plan).token_ids()}] +=
            probability;
        walked.decode_tokens += probability * Rational(tokens);
      });
  return walked;
}

}  // namespace tempera::lab
