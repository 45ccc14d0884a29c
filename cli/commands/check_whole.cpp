// `tempera check --whole`: the exact law of a program from prompt to answer.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "cli/commands/check_options.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/fractions.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "lab/enumerate/real.hpp"
#include "lab/judge/whole_program.hpp"
#include "lab/laws/named_sampler_law.hpp"
#include "settings/named_sampler.hpp"
#include "settings/resolve.hpp"

namespace tempera::cli {
namespace {

using nlohmann::ordered_json;
using reference::Rational;

/// What an answer's law is compared with.
struct Claim {
  std::string name;  ///< "target power:2" or "power-sampling"
  lab::OtherLaw law;
};

std::vector<reference::Power> powers_of(const CheckOptions& options) {
  std::string list = options.powers;
  if (list.empty()) list = options.target.starts_with("power:") ? options.target.substr(6) : "1";
  std::vector<reference::Power> powers;
  for (const Rational& power : parse_fractions(list, "--powers"))
    powers.emplace_back(power, "--powers");
  return powers;
}

lab::NamedRun run_of(const CheckOptions& options, std::size_t horizon, const Rational& within) {
  std::vector<Rational> powers;
  for (const auto& power : powers_of(options)) powers.push_back(power.value());
  const gpu::ExactSettings settings = gpu::resolve_exact(
      options.wish, horizon, powers.size(), gpu::ExactBlock::of_comparison, gpu::Spelling::flags);
  return {options.algorithm,
          horizon,
          std::min(settings.block, horizon),
          powers,
          std::max<std::size_t>(settings.particles, 1),
          {settings.rounds, settings.local_moves, settings.sweeps},
          settings.schedule,
          settings.output,
          irrational_of(within)};
}

lab::Notation notation_of(const lab::LawComparison& comparison,
                          const std::optional<lab::ProgramPath>& draws) {
  std::vector<Rational> numbers = draws ? lab::numbers_of(*draws) : std::vector<Rational>();
  numbers.push_back(comparison.difference->program);
  numbers.push_back(comparison.difference->other);
  return lab::Notation(numbers);
}

std::string text_of(const lab::JudgedCase& judged, const lab::LawComparison& comparison,
                    const std::string& other, const lab::Notation& notation) {
  const auto& difference = *comparison.difference;
  return "the answer (" + judged.name({difference.record}) + ") has probability " +
         notation.text_of(difference.program) + ", by " + other + " " +
         notation.text_of(difference.other);
}

ordered_json law_json(const lab::JudgedCase& judged, const lab::TargetLaw& law) {
  auto json = ordered_json::object();
  for (const auto& [record, probability] : law)
    json[judged.name({record})] = reference::to_string(probability);
  return json;
}

ordered_json comparison_json(const lab::JudgedCase& judged, const lab::LawComparison& comparison) {
  ordered_json json{{"tv", reference::to_string(comparison.tv)},
                    {"equal", comparison.is_equal()},
                    {"difference", nullptr}};
  if (comparison.difference)
    json["difference"] = {{"record", judged.name({comparison.difference->record})},
                          {"program", reference::to_string(comparison.difference->program)},
                          {"other", reference::to_string(comparison.difference->other)}};
  return json;
}

struct WholeRow {
  std::optional<lab::KernelRow> answers;  ///< nothing if it was not decided in time
  std::vector<lab::LawComparison> comparisons;
  std::size_t paths = 0;
  double seconds = 0.0;
  std::string failure;  ///< of the program, beside a difference that is known
};

void print_head(const CheckOptions& options, const Rational& within) {
  std::printf("%s\n", wrapped("the law of the answers of " + one_line(options.program) +
                                  (within == 0 ? ", exactly" : ", to " + shown(within)),
                              table_columns, 2)
                          .c_str());
}

void print_names(const std::vector<Claim>& claims) {
  std::printf("  %-18s %2s %7s", "model", "T", "answers");
  for (const Claim& claim : claims)
    std::printf("  %-16s",
                fitted("TV to " + std::string(&claim == claims.data() ? "target" : claim.name), 16)
                    .c_str());
  std::printf(" %9s %8s %8s\n", "paths", "seconds", "paths/s");
  std::fflush(stdout);
}

void print_row(const lab::JudgedCase& judged, const WholeRow& row,
               const std::vector<Claim>& claims) {
  const std::string model = fitted(judged.model().name(), 18);
  if (!row.failure.empty()) {
    std::printf("  %-18s %2zu  the program fails\n", model.c_str(), judged.horizon());
    say(row.failure);
    return;
  }
  if (!row.answers) {
    std::printf("  %-18s %2zu  not decided in the time given, after %zu paths\n", model.c_str(),
                judged.horizon(), row.paths);
    std::fflush(stdout);
    return;
  }
  std::printf("  %-18s %2zu %7zu", model.c_str(), judged.horizon(),
              row.answers->size() - row.answers->count(lab::lost_state));
  for (std::size_t i = 0; i < claims.size(); ++i)
    std::printf("  %-5s %10s", row.comparisons[i].is_equal() ? "equal" : "no",
                lab::to_scientific(lab::to_real(row.comparisons[i].tv), 4).c_str());
  std::printf(" %9zu %8.1f %8.0f\n", row.paths, row.seconds,
              static_cast<double>(row.paths) / std::max(row.seconds, 1e-3));
  std::fflush(stdout);
}

void print_smallest(const lab::DifferingCase& smallest,
                    const std::optional<lab::ProgramPath>& draws, const std::string& other) {
  const lab::Notation notation = notation_of(smallest.comparison, draws);
  std::printf("the smallest model on which they differ (%zu tried), horizon %zu:\n", smallest.tried,
              smallest.judged.horizon());
  say(spaced_json(lab::model_json(smallest.judged.model())));
  say(text_of(smallest.judged, smallest.comparison, "the " + other, notation));
  if (draws) say(path_text(*draws, notation));
  std::fflush(stdout);
}

/// Runs a whole program on case after case, and looks for the smallest on which it differs.
class WholeCheck {
 public:
  WholeCheck(const CheckOptions& options, std::vector<reference::Power> powers,
             const std::vector<Claim>& claims, const Rational& within)
      : powers_(std::move(powers)),
        claims_(claims),
        within_(within),
        program_(options.program, limits_of(options)) {}

