#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/columns.hpp"
#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/option_values.hpp"
#include "cli/progress_line.hpp"
#include "cli/shipped_tree.hpp"
#include "cli/standard_streams.hpp"
#include "gpu/input/in_quotes.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/claim.hpp"
#include "lab/defect_gallery/gallery.hpp"
#include "reference/bad_input.hpp"
#include "reference/in_quotes.hpp"

namespace tempera::cli {
namespace {

struct VerifyOptions {
  std::string tree;
  std::string only;
  bool json = false;
  bool in_full = false;
};

struct Line {
  lab::Claim claim;
  lab::Verdict verdict;
  double seconds = 0.0;
};

/// Runs each check once, whatever number of claims name it.
class Referee {
 public:
  explicit Referee(const std::string& tree)
      : evidence_{tree, lab::read_shipped_uses(tree)}, checks_(lab::all_checks()) {}

  /// @throw reference::BadInput if there is no such check
  void require_check(const lab::Claim& claim) const {
    if (claim.check && !checks_.contains(*claim.check))
      throw reference::BadInput(evidence_.tree + "/proofs/claims.json, claim " + claim.id,
                                "names the unknown check " + *claim.check,
                                "use a name of lab/claims/");
  }

  Line decide(const lab::Claim& claim) {
    Line line{claim, {}, 0.0};
    if (claim.check) {
      if (!known_.contains(*claim.check)) {
        const auto begin = std::chrono::steady_clock::now();
        const lab::Verdict verdict = checks_.at(*claim.check)(evidence_);
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        known_[*claim.check] = {verdict, elapsed.count()};
      }
      std::tie(line.verdict, line.seconds) = known_[*claim.check];
    } else {
      line.verdict = {true, "by proof"};
    }
    if (claim.theorem && !lab::theorem_is_stated(evidence_.tree, *claim.theorem))
      line.verdict = {false, "fails: proofs/ does not hold the theorem " + *claim.theorem};
    return line;
  }

