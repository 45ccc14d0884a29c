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
#include "cli/commands/shipped_tree.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "gpu/sampler/ladder.hpp"
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
  std::string schedule;
  std::string restart;
  std::string restart_range;
  std::string tree;
  std::string of;  ///< what draws the tokens: program, or ptx
  bool json = false;
  bool no_matrix = false;
  bool all = false;  ///< with ptx: what takes minutes, too
};

bool is_of_ptx(const LawOptions& options) { return options.of == "ptx"; }

lab::MakeRows rows_of(const LawOptions& options) {
  return is_of_ptx(options) ? lab::ptx::make_row_lottery : gpu::make_device_row_lottery;
}

/// The subject of a report's first line.
std::string whose(const LawOptions& options) {
  return is_of_ptx(options) ? "the compiled sampler, its tokens drawn by what nvcc compiled (PTX),"
                            : "the compiled sampler";
}

std::string fixed(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

nlohmann::ordered_json to_json(const lab::LawReport& report, const LawOptions& options) {
  nlohmann::ordered_json json;
  if (is_of_ptx(options)) json["of"] = "ptx";
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
  std::printf("%s\n",
              wrapped(whose(options) + " on " + one_line(options.model), table_columns, 2).c_str());
  std::printf("  %s\n", wrapped("horizon " + std::to_string(options.horizon) + ", powers " +
                                    decimals_of(options.powers) + ": " +
                                    std::to_string(report.states.size()) + " states, " +
                                    fixed(seconds) + " s",
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
       report.worst_entry ? "" : ": a power is no fraction of terms up to 1024");
  std::printf("stationary law:\n");
  for (std::size_t s = 0; s < report.states.size(); ++s)
    std::printf("  %12s  %s\n", lab::to_scientific(lab::to_real(report.stationary[s])).c_str(),
                fitted(report.states[s], table_columns - 16).c_str());
}

nlohmann::ordered_json to_json(const lab::OneStepReport& report, const LawOptions& options) {
  nlohmann::ordered_json json;
  if (is_of_ptx(options)) json["of"] = "ptx";
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
  std::printf("%s\n  %s\n",
              wrapped(whose(options) + " on " + one_line(options.model), table_columns, 2).c_str(),
              wrapped("horizon " + std::to_string(options.horizon) + ", powers " +
                          decimals_of(options.powers) + ": " + std::to_string(report.states) +
                          " states, " + fixed(elapsed.count()) + " s; no stationary law: " + reason,
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
  question.rows = rows_of(options);
  if (options.schedule == "deo") question.schedule = gpu::Schedule::deo;
  if (options.restart_range == "record") question.restart_range = gpu::RestartRange::record;
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

nlohmann::ordered_json to_json(const lab::ShippedLaw& law) {
  auto restart = nlohmann::ordered_json::array();
  for (const auto& probability : law.restart) restart.push_back(reference::to_string(probability));
  return {{"model", law.model},
          {"horizon", law.horizon},
          {"powers", law.powers},
          {"restart", law.restart.empty() ? nlohmann::ordered_json("uniform") : restart},
          {"states", law.states},
          {"tv_to_target", lab::to_scientific(law.tv_to_target)},
          {"tv_own", lab::to_scientific(law.tv_own)},
          {"tv_one_step", lab::to_scientific(law.tv_one_step)},
          {"seconds", law.seconds},
          {"holds", law.holds()}};
}

/// The row of a law, and below it the restart law if that is not uniform.
std::string row_of(const lab::ShippedLaw& law) {
  char row[256];
  std::snprintf(row, sizeof row, "  %-5s %-26s %3zu  %-11s %6zu  %9s  %9s  %13s\n",
                law.holds() ? "holds" : "FAILS", fitted(law.model, 26).c_str(), law.horizon,
                fitted(decimals_of(law.powers), 11).c_str(), law.states,
                lab::to_scientific(law.tv_to_target, 4).c_str(),
                lab::to_scientific(law.tv_own, 4).c_str(),
                lab::to_scientific(law.tv_one_step, 4).c_str());
  std::string restart;
  for (const auto& probability : law.restart)
    restart += (restart.empty() ? "" : ", ") + reference::to_string(probability);
  if (restart.empty()) return row;
  return row + std::string("        restart ") + wrapped(restart, table_columns, 16) + '\n';
}

void print(const std::vector<lab::ShippedLaw>& laws, const LawOptions& options,
           const std::string& folder, std::size_t held) {
  std::printf(
      "%s\n",
      wrapped(whose(options) + " on every model of " + one_line(folder), table_columns, 2).c_str());
  std::printf("  %-5s %-26s %3s  %-11s %6s  %9s  %9s  %13s\n", "", "model", "T", "powers", "states",
              "TV target", "own TV", "own, one step");
  std::printf("  %-5s %-26s %3s  %-11s %6s  %9s  %9s  %13s\n", "", "to be below", "", "", "",
              lab::to_scientific(lab::target_bound, 4).c_str(),
              lab::to_scientific(lab::own_bound, 4).c_str(),
              lab::to_scientific(lab::own_bound, 4).c_str());
  // Two uses may ask for the same law, one on a ladder and one on the rung alone.
  std::set<std::string> printed;
  for (const lab::ShippedLaw& law : laws) {
    const std::string row = row_of(law);
    if (printed.insert(row).second) std::fputs(row.c_str(), stdout);
  }
  std::printf("%zu laws hold, %zu fail", held, laws.size() - held);
  if (printed.size() < laws.size())
    std::printf("; %zu of them are asked for again and shown once", laws.size() - printed.size());
  std::printf("\n");
}

std::string schedule_of(const lab::ShippedProgram& program) {
  if (program.truncating || program.question.powers.size() == 1) return "";
  return program.question.schedule == gpu::Schedule::deo ? "deo" : "adj";
}

std::string sampler_of(const lab::ShippedProgram& program) {
  return program.truncating ? "truncating" : "PPT";
}

std::vector<double> powers_of(const lab::ShippedProgram& program) {
  return {program.question.powers.begin(), program.question.powers.end()};
}

nlohmann::ordered_json to_json(const lab::ShippedProgram& program) {
  nlohmann::ordered_json json{{"model", program.model},
                              {"sampler", sampler_of(program)},
                              {"horizon", program.question.horizon},
                              {"block", program.question.block},
                              {"powers", program.question.powers},
                              {"schedule", schedule_of(program)},
                              {"output_rung", program.question.output + 1}};
  auto& stages = json["stages"] = nlohmann::ordered_json::array();
  for (const auto& stage : program.question.stages)
    stages.push_back(
        {{"rounds", stage.rounds}, {"local_moves", stage.local_moves}, {"sweeps", stage.sweeps}});
  json["outcomes"] = program.report.outcomes;
  json["states"] = program.report.states;
  json["runs"] = program.report.runs;
  json["tv_to_target"] = lab::to_scientific(program.report.tv_to_target);
  json["tv_own"] = lab::to_scientific(program.report.tv_own);
  json["tv_answer"] = lab::to_scientific(program.report.tv_answer);
  json["seconds"] = program.seconds;
  json["holds"] = program.holds();
  return json;
}

void print(const std::vector<lab::ShippedProgram>& programs, std::size_t held) {
  std::printf("%s\n", wrapped("whole programs, from empty records to the answer, compared with the "
                              "reference's progressive law",
                              table_columns, 2)
                          .c_str());
  const auto row = [](const char* verdict, const std::string& model, const std::string& sampler,
                      const std::string& stages, const std::string& powers,
                      const std::string& schedule, const std::string& outcomes,
                      const std::string& target, const std::string& own,
                      const std::string& seconds) {
    std::printf("  %-5s %-25s %-10s %3s %-6s %-3s %8s  %9s  %9s  %7s\n", verdict,
                fitted(model, 25).c_str(), sampler.c_str(), stages.c_str(),
                fitted(powers, 6).c_str(), schedule.c_str(), outcomes.c_str(), target.c_str(),
                own.c_str(), seconds.c_str());
  };
  row("", "model", "sampler", "T,B", "powers", "", "outcomes", "TV target", "own TV", "seconds");
  row("", "to be below", "", "", "", "", "", lab::to_scientific(lab::target_bound, 4),
      lab::to_scientific(lab::program_bound, 4), "");
  double seconds = 0.0;
  for (const lab::ShippedProgram& program : programs) {
    row(program.holds() ? "holds" : "FAILS", program.model, sampler_of(program),
        std::to_string(program.question.horizon) + "," + std::to_string(program.question.block),
        decimals_of(powers_of(program)), schedule_of(program),
        std::to_string(program.report.outcomes), lab::to_scientific(program.report.tv_to_target, 4),
        lab::to_scientific(program.report.tv_own, 4), fixed(program.seconds));
    seconds += program.seconds;
  }
  std::printf("%zu programs hold, %zu fail, in %.1f s\n", held, programs.size() - held, seconds);
}

template <class Walked>
std::size_t held_of(const std::vector<Walked>& walked) {
  return static_cast<std::size_t>(
      std::count_if(walked.begin(), walked.end(), [](const Walked& one) { return one.holds(); }));
}

/// One line for each shipped use, on one rung and on the ladder, and for each whole program;
/// printed when all are there, so that a use that is refused leaves no half of a table.
void run_shipped(const LawOptions& options) {
  const std::string tree = shipped_tree(options.tree);
  const auto uses = lab::read_shipped_uses(tree);
  ProgressLine line;
  std::size_t done = 0;
  const auto show = [&](const auto& walked, std::size_t all) {
    if (++done < all) line.show_step(done, all, "after " + walked.model);
  };
  const bool is_small = is_of_ptx(options) && !options.all;
  const auto laws = lab::shipped_laws(uses, show, rows_of(options),
                                      is_small ? lab::small_laws : lab::WalkedSize{});
  done = 0;
  const auto programs = lab::shipped_programs(uses, show, rows_of(options),
                                              is_small ? lab::small_programs : lab::WalkedSize{});
  line.clear();
  const std::size_t laws_held = held_of(laws);
  const std::size_t programs_held = held_of(programs);
  const std::string folder = tree + "/toy_models";
  if (options.json) {
    nlohmann::ordered_json json{{"laws", nlohmann::ordered_json::array()},
                                {"programs", nlohmann::ordered_json::array()}};
    for (const lab::ShippedLaw& law : laws) json["laws"].push_back(to_json(law));
    for (const lab::ShippedProgram& program : programs)
      json["programs"].push_back(to_json(program));
    json["hold"] = laws_held + programs_held;
    json["fail"] = laws.size() + programs.size() - laws_held - programs_held;
    json["folder"] = folder;
    if (is_of_ptx(options)) json["of"] = "ptx";
    if (is_of_ptx(options)) json["all"] = options.all;
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    print(laws, options, folder, laws_held);
    print(programs, programs_held);
    if (is_small) std::printf("larger ones are left out; --all walks them too, for many minutes\n");
  }
  if (laws_held != laws.size() || programs_held != programs.size() || laws.empty())
    throw CLI::RuntimeError(1);
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
  CLI::Option* schedule = add_choice(
      *command, "--schedule", options->schedule, {"adj", "deo"},
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
    if (all->count() > 0 && (model->count() > 0 || !is_of_ptx(*options)))
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
      return run_shipped(*options);
    }
    refuse_beside(*tree, *model, "leave one of the two out");
    refuse_beside(*power, *powers, "give --power for one rung or --powers for a ladder");
    refuse_beside(*of, *of_samplers.front(), "leave one of the two out");
    if (of_samplers.front()->count() > 0)
      return run_sampler_law(*command,
                             {options->model, options->horizon, options->exact_powers,
                              options->schedule, options->json},
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
