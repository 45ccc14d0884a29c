// The command `tempera check`: the exact law of a sampler in any language, and a verdict.
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/terminal/columns.hpp"
#include "cli/commands/command.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/commands/shipped_tree.hpp"
#include "lab/judge/program_kernel.hpp"
#include "lab/judge/shrink.hpp"
#include "lab/enumerate/real.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/text_file.hpp"

namespace tempera::cli {
namespace {

using lab::KernelVerdict;
using nlohmann::ordered_json;
using reference::Rational;

constexpr const char* check_examples = R"(Examples:
  tempera check --program "python3 examples/metropolis.py"
  tempera check --program ./my_sampler --target power:4 \
    --model toy_models/four_state.json --horizon 3
  tempera check --program "python3 tempering.py" --target powers:1,2 --json

A file as --target is {"states": {"a e": "1/3", ...}}, a law over the records.
The program's side is in docs/check_protocol.md.
Exit code 0 if the target is preserved and reached from everywhere on every
model; 1 if not, with the smallest model that shows it; 2 when the input is
wrong or the program misbehaves, with one line that says how.)";

struct CheckOptions {
  std::string program, models, target = "power:2", within, tree;
  std::size_t horizon = 3;
  std::size_t timeout = 10;
  bool json = false;
};

struct Asked {
  std::string file;
  std::size_t horizon;
};

/// What is judged where no model is named: small, with records of unequal length, several terminal
/// tokens, and tokens of probability 0.
std::vector<Asked> shipped_cases(const std::string& tree) {
  const std::string folder = tree + "/toy_models/";
  return {{folder + "four_state.json", 3},
          {folder + "unequal_lengths.json", 3},
          {folder + "several_terminals.json", 2},
          {folder + "zero_probabilities.json", 2}};
}

/// The law of a file, in the tokens of a model.
lab::JudgedTarget law_of_file(const std::string& path, const reference::FiniteModel& model) {
  const std::string form = "write {\"states\": {\"a e\": \"1/3\", ...}}";
  const auto document = parse_json(
      read_text_file(path, "give power:P, powers:P,P, base or a file"), path);
  const JsonObject object(document, path, "", form);
  object.check_keys({"states"}, {});
  const JsonObject states(object["states"], path, "\"states\"", form);
  lab::JudgedTarget target;
  target.law.emplace();
  for (const auto& [name, value] : object["states"].items()) {
    std::vector<reference::Token> tokens;
    for (std::size_t begin = 0; begin <= name.size() && !name.empty();) {
      const std::size_t end = std::min(name.find(' ', begin), name.size());
      const auto token = model.find_token(name.substr(begin, end - begin));
      if (!token)
        throw BadInput(
            path, states.place_of(name) + " has a token that " + model.source() + " lacks",
            "join its tokens by one space");
      tokens.push_back(*token);
      begin = end + 1;
    }
    (*target.law)[tokens] =
        reference::parse_rational(states.text(name), path + ": " + states.place_of(name));
  }
  return target;
}

lab::JudgedTarget target_of(const std::string& text, const reference::FiniteModel& model) {
  const auto powers = [&](const std::string& list) {
    lab::JudgedTarget target;
    for (const Rational& power : parse_fractions(list, "--target"))
      target.powers.emplace_back(power, "--target");
    return target;
  };
  if (text == "base") return powers("1");
  if (text.starts_with("power:")) {
    lab::JudgedTarget target = powers(text.substr(6));
    if (target.powers.size() > 1)
      throw BadInput(
          "--target", in_quotes(text) + " has several powers",
          "give powers:" + text.substr(6) + " for a state of several records");
    return target;
  }
  if (text.starts_with("powers:")) return powers(text.substr(7));
  return law_of_file(text, model);
}

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

/// A fraction that a person can read, else its decimal.
std::string shown(const Rational& value) {
  std::string fraction = reference::to_string(value);
  return fraction.size() <= 32 ? fraction : lab::to_scientific(lab::to_real(value));
}

void print_row(const std::string& model, std::size_t horizon, const KernelVerdict& verdict) {
  const auto word = [](bool holds) { return holds ? "yes" : "NO"; };
  const auto distance = [](const std::optional<Rational>& value) {
    return value ? lab::to_scientific(lab::to_real(*value), 4) : std::string("-");
  };
  std::printf("  %-5s %-28s %2zu %6zu  %-6s %-6s %-6s %-6s %10s %10s\n",
              verdict.sound() ? "sound" : "FAILS", fitted(model, 28).c_str(), horizon,
              verdict.states, word(verdict.stochastic()), word(verdict.invariant()),
              verdict.reversible() ? "yes" : "no", word(verdict.irreducible),
              distance(verdict.tv_one_step).c_str(), distance(verdict.tv_limit).c_str());
}

void print_smallest(const lab::FailingCase& smallest) {
  const auto say = [](const std::string& text) {
    std::printf("  %s\n", wrapped(text, table_columns, 4).c_str());
  };
  const KernelVerdict& verdict = smallest.verdict;
  std::printf("the smallest model on which it fails (%zu tried), horizon %zu, %zu states:\n",
              smallest.tried, smallest.judged.horizon(), verdict.states);
  say(spaced_json(lab::model_json(smallest.judged.model())));
  if (verdict.escape)
    say("no state of the space: from (" + verdict.escape->from + ") to (" + verdict.escape->to +
        ") with probability " + shown(verdict.escape->probability));
  if (verdict.moved)
    say("not invariant: one step changes the mass of (" + verdict.moved->state + ") from " +
        shown(verdict.moved->before) + " to " + shown(verdict.moved->after));
  if (verdict.unbalanced)
    say("unbalanced: (" + verdict.unbalanced->from + ") -> (" + verdict.unbalanced->to +
        ") flows " + shown(verdict.unbalanced->forward_flow) + ", back " +
        shown(verdict.unbalanced->reverse_flow));
  if (verdict.stochastic() && !verdict.irreducible)
    say("reducible: some state of the target is not reached from every other");
}

void run_check(const CheckOptions& options, bool names_horizon) {
  Rational within = 0;
  if (!options.within.empty()) within = parse_fraction(options.within, "--within");
  if (within < 0)
    throw BadInput("--within", "is below 0",
                              "give what rounding may do, such as 1/1000000000000");
  std::vector<Asked> cases;
  if (options.models.empty()) {
    cases = shipped_cases(shipped_tree(options.tree));
    if (names_horizon)
      for (Asked& asked : cases) asked.horizon = options.horizon;
  } else {
    for (const std::string& file : parts_between_commas(options.models))
      cases.push_back({file, options.horizon});
  }
  lab::ProgramKernel::Limits limits;
  limits.timeout = std::chrono::seconds(options.timeout);
  lab::ProgramKernel program(options.program, limits);
  const lab::JudgedKernel kernel = [&](const auto& judged, const auto& from) {
    return program.row(judged, from);
  };
  // All are read before the first is judged: a file that is wrong ends in one line and no table.
  std::vector<lab::JudgedCase> judged;
  for (const Asked& asked : cases) {
    const auto model = reference::load_finite_model(asked.file);
    judged.emplace_back(model, asked.horizon, target_of(options.target, model));
  }
  std::vector<KernelVerdict> verdicts;
  std::optional<lab::FailingCase> smallest;
  ProgressLine line;
  for (const lab::JudgedCase& one : judged) {
    line.show_step(verdicts.size(), judged.size(), one.model().name());
    verdicts.push_back(lab::judge_kernel(kernel, one, within));
    if (verdicts.back().sound() || smallest) continue;
    line.show_step(verdicts.size(), judged.size(), "the smallest model that fails");
    smallest = lab::shrink(kernel, one, within);
  }
  line.clear();
  if (options.json) {
    ordered_json json{{"program", options.program}, {"target", options.target}};
    json["within"] = reference::to_string(within);
    json["cases"] = ordered_json::array();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ordered_json row{{"model", cases[i].file}, {"horizon", cases[i].horizon}};
      row.update(to_json(verdicts[i]));
      json["cases"].push_back(std::move(row));
    }
    json["steps"] = program.steps();
    json["sound"] = !smallest;
    json["smallest"] = smallest ? to_json(*smallest) : ordered_json(nullptr);
    std::cout << json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  } else {
    std::printf("%s\n",
                wrapped("every decision of " + one_line(options.program) +
                            " from every state, target " + one_line(options.target) +
                            (within == 0 ? ", exactly" : ", to " + shown(within)),
                        table_columns, 2)
                    .c_str());
    std::printf("  %-5s %-28s %2s %6s  %-6s %-6s %-6s %-6s %10s %10s\n", "", "model", "T", "states",
                "law", "invar.", "rever.", "irred.", "TV, 1 step", "TV, limit");
    for (std::size_t i = 0; i < cases.size(); ++i)
      print_row(judged[i].model().name(), cases[i].horizon, verdicts[i]);
    if (smallest) print_smallest(*smallest);
    std::printf("%s; %zu steps of the program\n",
                smallest ? "it does not sample its target" : "it samples its target",
                program.steps());
  }
  if (smallest) throw CLI::RuntimeError(1);
}

}  // namespace

