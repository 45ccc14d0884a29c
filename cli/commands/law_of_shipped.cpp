#include "cli/commands/law_of_shipped.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/in_quotes.hpp"
#include "cli/commands/shipped_tree.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/progress_line.hpp"
#include "lab/laws/shipped_programs.hpp"
#include "lab/ptx/row_lottery.hpp"
#include "settings/choices.hpp"

namespace tempera::cli {
namespace {

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

void print(const std::vector<lab::ShippedLaw>& laws, const ShippedLawOptions& options,
           const std::string& folder, std::size_t held) {
  std::printf("%s\n", wrapped(whose(options.of) + " on every model of " + one_line(folder),
                              table_columns, 2)
                          .c_str());
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
  return std::string(gpu::name_of(program.question.schedule));
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
        lab::to_scientific(program.report.tv_own, 4), seconds_text(program.seconds));
    seconds += program.seconds;
  }
  std::printf("%zu programs hold, %zu fail, in %.1f s\n", held, programs.size() - held, seconds);
}

template <class Walked>
std::size_t held_of(const std::vector<Walked>& walked) {
  return static_cast<std::size_t>(
      std::count_if(walked.begin(), walked.end(), [](const Walked& one) { return one.holds(); }));
}

}  // namespace

bool is_of_ptx(const std::string& of) { return of == "ptx"; }

lab::MakeRows rows_of(const std::string& of) {
  return is_of_ptx(of) ? lab::ptx::make_row_lottery : gpu::make_device_row_lottery;
}

std::string whose(const std::string& of) {
  return is_of_ptx(of) ? "the compiled sampler, its tokens drawn by what nvcc compiled (PTX),"
                       : "the compiled sampler";
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

void run_shipped_laws(const ShippedLawOptions& options) {
  const std::string tree = shipped_tree(options.tree);
  const auto uses = lab::read_shipped_uses(tree);
  ProgressLine line;
  std::size_t done = 0;
  const auto show = [&](const auto& walked, std::size_t all) {
    if (++done < all) line.show_step(done, all, "after " + walked.model);
  };
  const bool is_small = is_of_ptx(options.of) && !options.all;
  const auto laws = lab::shipped_laws(uses, show, rows_of(options.of),
                                      is_small ? lab::small_laws : lab::WalkedSize{});
  done = 0;
  const auto programs = lab::shipped_programs(uses, show, rows_of(options.of),
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
    if (is_of_ptx(options.of)) json["of"] = "ptx";
    if (is_of_ptx(options.of)) json["all"] = options.all;
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    print(laws, options, folder, laws_held);
    print(programs, programs_held);
    if (is_small) std::printf("larger ones are left out; --all walks them too, for many minutes\n");
  }
  if (laws_held != laws.size() || programs_held != programs.size() || laws.empty())
    throw CLI::RuntimeError(1);
}

}  // namespace tempera::cli
