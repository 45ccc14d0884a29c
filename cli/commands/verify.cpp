#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "base/disk.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "cli/commands/command.hpp"
#include "cli/commands/shipped_tree.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "cli/terminal/version.hpp"
#include "lab/claims/claim_processes.hpp"
#include "lab/claims/claim_runner.hpp"
#include "lab/defects/gallery.hpp"
#include "lab/report/mathematics.hpp"
#include "lab/report/report.hpp"

namespace tempera::cli {
namespace {

struct VerifyOptions {
  std::string tree;
  std::string only;
  std::string report;
  std::size_t processes = 0;  ///< 0: one for each core, 8 at most
  bool json = false;
  bool in_full = false;
};

/// Whether nothing is left to say of the claim but that it holds.
bool simply_holds(const lab::ClaimResult& line) {
  return line.outcome != lab::ClaimOutcome::refuted &&
         (line.claim.verdict == lab::Verdict::holds || line.claim.verdict == lab::Verdict::seen);
}

/// The claims in the order of the table: the paper's before tempera's own, and of each those that
/// do not simply hold first, then those that were seen to hold.
std::vector<lab::Claim> in_order(std::vector<lab::Claim> claims) {
  const auto rank = [](const lab::Claim& claim) {
    switch (claim.verdict) {
      case lab::Verdict::fails:
        return 0;
      case lab::Verdict::holds_if:
        return 1;
      case lab::Verdict::undecided:
        return 2;
      case lab::Verdict::seen:
        return 3;
      case lab::Verdict::holds:
        return 4;
    }
    return 4;
  };
  std::stable_sort(claims.begin(), claims.end(), [&](const lab::Claim& a, const lab::Claim& b) {
    if (a.is_papers() != b.is_papers()) return a.is_papers();
    return rank(a) < rank(b);
  });
  return claims;
}

/// Verdict, outcome, kind, id and what was found; of a claim by proof its theorem. Below it the
/// ground of a verdict other than that it holds, and what check and theorem do not cover, in one
/// line each; in full the statement, where and in which words the paper has it, and all of these.
void print(const lab::ClaimResult& line, bool in_full) {
  constexpr std::size_t detail_begins = 60;
  constexpr std::size_t below_begins = 8;
  const lab::Claim& claim = line.claim;
  const bool refuted = line.outcome == lab::ClaimOutcome::refuted;
  in_full = in_full || !simply_holds(line);
  // The id is as wide as a longer kind leaves it.
  const std::string kind = claim.kind.value_or("");
  const std::size_t id_columns = 28 - (std::max<std::size_t>(kind.size(), 8) - 8);
  char row[256];
  std::snprintf(row, sizeof row, "%-9s %-9s %-8s %-*s", lab::word_for(claim.verdict),
                refuted                                        ? "REFUTED"
                : line.outcome == lab::ClaimOutcome::undecided ? ""
                                                               : lab::word_for(line.outcome),
                kind.c_str(), static_cast<int>(id_columns), fitted(claim.id, id_columns).c_str());
  const std::string detail =
      line.outcome == lab::ClaimOutcome::undecided ? claim.nature : line.detail;
  std::string text =
      std::string("  ") + row + ' ' + wrapped(detail, table_columns, detail_begins) + '\n';
  const auto below = [&](const std::string& about) {
    text += std::string(below_begins, ' ') + about + '\n';
  };
  const auto cut_or_whole = [&](const std::string& about) {
    below(in_full ? wrapped(about, table_columns, below_begins)
                  : fitted(about, table_columns - below_begins));
  };
  if (in_full) {
    std::string labels = claim.label;
    for (const std::string& alias : claim.aliases) labels += ", " + alias;
    below(wrapped(claim.statement + " [" + claim.nature + ", " + labels + ']', table_columns,
                  below_begins));
    if (claim.quote)
      below(wrapped(*claim.place + ": \"" + lab::quoted_plainly(*claim.quote) + '"', table_columns,
                    below_begins));
  }
  if (claim.ground) cut_or_whole(lab::ground_for(claim.verdict) + (": " + *claim.ground));
  if (claim.theorem && (in_full || line.outcome == lab::ClaimOutcome::proof))
    below("theorem " + *claim.theorem);
  if (claim.missing) cut_or_whole("not covered: " + *claim.missing);
  std::fputs(text.c_str(), stdout);
  flush_output();
}

void print(const lab::Exhibit& exhibit) {
  const std::string indent(9, ' ');
  std::string text = (exhibit.caught ? "  caught " : "  MISSED ") + exhibit.defect + '\n';
  if (const auto& found = exhibit.caught)
    text += indent +
            wrapped(found->kernel + ": '" + found->x + "' to '" + found->y +
                        "': " + found->compiled + " for " + found->exact,
                    table_columns, indent.size()) +
            '\n';
  else
    text += indent + "on " + exhibit.model + '\n';
  std::fputs(text.c_str(), stdout);
}

nlohmann::ordered_json to_json(const std::optional<std::string>& text) {
  return text ? nlohmann::ordered_json(*text) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json to_json(const lab::ClaimResult& line) {
  return {{"id", line.claim.id},
          {"label", line.claim.label},
          {"aliases", line.claim.aliases},
          {"by", line.claim.is_papers() ? "paper" : "tempera"},
          {"quote", to_json(line.claim.quote)},
          {"place", to_json(line.claim.place)},
          {"statement", line.claim.statement},
          {"nature", line.claim.nature},
          {"kind", to_json(line.claim.kind)},
          {"verdict", lab::word_for(line.claim.verdict)},
          {"ground", to_json(line.claim.ground)},
          {"outcome", lab::word_for(line.outcome)},
          {"detail", line.detail},
          {"seconds", line.seconds},
          {"check", to_json(line.claim.check)},
          {"theorem", to_json(line.claim.theorem)},
          {"missing", to_json(line.claim.missing)}};
}

nlohmann::ordered_json counts_in_json(const std::vector<lab::ClaimResult>& lines) {
  return {{"claims", lines.size()},
          {"hold", lab::number_with(lines, lab::Verdict::holds)},
          {"seen", lab::number_with(lines, lab::Verdict::seen)},
          {"hold_if", lab::number_with(lines, lab::Verdict::holds_if)},
          {"fail", lab::number_with(lines, lab::Verdict::fails)},
          {"undecided", lab::number_with(lines, lab::Verdict::undecided)},
          {"confirmed", lab::number_with(lines, lab::ClaimOutcome::confirmed)},
          {"proof", lab::number_with(lines, lab::ClaimOutcome::proof)},
          {"refuted", lab::number_with(lines, lab::ClaimOutcome::refuted)}};
}

/// The decisions of the paper's claims, or of tempera's own.
std::vector<lab::ClaimResult> those_of(const std::vector<lab::ClaimResult>& lines, bool paper) {
  std::vector<lab::ClaimResult> some;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(some),
               [&](const lab::ClaimResult& line) { return line.claim.is_papers() == paper; });
  return some;
}

nlohmann::ordered_json to_json(const lab::Exhibit& exhibit) {
  nlohmann::ordered_json json{{"defect", exhibit.defect}, {"model", exhibit.model}};
  json["caught"] = nullptr;
  if (const auto& found = exhibit.caught)
    json["caught"] = {{"kernel", found->kernel},
                      {"x", found->x},
                      {"y", found->y},
                      {"compiled", found->compiled},
                      {"exact", found->exact}};
  return json;
}

/// The small model on which the planted defects are shown.
reference::FiniteModel shown_on(const std::string& tree) {
  return reference::load_finite_model(tree + "/toy_models/four_tokens.json");
}

/// The gallery on one small model, for people to look at.
std::vector<lab::Exhibit> exhibits(const std::string& tree) {
  const lab::FiniteLogits logits(shown_on(tree));
  return lab::defect_gallery(logits.enumerable(), "four_tokens, horizon 3", 3, {1.0, 3.0});
}

/// This binary, in a line.
std::string made_by() {
  std::string text = version_text();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string line;
  for (const char c : text) {
    if (c == '\n')
      line += ", ";
    else if (c != ' ' || line.back() != ' ')
      line += c;
  }
  return line;
}

/// Writes the page, whole or not at all. Returns how many defects of its gallery are missed.
std::size_t write_report(const std::string& file, const std::string& tree,
                         const std::vector<lab::ClaimResult>& decisions) {
  lab::Report report{made_by(), decisions, {}, lab::read_shipped_uses(tree), {}};
  for (const lab::ClaimResult& decision : decisions)
    if (decision.claim.theorem)
      report.theorems[*decision.claim.theorem] =
          lab::theorem_as_written(tree, *decision.claim.theorem);
  {
    ProgressLine line;
    report.defects = lab::hunt_all(
        shown_on(tree), [&](std::size_t done, std::size_t number, const std::string& next) {
          line.show_step(done, number, next);
        });
  }
  Disk::real().replace(file, lab::report_page(report));
  return static_cast<std::size_t>(
      std::count_if(report.defects.begin(), report.defects.end(),
                    [](const lab::DefectFound& found) { return !found.caught; }));
}

/// More would not help: the longest check takes a fifth of the time of all.
std::size_t processes_of(const VerifyOptions& options) {
  constexpr std::size_t most = 8;
  if (options.processes > 0) return options.processes;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most);
}

void run_verify(const VerifyOptions& options) {
  // Now, and not after a minute of checks.
  if (!options.report.empty()) Disk::real().require_replaceable(options.report);
  const std::string tree = shipped_tree(options.tree);
  const std::string file = tree + "/proofs/claims.json";
  const auto claims = lab::read_claims(file);
  const lab::ClaimRunner runner(tree);
  std::vector<lab::Claim> asked;
  for (const lab::Claim& claim : claims)
    if (options.only.empty() || claim.id == options.only || claim.check == options.only)
      asked.push_back(claim);
  asked = in_order(std::move(asked));
  if (asked.empty())
    throw BadInput("--only", in_quotes(options.only) + " is the name of no claim and of no check",
                   "use an id of " + file);
  for (const lab::Claim& claim : asked) runner.require_check(claim);
  if (!options.json)
    std::printf("%s\n",
                wrapped("the claims in proofs/claims.json: the verdict on each, and how this run "
                        "checked it. Confirmed: the claim's check computed that verdict; proof: by "
                        "a theorem that `make -C proofs` checks, as ./test does; seen: on "
                        "everything that was tried, of a statement that covers more",
                        table_columns, 2)
                    .c_str());
  std::vector<lab::ClaimResult> lines;
  std::vector<lab::Exhibit> shown;
  {
    ProgressLine progress;
    const auto begins = [&](const lab::Claim& next) {
      progress.show_step(lines.size(), asked.size(), next.id);
    };
    lab::decide_claims(runner, asked, processes_of(options), begins, [&](lab::ClaimResult decided) {
      lines.push_back(std::move(decided));
      progress.clear();
      if (options.json) return;
      const lab::Claim& claim = lines.back().claim;
      if (options.only.empty() &&
          (lines.size() == 1 || claim.is_papers() != lines[lines.size() - 2].claim.is_papers()))
        std::printf("\n%s\n", claim.is_papers() ? "the paper's claims"
                                                : "tempera's own promises and remarks");
      print(lines.back(), options.in_full || !options.only.empty());
    });
  }
  if (options.only.empty()) shown = exhibits(tree);
  const auto missed = static_cast<std::size_t>(std::count_if(
      shown.begin(), shown.end(), [](const lab::Exhibit& exhibit) { return !exhibit.caught; }));
  const std::size_t missed_in_report =
      options.report.empty() ? 0 : write_report(options.report, tree, lines);
  if (options.json) {
    nlohmann::ordered_json json{{"claims", nlohmann::ordered_json::array()}};
    for (const lab::ClaimResult& line : lines) json["claims"].push_back(to_json(line));
    const nlohmann::ordered_json counts = counts_in_json(lines);
    for (const auto& [key, number] : counts.items())
      if (key != "claims") json[key] = number;
    json["paper"] = counts_in_json(those_of(lines, true));
    json["tempera"] = counts_in_json(those_of(lines, false));
    json["defects"] = nlohmann::ordered_json::array();
    for (const lab::Exhibit& exhibit : shown) json["defects"].push_back(to_json(exhibit));
    json["missed"] = missed;
    json["file"] = file;
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    if (!shown.empty())
      std::printf(
          "\nplanted defects, each with the smallest pair of states that shows it: its compiled\n"
          "probability for the exact one\n");
    for (const lab::Exhibit& exhibit : shown) print(exhibit);
    if (missed > 0) std::printf("%zu planted defects are missed\n", missed);
    if (missed_in_report > 0)
      std::printf("%zu defects of the report's gallery are missed\n", missed_in_report);
    const auto of_paper = those_of(lines, true), own = those_of(lines, false);
    if (!of_paper.empty() && !own.empty())
      for (const auto& [who, whose] :
           {std::pair{"the paper: ", &of_paper}, std::pair{"tempera's own: ", &own}})
        std::printf("%s\n", wrapped(who + lab::counts_of(*whose), table_columns, 4).c_str());
    std::printf("%s\n", lab::counts_of(lines).c_str());
  }
  if (lab::number_with(lines, lab::ClaimOutcome::refuted) > 0 || missed + missed_in_report > 0)
    throw CLI::RuntimeError(1);
}

}  // namespace

