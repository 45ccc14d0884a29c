// The cases of the join, drawn by the generator of the property tests from pinned seeds, and their
// two texts: JSON for reference/ (proofs/join.json) and Coq (proofs/cases/join_cases.v).
#pragma once

#include <functional>
#include <sstream>

#include "gpu/core/sampler/ladder.hpp"
#include "gpu/core/sampler/restart_law.hpp"
#include "lab/claims/join_case.hpp"
#include "lab/claims/record_functions.hpp"
#include "lab/enumerate/program_walk.hpp"
#include "reference/kernels/ladder.hpp"
#include "reference/kernels/progressive.hpp"
#include "reference/kernels/restart_law.hpp"
#include "reference/model/finite_model.hpp"
#include "reference/model/record.hpp"
#include "reference/model/record_space.hpp"
#include "reference/numbers/interval.hpp"
#include "reference/numbers/rational.hpp"
#include "tests/reference/random_model.hpp"

namespace tempera::test {

using lab::JoinCase;
using reference::Rational;

template <class Value>
std::string listed(const std::vector<Value>& values, const std::string& between,
                   const std::function<std::string(const Value&)>& text) {
  std::string all;
  for (const Value& value : values) all += (all.empty() ? "" : between) + text(value);
  return all;
}

inline std::string quoted(const std::string& text) { return '"' + text + '"'; }

/// One draw: whether it is small enough for Coq and large enough to tell is for the caller to see.
inline JoinCase draw_join_case(const std::string& name, int rungs) {
  namespace random = reference::random;
  const reference::FiniteModel model = random::model();
  const std::size_t horizon = random::horizon();
  const std::size_t block = random::between<std::size_t>(1, horizon);
  std::vector<reference::StageSchedule> stages;
  const std::size_t last = reference::stage_horizons(horizon, block).size() - 1;
  for (std::size_t m = 0; m <= last; ++m)
    stages.push_back({random::between<std::size_t>(m == last ? 1 : 0, 2),
                      random::between<std::size_t>(1, 2), random::between<std::size_t>(1, 2)});
  return {name,
          model,
          horizon,
          random::ladder(rungs),
          random::restart(horizon),
          random::between<std::size_t>(1, 2),
          random::between<std::size_t>(1, 2),
          block,
          stages};
}

/// How often a complete transition repeats its local sweep and its swap sweep.
struct Counts {
  std::size_t n_local, n_sweep;
};

/// The first draw, counting seeds upwards, with these counts and whose joint chain has enough
/// states and not too many.
inline JoinCase drawn_join_case(const std::string& name, int rungs, Counts counts,
                                std::size_t least, std::size_t most, std::uint64_t seed) {
  for (;; ++seed) {
    const auto draw = rc::gen::exec([&] { return draw_join_case(name, rungs); });
    const JoinCase join = draw(rc::Random(seed), rc::kNominalSize).value();
    if (join.horizon == 1) continue;
    if (join.n_local != counts.n_local || join.n_sweep != counts.n_sweep) continue;
    const std::size_t records = reference::FixedHorizonSpace(join.model, join.horizon).size();
    const std::size_t compared = reference::ComparisonSpace(join.model, join.horizon).size();
    // A model whose records all end at once would tell nothing of lengths.
    if (records >= least && records <= most && compared > records && compared <= 12) return join;
  }
}

inline std::vector<JoinCase> drawn_join_cases() {
  const auto whole = [](unsigned power) { return reference::Power(Rational(power)); };
  const std::string four_state = R"({"name": "four-state", "vocabulary": ["a", "e"],
    "terminal": ["e"], "default": {"a": "1/2", "e": "1/2"}})";
  std::vector<JoinCase> cases{{"four_state",
                               reference::parse_finite_model(four_state, "join"),
                               2,
                               reference::Ladder({whole(1), whole(2), whole(4)}),
                               reference::RestartLaw::uniform(2),
                               1,
                               1,
                               1,
                               {{1, 1, 1}, {1, 1, 1}}}};
  std::uint64_t i = 0;
  for (const Counts counts : {Counts{1, 2}, Counts{1, 1}, Counts{2, 2}, Counts{2, 1}}) {
    ++i;
    cases.push_back(drawn_join_case("two_rungs_" + std::to_string(i), 2, counts, 3, 4, 1000 * i));
  }
  i = 0;
  for (const Counts counts : {Counts{2, 2}, Counts{2, 1}, Counts{1, 2}}) {
    ++i;
    cases.push_back(
        drawn_join_case("three_rungs_" + std::to_string(i), 3, counts, 3, 3, 9000 + 1000 * i));
  }
  return cases;
}