 private:
  lab::Evidence evidence_;
  std::map<std::string, lab::Check> checks_;
  std::map<std::string, std::pair<lab::Verdict, double>> known_;
};

/// Verdict, kind, seconds, id and what was found; with --long below it the statement, its label in
/// the paper, the theorem and what the two do not cover.
void print(const Line& line, bool in_full) {
  constexpr std::size_t detail_begins = 61;
  constexpr std::size_t long_begins = 8;
  const lab::Claim& claim = line.claim;
  char row[256];
  std::snprintf(row, sizeof row, "%-5s %-11s %8.3f s  %-28s",
                line.verdict.holds ? "holds" : "FAILS", claim.kind.c_str(), line.seconds,
                fitted(claim.id, 28).c_str());
  std::string text = std::string("  ") + row + ' ' +
                     wrapped(line.verdict.detail, table_columns, detail_begins) + '\n';
  if (in_full) {
    const std::string indent(long_begins, ' ');
    std::string about = claim.statement + " [" + claim.label + ']';
    if (claim.theorem) about += "\nproof " + *claim.theorem;
    if (claim.missing) about += "\nnot covered: " + *claim.missing;
    text += indent + wrapped(about, table_columns, long_begins) + '\n';
  }
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

/// "77 claims hold, 0 fail: 52 exact, 5 compiled, 19 proved, 1 bitwise"
std::string counts(const std::vector<Line>& lines) {
  std::size_t held = 0;
  std::map<std::string, std::size_t> of_kind;
  for (const Line& line : lines) {
    if (line.verdict.holds) ++held;
    ++of_kind[line.claim.kind];
  }
  std::string text =
      std::to_string(held) + " claims hold, " + std::to_string(lines.size() - held) + " fail";
  const char* separator = ": ";
  for (const char* kind : {"exact", "compiled", "proved", "bitwise", "statistical"}) {
    if (!of_kind.contains(kind)) continue;
    text += separator + std::to_string(of_kind[kind]) + ' ' + kind;
    separator = ", ";
  }
  return text;
}

nlohmann::ordered_json to_json(const Line& line) {
  nlohmann::ordered_json json{
      {"id", line.claim.id},     {"label", line.claim.label},   {"statement", line.claim.statement},
      {"kind", line.claim.kind}, {"holds", line.verdict.holds}, {"detail", line.verdict.detail},
      {"seconds", line.seconds}};
  json["check"] = line.claim.check ? nlohmann::ordered_json(*line.claim.check) : nullptr;
  json["theorem"] = line.claim.theorem ? nlohmann::ordered_json(*line.claim.theorem) : nullptr;
  if (line.claim.missing) json["missing"] = *line.claim.missing;
  return json;
}

/// The gallery on one small model, for people to look at.
std::vector<lab::Exhibit> exhibits(const std::string& tree) {
  const reference::FiniteModel model =
      reference::load_finite_model(tree + "/toy_models/four_tokens.json");
  const lab::FiniteLogits logits(model);
  return lab::defect_gallery(logits.enumerable(), "four_tokens, horizon 3", 3, {1.0, 3.0});
}

void run_verify(const VerifyOptions& options) {
  const std::string tree = shipped_tree(options.tree);
  const std::string file = tree + "/proofs/claims.json";
  const auto claims = lab::read_claims(file);
  Referee referee(tree);
  std::vector<lab::Claim> asked;
  for (const lab::Claim& claim : claims)
    if (options.only.empty() || claim.id == options.only || claim.check == options.only)
      asked.push_back(claim);
  if (asked.empty())
    throw reference::BadInput(
        "--only", reference::in_quotes(options.only) + " is the name of no claim and of no check",
        "use an id of " + file);
  for (const lab::Claim& claim : asked) referee.require_check(claim);
  if (!options.json)
    std::printf("%s\n", wrapped("the claims of " + gpu::one_line(file) + ", each decided now",
                                table_columns, 2)
                            .c_str());
  std::vector<Line> lines;
  {
    ProgressLine progress;
    for (const lab::Claim& claim : asked) {
      progress.show_step(lines.size(), asked.size(), claim.id);
      lines.push_back(referee.decide(claim));
      progress.clear();
      if (!options.json) print(lines.back(), options.in_full);
    }
  }
  const auto failed = static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [](const Line& line) { return !line.verdict.holds; }));
  if (options.json) {
    nlohmann::ordered_json json{{"claims", nlohmann::ordered_json::array()}};
    for (const Line& line : lines) json["claims"].push_back(to_json(line));
    json["hold"] = lines.size() - failed;
    json["fail"] = failed;
    json["file"] = file;
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    if (options.only.empty()) {
      std::printf(
          "planted defects, each with the smallest pair of states that shows it: its compiled\n"
          "probability for the exact one\n");
      for (const lab::Exhibit& exhibit : exhibits(tree)) print(exhibit);
    }
    std::printf("Proofs are named by --long and checked by `make -C proofs`, which ./test runs.\n");
    std::printf("%s\n", counts(lines).c_str());
  }
  if (failed > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_verify(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "verify", "Decide every claim of proofs/claims.json now; non-zero exit if one fails");
  auto options = std::make_shared<VerifyOptions>();
  add_text(*command, "--tree", options->tree, "FOLDER", tree_help);
  add_text(*command, "--only", options->only, "NAME", "One claim's id, or one check's name");
  CLI::Option* in_full =
      command->add_flag("--long", options->in_full,
                        "Below each line the statement, its label in the paper, and the theorem");
  CLI::Option* json = command->add_flag("--json", options->json, "Print the table as JSON");
  command->footer(
      "Examples:\n  tempera verify\n  tempera verify --only four_state_tv\n  tempera verify "
      "--json");
  command->callback([=] {
    refuse_beside(*in_full, *json, "leave it out: --json holds all of it");
    run_verify(*options);
  });
}

}  // namespace tempera::cli