void add_verify(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "verify",
      "Say of every claim of proofs/claims.json whether it holds, fails as it is printed or cannot "
      "be decided, confirmed now by its check or by the theorem named. Shows the planted defects "
      "too; non-zero exit if a check refutes a recorded verdict or a defect is missed");
  auto options = std::make_shared<VerifyOptions>();
  add_text(*command, "--tree", options->tree, "FOLDER", tree_help);
  CLI::Option* only = add_text(*command, "--only", options->only, "NAME",
                               "One claim's id, or one check's name; told as with --long");
  CLI::Option* report =
      add_text(*command, "--report", options->report, "FILE",
               "Also write one HTML page of it all, with total variations, ladders and the whole "
               "gallery drawn");
  CLI::Option* in_full = command->add_flag(
      "--long", options->in_full,
      "Below every line, as below those that do not simply hold: the statement, the "
      "paper's words and their place, the theorem, all of the verdict's ground and "
      "of what is not covered");
  add_whole_number(
      *command, "--processes", options->processes, {1, 256},
      "Processes that decide claims at a time; their number changes no result (default: one for "
      "each core, 8 at most)");
  CLI::Option* json = command->add_flag("--json", options->json, "Print the table as JSON");
  command->footer(
      "Examples:\n  tempera verify\n  tempera verify --report report.html\n  tempera verify --only "
      "tv-at-two\n  tempera verify "
      "--json");
  command->callback([=] {
    refuse_beside(*in_full, *json, "leave it out: --json holds all of it");
    refuse_beside(*only, *report, "leave it out: the report tells of all claims");
    run_verify(*options);
  });
}

}  // namespace tempera::cli