void add_check(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "check",
      "The exact law of a sampler of your own, in any language, by taking every one of its "
      "decisions; a verdict, and the smallest model on which it fails");
  auto options = std::make_shared<CheckOptions>();
  CLI::Option* program = add_text(*command, "--program", options->program, "COMMAND",
                                  "The program, as a shell reads it; it speaks the protocol of "
                                  "docs/check_protocol.md");
  add_text(*command, "--model", options->models, "FILE[,FILE...]",
           "Finite models (docs/exact.md; default: four small ones that are shipped)");
  CLI::Option* horizon = add_whole_number(*command, "--horizon", options->horizon, {1, 128},
                                          "Horizon T in tokens (default: 3, less on some of the "
                                          "shipped models)");
  add_text(*command, "--target", options->target, "TARGET",
           "What it is to preserve: power:P, powers:P,P,... (a record for each), base, or a file "
           "(default: power:2)");
  add_text(*command, "--within", options->within, "P",
           "How far rounding may move a mass or a flow, as a fraction or a decimal (default: 0, "
           "exactly)");
  add_whole_number(*command, "--timeout", options->timeout, {1, 3600},
                   "Seconds that each of its lines is waited for (default: 10)");
  add_text(*command, "--tree", options->tree, "FOLDER", tree_help);
  command->add_flag("--json", options->json, "Print verdicts and the smallest model as JSON");
  command->footer(check_examples);
  command->callback([=] {
    require(*program, "give a command, such as \"python3 my_sampler.py\"");
    run_check(*options, horizon->count() > 0);
  });
}

}  // namespace tempera::cli