  /// The first of the smaller cases on which it differs, made smaller still.
  void look_ahead(const std::vector<lab::JudgedCase>& asked) {
    const auto first = lab::first_cases(asked);
    for (std::size_t i = 0; i < first.size() && !smallest_ && !is_late_; ++i) {
      std::optional<lab::TargetLaw> other;
      try {
        other = claims_.back().law(first[i]);
      } catch (const BadInput&) {
        continue;  // the algorithm has no law there
      }
      follow(i, first.size(), "looking ahead: " + first[i].model().name());
      try {
        const lab::KernelRow law = program_.law(first[i], powers_);
        const lab::LawComparison comparison = lab::compare_laws(law, *other, within_);
        if (!comparison.is_equal()) differs({first[i], law, comparison, 1}, true);
      } catch (const lab::TimeIsOver&) {
        is_late_ = true;
      } catch (const BadInput&) {
        break;  // nobody has asked for this case: the asked ones say what is wrong
      }
    }
    line_.clear();
  }

  WholeRow row(const lab::JudgedCase& judged, std::size_t number, std::size_t of) {
    WholeRow row;
    const ProgramClock clock(program_);
    follow(number, of, judged.model().name());
    try {
      row.answers = program_.law(judged, powers_);
      for (const Claim& claim : claims_)
        row.comparisons.push_back(lab::compare_laws(*row.answers, claim.law(judged), within_));
    } catch (const lab::TimeIsOver&) {
      is_late_ = true;
    } catch (const BadInput& failure) {
      if (!smallest_) throw;  // else what is known of a difference stays
      row.answers.reset();
      row.failure = failure.what();
    }
    line_.clear();
    row.seconds = clock.seconds();
    row.paths = clock.paths_of(program_.paths());
    return row;
  }

  /// Has found a case on which it differs, which is made smaller if it may be.
  void differs(const lab::DifferingCase& differing, bool may_shrink) {
    smallest_ = differing;
    follow(0, 1, "the smallest model on which they differ");
    try {
      if (may_shrink)
        smallest_ = lab::shrink_difference(
            [&](const lab::JudgedCase& one) { return program_.law(one, powers_); },
            claims_.back().law, differing.judged, within_);
      program_.law(smallest_->judged, powers_);
      draws_ = program_.path_to(smallest_->judged, {smallest_->comparison.difference->record});
    } catch (const lab::TimeIsOver&) {
      is_late_ = true;
    } catch (const BadInput&) {
      draws_.reset();  // it fails elsewhere in another way, too
    }
    line_.clear();
  }

  lab::ProgramKernel& program() { return program_; }
  const std::optional<lab::DifferingCase>& smallest() const { return smallest_; }
  const std::optional<lab::ProgramPath>& draws() const { return draws_; }
  bool is_late() const { return is_late_; }

 private:
  void follow(std::size_t number, std::size_t of, const std::string& doing) {
    program_.on_progress(
        [=, this, clock = ProgramClock(program_)](const lab::ProgramKernel::Progress& now) {
          line_.show_step(number, of, doing + ", " + clock.text(now));
        });
  }

