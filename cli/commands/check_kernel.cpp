// `tempera check` of a kernel: its exact matrix on each case, and a verdict.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/commands/check_options.hpp"
#include "cli/commands/command.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/progress_line.hpp"
#include "lab/enumerate/real.hpp"
#include "lab/judge/child_program.hpp"

namespace tempera::cli {
namespace {

using lab::KernelVerdict;
using nlohmann::ordered_json;
using reference::Rational;

ordered_json to_json(const std::optional<Rational>& value) {
  return value ? ordered_json(reference::to_string(*value)) : ordered_json(nullptr);
}

ordered_json to_json(const KernelVerdict& verdict) {
  return {{"states", verdict.states},
          {"stochastic", verdict.stochastic()},
          {"invariant", verdict.invariant()},
          {"reversible", verdict.reversible()},
          {"irreducible", verdict.irreducible},
          {"tv_one_step", reference::to_string(verdict.tv_one_step)},
          {"tv_limit", to_json(verdict.tv_limit)},
          {"lost", reference::to_string(verdict.lost)},
          {"sound", verdict.sound()}};
}

ordered_json to_json(const lab::FailingCase& smallest) {
  ordered_json json{{"model", ordered_json::parse(lab::model_json(smallest.judged.model()))},
                    {"horizon", smallest.judged.horizon()},
                    {"tried", smallest.tried}};
  json.update(to_json(smallest.verdict));
  const KernelVerdict& verdict = smallest.verdict;
  json["escape"] = json["unbalanced"] = json["moved"] = nullptr;
  if (verdict.escape)
    json["escape"] = {{"from", verdict.escape->from},
                      {"to", verdict.escape->to},
                      {"probability", reference::to_string(verdict.escape->probability)}};
  if (verdict.unbalanced)
    json["unbalanced"] = {{"from", verdict.unbalanced->from},
                          {"to", verdict.unbalanced->to},
                          {"forward", reference::to_string(verdict.unbalanced->forward_flow)},
                          {"reverse", reference::to_string(verdict.unbalanced->reverse_flow)}};
  if (verdict.moved)
    json["moved"] = {{"state", verdict.moved->state},
                     {"before", reference::to_string(verdict.moved->before)},
                     {"after", reference::to_string(verdict.moved->after)}};
  return json;
}

struct JudgedRow {
  std::optional<KernelVerdict> verdict;  ///< nothing if it was not decided in time
  double seconds = 0.0;
  std::size_t paths = 0;
  bool is_left_out = false;  ///< it has failed before
};

ordered_json to_json(const lab::JudgedCase& judged, const KernelVerdict& verdict) {
  ordered_json json = to_json(verdict);
  for (std::size_t x = 0; x < judged.size(); ++x) {
    json["records"].push_back(judged.name(judged.state(x)));
    json["law"].push_back(reference::to_string(judged.law()[x]));
    auto row = ordered_json::array();
    for (std::size_t y = 0; y < judged.size(); ++y)
      row.push_back(reference::to_string(verdict.matrix(x, y)));
    json["matrix"].push_back(std::move(row));
  }
  return json;
}

void print_row(const lab::JudgedCase& judged, const JudgedRow& row) {
  const auto word = [](bool holds) { return holds ? "yes" : "NO"; };
  const auto distance = [](const std::optional<Rational>& value) {
    return value ? lab::to_scientific(lab::to_real(*value), 4) : std::string("-");
  };
  const std::string model = fitted(judged.model().name(), 19);
  if (!row.verdict) {
    std::printf(
        "  %-5s %-19s %2zu %6zu  %s\n", "?", model.c_str(), judged.horizon(), judged.size(),
        row.is_left_out ? "not judged: it has failed before" : "not decided in the time given");
  } else {
    const KernelVerdict& verdict = *row.verdict;
    std::printf("  %-5s %-19s %2zu %6zu  %-6s %-6s %-6s %-6s %10s %10s %8.0f\n",
                verdict.sound() ? "sound" : "FAILS", model.c_str(), judged.horizon(),
                verdict.states, word(verdict.stochastic()), word(verdict.invariant()),
                verdict.reversible() ? "yes" : "no", word(verdict.irreducible),
                distance(verdict.tv_one_step).c_str(), distance(verdict.tv_limit).c_str(),
                static_cast<double>(row.paths) / std::max(row.seconds, 1e-3));
  }
  std::fflush(stdout);
}

/// A path of draws from one state to another.
struct ShownPath {
  std::string from, to;
  lab::ProgramPath draws;
};

lab::Notation notation_of(const KernelVerdict& verdict, const std::vector<ShownPath>& paths) {
  std::vector<Rational> numbers;
  if (verdict.escape) numbers.push_back(verdict.escape->probability);
  if (verdict.moved) numbers.insert(numbers.end(), {verdict.moved->before, verdict.moved->after});
  if (verdict.unbalanced)
    numbers.insert(numbers.end(),
                   {verdict.unbalanced->forward_flow, verdict.unbalanced->reverse_flow});
  for (const ShownPath& path : paths)
    for (const Rational& number : lab::numbers_of(path.draws)) numbers.push_back(number);
  return lab::Notation(numbers);
}

std::string text_of(const ShownPath& path, const lab::Notation& notation) {
  return "(" + path.from + ") -> (" + path.to + ") " + path_text(path.draws, notation);
}

void print_smallest(const lab::FailingCase& smallest, const std::vector<ShownPath>& paths) {
  const KernelVerdict& verdict = smallest.verdict;
  const lab::Notation notation = notation_of(verdict, paths);
  std::printf("the smallest model on which it fails (%zu tried), horizon %zu, %zu states:\n",
              smallest.tried, smallest.judged.horizon(), verdict.states);
  say(spaced_json(lab::model_json(smallest.judged.model())));
  if (verdict.escape)
    say("no state of the space: from (" + verdict.escape->from + ") to (" + verdict.escape->to +
        ") with probability " + notation.text_of(verdict.escape->probability));
  if (verdict.moved)
    say("not invariant: one step changes the mass of (" + verdict.moved->state + ") from " +
        notation.text_of(verdict.moved->before) + " to " + notation.text_of(verdict.moved->after));
  if (verdict.unbalanced)
    say("unbalanced: (" + verdict.unbalanced->from + ") -> (" + verdict.unbalanced->to +
        ") flows " + notation.text_of(verdict.unbalanced->forward_flow) + ", back " +
        notation.text_of(verdict.unbalanced->reverse_flow));
  if (smallest.verdict.escape || verdict.unbalanced)
    for (const ShownPath& path : paths) say(text_of(path, notation));
  if (verdict.stochastic() && !verdict.irreducible)
    say("reducible: some state of the target is not reached from every other");
}

/// The likeliest path of draws of what is unbalanced, or leaves the space, each way.
std::vector<ShownPath> paths_of(lab::ProgramKernel& program, const lab::FailingCase& smallest) {
  std::vector<ShownPath> paths;
  const auto& pair = smallest.verdict.unbalanced;
  const auto& escape = smallest.verdict.escape;
  std::vector<std::pair<std::string, std::string>> asked;
  if (escape) asked.emplace_back(escape->from, escape->to);
  if (pair && !escape) asked = {{pair->from, pair->to}, {pair->to, pair->from}};
  const auto state_named = [&](const std::string& name) -> std::optional<lab::JudgedState> {
    for (std::size_t x = 0; x < smallest.judged.size(); ++x)
      if (smallest.judged.name(smallest.judged.state(x)) == name) return smallest.judged.state(x);
    for (std::size_t x = 0; x < smallest.judged.size(); ++x)
      for (const auto& [state, probability] :
           program.row(smallest.judged, smallest.judged.state(x)))
        if (smallest.judged.name(state) == name) return state;
    return std::nullopt;
  };
  for (const auto& [from, to] : asked) {
    const auto x = state_named(from), y = state_named(to);
    if (!x || !y) continue;
    if (const auto path = program.path(smallest.judged, *x, *y)) paths.push_back({from, to, *path});
  }
  return paths;
}

/// Mistakes that these models and this target cannot show.
std::vector<std::string> unseen_of(const lab::JudgedTarget& target, bool only_symmetric) {
  std::vector<std::string> notes;
  if (only_symmetric)
    notes.emplace_back(
        "in these models records of equal length are equally likely, so that a mistake between "
        "them is unseen: name another --model");
  const auto is_one = [](const reference::Power& power) { return power.value() == 1; };
  if (!target.law && std::any_of(target.powers.begin(), target.powers.end(), is_one))
    notes.emplace_back(
        "at power 1 a proposal drawn from the model is always accepted, so that a mistake in its "
        "acceptance is unseen: judge it with other powers too, such as powers:2,3");
  return notes;
}

/// The most by which doubles move a law on models as small as those that are judged.
const Rational most_by_doubles{1, 1'000'000'000'000};

/// True if a failure looks like the rounding of doubles alone.
bool is_rounding(const KernelVerdict& verdict) {
  return verdict.stochastic() && verdict.irreducible && verdict.tv_one_step < most_by_doubles;
}

}  // namespace

void check_kernel(const CheckOptions& options, bool names_horizon) {
  const Rational within = within_of(options);
  const auto cases = asked_cases(options, names_horizon, rungs_of(options.target));
  // All are read before the first is judged: a file that is wrong ends in one line and no table.
  std::vector<lab::JudgedCase> judged;
  for (const AskedCase& asked : cases) {
    const auto model = asked.model();
    judged.emplace_back(model, asked.horizon,
                        target_of(options.target, model, irrational_of(within)));
  }
  lab::ProgramKernel program(options.program, limits_of(options));
  const lab::JudgedKernel kernel = [&](const auto& one, const auto& from) {
    return program.row(one, from);
  };
  std::vector<JudgedRow> rows;
  std::optional<lab::FailingCase> smallest;
  std::vector<ShownPath> paths;
  ProgressLine line;
  std::string doing;
  ProgramClock clock(program);
  program.on_progress([&](const lab::ProgramKernel::Progress& now) {
    line.show_step(rows.size(), judged.size(), doing + ", " + clock.text(now));
  });
  bool has_head = false, is_late = false, only_symmetric = true;
  const auto print_head = [&] {
    if (options.json || has_head) return;
    has_head = true;
    std::printf("%s\n", wrapped("every decision of " + one_line(options.program) +
                                    " from every state, target " + one_line(options.target) +
                                    (within == 0 ? ", exactly" : ", to " + shown(within)),
                                table_columns, 2)
                            .c_str());
    std::printf("  %-5s %-19s %2s %6s  %-6s %-6s %-6s %-6s %10s %10s %8s\n", "", "model", "T",
                "states", "law", "invar.", "rever.", "irred.", "TV, 1 step", "TV, limit",
                "paths/s");
  };
  // What is known of a failure is printed at once, and nothing that follows can take it back.
  for (const lab::JudgedCase& one : judged) {
    if (smallest) {
      rows.push_back({std::nullopt, 0.0, 0, true});
      if (!options.json) print_row(one, rows.back());
      continue;
    }
    doing = one.model().name();
    clock = ProgramClock(program);
    JudgedRow row;
    try {
      row.verdict = lab::judge_kernel(kernel, one, within);
      only_symmetric = only_symmetric && is_symmetric(one);
    } catch (const lab::TimeIsOver&) {
      is_late = true;
    }
    row.seconds = clock.seconds();
    row.paths = clock.paths_of(program.paths());
    line.clear();
    print_head();
    if (!options.json) print_row(one, row);
    rows.push_back(std::move(row));
    if (!rows.back().verdict || rows.back().verdict->sound()) continue;
    doing = "the smallest model that fails";
    clock = ProgramClock(program);
    smallest = lab::FailingCase{one, *rows.back().verdict, 1};
    try {
      smallest = lab::shrink(kernel, one, within);
      paths = paths_of(program, *smallest);
    } catch (const lab::TimeIsOver&) {
      is_late = true;
    } catch (const BadInput&) {
      paths.clear();  // it fails elsewhere in another way, too
    }
    line.clear();
    if (options.json) continue;
    print_smallest(*smallest, paths);
    if (within == 0 && is_rounding(smallest->verdict))
      say("so small a difference is how floating point rounds: judge it again with --within 1e-9");
  }
  const auto decided = static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [](const JudgedRow& row) { return row.verdict.has_value(); }));
  const auto unseen = smallest || decided == 0 ? std::vector<std::string>()
                                               : unseen_of(judged.front().target(), only_symmetric);
  if (options.json) {
    ordered_json json{{"program", options.program}, {"target", options.target}};
    json["within"] = reference::to_string(within);
    json["cases"] = ordered_json::array();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ordered_json row{{"model", cases[i].file}, {"horizon", cases[i].horizon}};
      row["decided"] = rows[i].verdict.has_value();
      if (rows[i].verdict) row.update(to_json(judged[i], *rows[i].verdict));
      row["paths"] = rows[i].paths;
      row["seconds"] = rows[i].seconds;
      json["cases"].push_back(std::move(row));
    }
    json["paths"] = program.paths();
    json["sound"] = smallest                 ? ordered_json(false)
                    : decided == rows.size() ? ordered_json(true)
                                             : ordered_json(nullptr);
    json["smallest"] = smallest ? to_json(*smallest) : ordered_json(nullptr);
    if (smallest) {
      json["smallest"]["draws"] = ordered_json::array();
      for (const ShownPath& path : paths)
        json["smallest"]["draws"].push_back(text_of(path, notation_of(smallest->verdict, paths)));
    }
    add_notes(json, program);
    json["unseen"] = unseen;
    json["printed"] = program.printed();
    std::cout << json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  } else {
    print_printed(program.printed());
    for (const std::string& note : notes_of(program, false)) say(note);
    for (const std::string& note : unseen) say("note: " + note);
    const std::string on = decided == rows.size() ? "on these models"
                                                  : "on " + std::to_string(decided) + " of these " +
                                                        std::to_string(rows.size()) + " models";
    if (smallest)
      std::printf("it does not sample its target; %zu paths of the program\n", program.paths());
    else if (is_late)
      std::printf("not decided: sound %s, and the time was over; %zu paths of the program\n",
                  on.c_str(), program.paths());
    else
      std::printf("it samples its target %s; %zu paths of the program\n", on.c_str(),
                  program.paths());
  }
  if (smallest) throw CLI::RuntimeError(1);
  if (is_late) throw CLI::RuntimeError(3);
}

}  // namespace tempera::cli
