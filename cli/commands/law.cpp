#include "lab/laws/law.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/fractions.hpp"
#include "cli/commands/law_of_sampler.hpp"
#include "cli/commands/law_of_shipped.hpp"
#include "cli/commands/shipped_tree.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "gpu/core/sampler/ladder.hpp"
#include "lab/laws/one_step_law.hpp"
#include "lab/laws/sampler_law.hpp"
#include "lab/laws/shipped_laws.hpp"
#include "lab/laws/shipped_programs.hpp"
#include "lab/laws/stationary_law.hpp"
#include "lab/ptx/row_lottery.hpp"

namespace tempera::cli {
namespace {

constexpr const char* law_examples = R"(Examples:
  tempera law
  tempera law toy_models/four_state.json --horizon 2 --power 2
  tempera law toy_models/bimodal.json --horizon 4 --powers 1,4 --json
  tempera law toy_models/four_state.json --horizon 2 --powers 1,2,4 \
    --schedule deo
  tempera law toy_models/bimodal.json --sampler power-smc --horizon 3 \
    --power 4 --particles 2
  tempera law --of ptx
  tempera law toy_models/four_state.json --horizon 2 --power 2 --of ptx)";

struct LawOptions {
  std::string model;
  std::size_t horizon = 0;
  std::vector<double> powers;                     ///< as the program takes them
  std::vector<reference::Rational> exact_powers;  ///< as they are written
  std::optional<gpu::Schedule> schedule;
  std::string restart;
  std::optional<gpu::RestartRange> restart_range;
  std::string tree;
  std::string of;  ///< what draws the tokens: program, or ptx
  bool json = false;
  bool no_matrix = false;
  bool all = false;  ///< with ptx: what takes minutes, too
};

nlohmann::ordered_json to_json(const lab::LawReport& report, const LawOptions& options) {
  nlohmann::ordered_json json;
  if (is_of_ptx(options.of)) json["of"] = "ptx";
  json["states"] = report.states;
  if (!options.no_matrix) {
    auto& matrix = json["matrix"] = nlohmann::ordered_json::array();
    for (std::size_t x = 0; x < report.matrix.rows(); ++x) {
      auto row = nlohmann::ordered_json::array();
      for (std::size_t y = 0; y < report.matrix.columns(); ++y)
        row.push_back(reference::to_string(report.matrix(x, y)));
      matrix.push_back(std::move(row));
    }
  }
  auto& stationary = json["stationary"] = nlohmann::ordered_json::array();
  for (const auto& probability : report.stationary)
    stationary.push_back(reference::to_string(probability));
  json["tv_to_target"] = lab::to_scientific(report.tv_to_target);
  json["tv_own"] = lab::to_scientific(report.tv_own);
  json["tv_one_step"] = lab::to_scientific(report.tv_one_step);
  if (report.worst_entry)
    json["worst_entry"] = lab::to_scientific(*report.worst_entry);
  else
    json["worst_entry"] = nullptr;
  return json;
}

void print(const lab::LawReport& report, const LawOptions& options, double seconds) {
  std::printf(
      "%s\n",
      wrapped(whose(options.of) + " on " + one_line(options.model), table_columns, 2).c_str());
  std::printf("  %s\n", wrapped("horizon " + std::to_string(options.horizon) + ", powers " +
                                    decimals_of(options.powers) + ": " +
                                    std::to_string(report.states.size()) + " states, " +
                                    seconds_text(seconds) + " s",
                                table_columns, 2)
                            .c_str());
  const auto line = [](const char* what, const std::string& value, const char* note) {
    std::printf("  %-48s %s%s\n", what, value.c_str(), note);
  };
  line("TV of its stationary law to the rational target", lab::to_scientific(report.tv_to_target),
       "   (float32 logits included)");
  line("TV to the target of its own float32 logits", lab::to_scientific(report.tv_own),
       "   (the sampler's own error)");
  line("TV after one step from that target", lab::to_scientific(report.tv_one_step), "");
  line("largest difference of an entry from reference/",
       report.worst_entry ? lab::to_scientific(*report.worst_entry) : "not computed",
       report.worst_entry ? "" : ": a power is not a fraction of terms up to 1024");
  std::printf("stationary law:\n");
  for (std::size_t s = 0; s < report.states.size(); ++s)
    std::printf("  %12s  %s\n", lab::to_scientific(lab::to_real(report.stationary[s])).c_str(),
                fitted(report.states[s], table_columns - 16).c_str());
}

nlohmann::ordered_json to_json(const lab::OneStepReport& report, const LawOptions& options) {
  nlohmann::ordered_json json;
  if (is_of_ptx(options.of)) json["of"] = "ptx";
  json["records"] = report.records;
  json["size"] = report.states;
  for (const char* unsolved : {"matrix", "stationary", "tv_to_target", "tv_own"})
    json[unsolved] = nullptr;
  json["tv_one_step"] = lab::to_scientific(report.tv_one_step);
  json["worst_entry"] = nullptr;
  json["minorization"] = lab::to_scientific(report.minorization);
  if (report.tv_own_at_most)
    json["tv_own_at_most"] = lab::to_scientific(*report.tv_own_at_most);
  else
    json["tv_own_at_most"] = nullptr;
  return json;
}

/// One step from the target, if there is no stationary law for the reason given.
void run_one_step(const LawOptions& options, const lab::EnumerableModel& model,
                  const lab::LawQuestion& question, const std::string& reason) {
  const auto begin = std::chrono::steady_clock::now();
  ProgressLine line;
  const lab::OneStepReport report = lab::one_step_law(
      model, question, [&](std::size_t done, std::size_t steps, const std::string& name) {
        line.show_step(done, steps, name);
      });
  line.clear();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (options.json) {
    std::cout << to_json(report, options).dump() << '\n';
    return;
  }
  std::printf(
      "%s\n  %s\n",
      wrapped(whose(options.of) + " on " + one_line(options.model), table_columns, 2).c_str(),
      wrapped("horizon " + std::to_string(options.horizon) + ", powers " +
                  decimals_of(options.powers) + ": " + std::to_string(report.states) + " states, " +
                  seconds_text(elapsed.count()) + " s; no stationary law: " + reason,
              table_columns, 2)
          .c_str());
  const auto number = [](const char* what, const std::string& value) {
    std::printf("  %-48s %s\n", what, value.c_str());
  };
  number("TV after one step from the target of its logits", lab::to_scientific(report.tv_one_step));
  number("what a step takes two laws nearer by, at least", lab::to_scientific(report.minorization));
  number("so TV of its stationary law to that target <=",
         report.tv_own_at_most ? lab::to_scientific(*report.tv_own_at_most) : "not bounded");
}

void run_law(const LawOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  lab::LawQuestion question{options.horizon, options.powers, {}, gpu::Schedule::adj};
  question.exact_powers = options.exact_powers;
  question.rows = rows_of(options.of);
  if (options.schedule) question.schedule = *options.schedule;
  if (options.restart_range) question.restart_range = *options.restart_range;
  if (!options.restart.empty()) {
    question.restart = parse_fractions(options.restart, "--restart");
    reference::RestartLaw(question.restart, "--restart");
  }
  const reference::FiniteModel model = reference::load_finite_model(options.model);
  const lab::FiniteLogits logits(model);
  if (lab::law_states(logits.enumerable(), question) > lab::law_limit)
    return run_one_step(options, logits.enumerable(), question,
                        "there are more than " + std::to_string(lab::law_limit) + " states");
  ProgressLine line;
  lab::LawReport report;
  try {
    report = lab::compiled_law(logits.enumerable(), &model, question,
                               [&](std::size_t done, std::size_t steps, const std::string& name) {
                                 line.show_step(done, steps, name);
                               });
  } catch (const lab::FractionsTooLong& too_long) {
    line.clear();
    return run_one_step(options, logits.enumerable(), question, too_long.what());
  }
  line.clear();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (options.json)
    std::cout << to_json(report, options).dump() << '\n';
  else
    print(report, options, elapsed.count());
}

/// Powers as fractions such as 3/2 or decimals, one or several.
CLI::Option* add_law_powers(CLI::App& command, const std::string& flag, LawOptions& options,
                            bool several, const std::string& help) {
  const auto read = [&options, flag, several](const std::string& text) {
    options.powers.clear();
    options.exact_powers.clear();
    for (const std::string& part :
         several ? parts_between_commas(text) : std::vector<std::string>{text}) {
      const bool is_ratio = part.find('/') != std::string::npos;
      if (!is_ratio) options.powers.push_back(parse_power(part, flag));
      options.exact_powers.push_back(parse_fraction(part, flag));
      if (is_ratio) options.powers.push_back(lab::nearest_double(options.exact_powers.back()));
      if (is_ratio && !(options.powers.back() >= gpu::least_power &&
                        options.powers.back() <= gpu::largest_power))
        throw BadInput(flag, "the power " + in_quotes(part) + " is out of range",
                       "give one from 2^-20 to 2^20");
    }
  };
  return command.add_option_function<std::string>(flag, read, help)
      ->type_name(several ? "A[,A...]" : "A");
}

}  // namespace