  std::vector<reference::Power> powers_;
  const std::vector<Claim>& claims_;
  const Rational& within_;
  lab::ProgramKernel program_;
  ProgressLine line_;
  std::optional<lab::DifferingCase> smallest_;
  std::optional<lab::ProgramPath> draws_;
  bool is_late_ = false;
};

}  // namespace

void check_whole_program(const CheckOptions& options, bool names_horizon) {
  const Rational within = within_of(options);
  const auto powers = powers_of(options);
  const auto cases = asked_cases(options, names_horizon, 1);
  const bool is_law = options.target != "base" && !options.target.starts_with("power:");
  std::vector<lab::JudgedCase> judged;
  for (const AskedCase& asked : cases) {
    const auto model = asked.model();
    // A law of a file may name records that end open before the horizon: no case does.
    judged.emplace_back(model, asked.horizon,
                        target_of(is_law ? "base" : options.target, model, irrational_of(within)));
  }
  std::vector<Claim> claims{
      {"target " + options.target, [&](const lab::JudgedCase& one) {
         if (is_law) return *target_of(options.target, one.model(), irrational_of(within)).law;
         return lab::target_law(one);
       }}};
  if (!options.algorithm.empty()) {
    gpu::sampler_named(options.algorithm, "--algorithm");
    for (const lab::JudgedCase& one : judged)
      lab::defined_answer(run_of(options, one.horizon(), within),
                          one.model());  // or is refused now
    claims.push_back({options.algorithm, [&](const lab::JudgedCase& one) {
                        return lab::defined_answer(run_of(options, one.horizon(), within),
                                                   one.model());
                      }});
  }
  WholeCheck check(options, powers, claims, within);
  const ProgramClock clock(check.program());
  // What the verdict is about: the algorithm if one is named, else the target.
  const std::string& other = claims.back().name;
  if (!options.json) print_head(options, within);
  // The law of a file is that of the asked cases alone.
  const bool is_of_any_case = !is_law || claims.size() > 1;
  if (is_of_any_case) check.look_ahead(judged);
  const bool is_known = check.smallest().has_value();
  if (!options.json) {
    if (is_known) print_smallest(*check.smallest(), check.draws(), other);
    print_names(claims);
  }
  std::vector<WholeRow> rows;
  for (const lab::JudgedCase& one : judged) {
    const WholeRow& row = rows.emplace_back(check.row(one, rows.size(), judged.size()));
    if (!options.json) print_row(one, row, claims);
    if (row.answers && !row.comparisons.back().is_equal() && !check.smallest())
      check.differs({one, *row.answers, row.comparisons.back(), 1}, is_of_any_case);
    else
      continue;
    if (!options.json) print_smallest(*check.smallest(), check.draws(), other);
  }
  lab::ProgramKernel& program = check.program();
  const auto& smallest = check.smallest();
  const bool is_late = check.is_late();
  const double seconds = clock.seconds();
  if (options.json) {
    ordered_json json{{"program", options.program}, {"target", options.target}};
    json["algorithm"] =
        options.algorithm.empty() ? ordered_json(nullptr) : ordered_json(options.algorithm);
    json["within"] = reference::to_string(within);
    json["cases"] = ordered_json::array();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ordered_json row{{"model", cases[i].file}, {"horizon", cases[i].horizon}};
      row["decided"] = rows[i].answers.has_value();
      row["paths"] = rows[i].paths;
      row["seconds"] = rows[i].seconds;
      if (rows[i].answers) {
        lab::TargetLaw law;
        for (const auto& [answer, probability] : *rows[i].answers)
          if (answer != lab::lost_state) law[answer.front()] = probability;
        row["law"] = law_json(judged[i], law);
        row["target_law"] = law_json(judged[i], claims.front().law(judged[i]));
        row["target"] = comparison_json(judged[i], rows[i].comparisons.front());
        if (claims.size() > 1) {
          row["algorithm_law"] = law_json(judged[i], claims.back().law(judged[i]));
          row["algorithm"] = comparison_json(judged[i], rows[i].comparisons.back());
        }
      }
      json["cases"].push_back(std::move(row));
    }
    json["paths"] = program.paths();
    json["equal"] = smallest  ? ordered_json(false)
                    : is_late ? ordered_json(nullptr)
                              : ordered_json(true);
    json["smallest"] = nullptr;
    if (smallest) {
      json["smallest"] = {
          {"model", ordered_json::parse(lab::model_json(smallest->judged.model()))},
          {"horizon", smallest->judged.horizon()},
          {"tried", smallest->tried},
          {"draws", check.draws() ? path_text(*check.draws(),
                                              notation_of(smallest->comparison, check.draws()))
                                  : ""}};
      json["smallest"].update(comparison_json(smallest->judged, smallest->comparison));
    }
    add_notes(json, program);
    json["printed"] = program.printed();
    std::cout << json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  } else {
    print_printed(program.printed());
    for (const std::string& note : notes_of(program, true)) say(note);
    const std::string claim = claims.size() > 1 ? claims.back().name : "its target";
    std::printf("%s; %zu paths, %.0f a second\n",
                smallest  ? ("its answers are not those of " + claim).c_str()
                : is_late ? "not decided: the time was over"
                          : ("its answers have the law of " + claim + " on these models").c_str(),
                program.paths(), static_cast<double>(program.paths()) / std::max(seconds, 1e-3));
  }
  if (smallest) throw CLI::RuntimeError(1);
  if (is_late) throw CLI::RuntimeError(3);
}

}  // namespace tempera::cli