inline std::string join_json(const std::vector<JoinCase>& cases) {
  const auto row = [](const reference::FiniteModel& model, const reference::TokenRow& next) {
    std::string text;
    for (std::size_t v = 0; v < next.size(); ++v)
      text += (v ? ", " : "") + quoted(model.vocabulary()[v]) + ": " +
              quoted(reference::to_string(next[v]));
    return "{" + text + "}";
  };
  std::ostringstream out;
  for (const JoinCase& join : cases) {
    std::string terminal, rows, powers, restart, stages;
    const auto append = [](std::string& list, const std::string& item) {
      list += (list.empty() ? "" : ", ") + item;
    };
    for (reference::Token v = 0; v < join.model.vocabulary_size(); ++v)
      if (join.model.is_terminal(v)) append(terminal, quoted(join.model.vocabulary()[v]));
    for (const auto& [prefix, next] : join.model.listed_rows())
      rows += (rows.empty() ? "\n    " : ",\n    ") + quoted(join.model.text(prefix)) + ": " +
              row(join.model, next);
    for (std::size_t k = 0; k < join.ladder.rungs(); ++k)
      append(powers, reference::to_string(join.ladder[k].value()));
    for (std::size_t r = 1; r <= join.horizon; ++r)
      append(restart, quoted(reference::to_string(join.restart(r))));
    for (const auto& stage : join.stages)
      append(stages, "{\"rounds\": " + std::to_string(stage.rounds) +
                         ", \"n_local\": " + std::to_string(stage.local_moves) +
                         ", \"n_sweep\": " + std::to_string(stage.sweeps) + "}");
    out << (out.tellp() ? ",\n" : "[\n") << "{\"name\": " << quoted(join.name)
        << ", \"horizon\": " << join.horizon << ", \"powers\": [" << powers << "], \"restart\": ["
        << restart << "],\n \"n_local\": " << join.n_local << ", \"n_sweep\": " << join.n_sweep
        << ", \"block\": " << join.block << ", \"stages\": [" << stages
        << "],\n \"model\": {\"name\": " << quoted(join.model.name()) << ", \"vocabulary\": ["
        << listed<std::string>(join.model.vocabulary(), ", ", quoted) << "], \"terminal\": ["
        << terminal << "], \"next\": {" << rows
        << "},\n    \"default\": " << row(join.model, *join.model.default_row()) << "}}";
  }
  out << "\n]\n";
  return out.str();
}

inline std::string join_coq(const std::vector<JoinCase>& cases) {
  const auto fraction = [](const Rational& p) {
    return "frac " + numerator(p).str() + " " + denominator(p).str();
  };
  const auto fractions = [&](const std::vector<Rational>& row) {
    return "[:: " + listed<Rational>(row, "; ", fraction) + "]";
  };
  std::ostringstream out;
  out << "(** * The cases of the join\n\n"
         "    Written by `build/release/tests/test_lab \"[write-join-cases]\"`, which draws them "
         "by the\n"
         "    generator of the property tests; join.json says the same to reference/.        *)\n\n"
         "From Coq Require Import ZArith.\nFrom mathcomp Require Import all_ssreflect.\n"
         "From Tempera Require Import finite_models progressive_law matrices.\n";
  for (const JoinCase& join : cases) {
    std::string ends, rows, powers, stages;
    const auto append = [](std::string& list, const std::string& item) {
      list += (list.empty() ? "" : "; ") + item;
    };
    for (reference::Token v = 0; v < join.model.vocabulary_size(); ++v)
      append(ends, join.model.is_terminal(v) ? "true" : "false");
    for (const auto& [prefix, next] : join.model.listed_rows())
      rows += (rows.empty() ? "\n       ([::" : ";\n       ([::") +
              listed<reference::Token>(
                  prefix, ";", [](const auto& token) { return " " + std::to_string(token); }) +
              "], " + fractions(next) + ")";
    for (std::size_t k = 0; k < join.ladder.rungs(); ++k)
      append(powers, reference::to_string(join.ladder[k].value()));
    std::vector<Rational> restart;
    for (std::size_t r = 1; r <= join.horizon; ++r) restart.push_back(join.restart(r));
    const auto horizons = reference::stage_horizons(join.horizon, join.block);
    for (std::size_t m = 0; m < join.stages.size(); ++m)
      append(stages, "Stage " + std::to_string(horizons[m]) + " " +
                         std::to_string(join.stages[m].rounds) + " " +
                         std::to_string(join.stages[m].local_moves) + " " +
                         std::to_string(join.stages[m].sweeps));
    out << "\nDefinition " << join.name << " : join_case := JoinCase\n  (FiniteModel "
        << join.model.vocabulary_size() << " [:: " << ends << "]\n    [::" << rows << "]\n    "
        << fractions(*join.model.default_row()) << ")\n  " << join.horizon << " [:: " << powers
        << "] " << fractions(restart) << " " << join.n_local << " " << join.n_sweep
        << "\n  [:: " << stages << "].\n";
  }
  out << "\n(** Their models are models and their stages end at their horizons. *)\n"
         "Theorem cases_are_sound : all case_is_sound [::\n  "
      << listed<JoinCase>(cases, ";\n  ", [](const JoinCase& join) { return join.name; })
      << "].\nProof. by vm_compute. Qed.\n";
  return out.str();
}

}  // namespace tempera::test