void add_law(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "law", "The exact law of the compiled sampler on a finite model, by enumerating every draw");
  auto options = std::make_shared<LawOptions>();
  CLI::Option* model = add_text(
      *command, "MODEL", options->model, "",
      "Finite model (JSON); without one, every use in toy_models/models.json, a line each");
  CLI::Option* horizon = add_whole_number(*command, "--horizon", options->horizon, {1, 1'000'000},
                                          "Horizon T in tokens");
  CLI::Option* power =
      add_law_powers(*command, "--power", *options, false,
                     "Power of a single chain, such as 2 or 3/2: its local move is enumerated");
  CLI::Option* powers =
      add_law_powers(*command, "--powers", *options, true,
                     "Powers of the ladder, such as 1,2: local and swap sweeps are");
  CLI::Option* schedule = add_schedule(
      *command, options->schedule,
      "One step of a ladder: adj (local sweep, then ordered sweep; default) or deo (local sweep, "
      "odd edges, local sweep, even edges)");
  CLI::Option* restart =
      add_text(*command, "--restart", options->restart, "P,P...",
               "Restart law over 1..T as rationals, such as 1/2,1/4,1/4 (default: uniform)");
  CLI::Option* restart_range = add_restart_range(*command, options->restart_range);
  auto sampler = std::make_shared<SamplerLawOptions>();
  const std::vector<CLI::Option*> of_samplers = add_sampler_law_options(*command, *sampler);
  CLI::Option* of =
      add_choice(*command, "--of", options->of, {"program", "ptx"},
                 "What draws the tokens: program (default), the draw of this build; ptx, "
                 "what nvcc compiled of the draw's kernels, run on this machine");
  CLI::Option* tree = add_text(*command, "--tree", options->tree, "FOLDER", tree_help);
  command->add_flag("--json", options->json, "Print the whole law as JSON, rationals as p/q");
  CLI::Option* all = command->add_flag(
      "--all", options->all, "With --of ptx and no MODEL: the uses that take many minutes, too");
  CLI::Option* no_matrix =
      command->add_flag("--no-matrix", options->no_matrix, "Leave the matrix out of --json");
  command->footer(law_examples);
  command->callback([=] {
    if (all->count() > 0 && (model->count() > 0 || !is_of_ptx(options->of)))
      throw BadInput("--all", "goes with --of ptx and no model",
                     "leave it out; without --of ptx all shipped models are walked");
    if (model->count() == 0) {
      std::vector<const CLI::Option*> of_models{horizon, power,         powers,   schedule,
                                                restart, restart_range, no_matrix};
      of_models.insert(of_models.end(), of_samplers.begin(), of_samplers.end());
      for (const CLI::Option* option : of_models)
        if (option->count() > 0)
          require(*model, "give the finite model that " + option->get_name() +
                              " is for: tempera law MODEL ...");
      return run_shipped_laws({options->tree, options->of, options->json, options->all});
    }
    refuse_beside(*tree, *model, "leave one of the two out");
    refuse_beside(*power, *powers, "give --power for one rung or --powers for a ladder");
    refuse_beside(*of, *of_samplers.front(), "leave one of the two out");
    if (of_samplers.front()->count() > 0)
      return run_sampler_law(*command,
                             {options->model, options->horizon, options->exact_powers,
                              options->schedule, options->restart_range, options->json},
                             *sampler);
    for (const CLI::Option* option : of_samplers)
      if (option->count() > 0)
        require(*of_samplers.front(),
                "give the sampler that " + option->get_name() + " is for: --sampler NAME");
    refuse_beside(*schedule, *power, "a single rung has no sweeps; give --powers");
    require(*horizon, "give --horizon T");
    if (power->count() == 0) require(*powers, "give --power A or --powers A,B,...");
    run_law(*options);
  });
}

}  // namespace tempera::cli
