#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/option_values.hpp"
#include "cli/progress_line.hpp"
#include "cli/standard_streams.hpp"
#include "lab/claims/checks.hpp"
#include "lab/claims/claim.hpp"
#include "lab/defect_gallery/gallery.hpp"
#include "reference/bad_input.hpp"

namespace tempera::cli {
namespace {

struct VerifyOptions {
  std::string tree = TEMPERA_SOURCE_DIR;
  std::string only;
  bool json = false;
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

void print(const Line& line) {
  std::printf("  %-6s %-8s %7.3f s  %s  [%s]  %s%s\n", line.verdict.holds ? "holds" : "FAILS",
              line.claim.kind.c_str(), line.seconds, line.claim.statement.c_str(),
              line.claim.label.c_str(), line.verdict.detail.c_str(),
              line.claim.theorem ? ("; proof " + *line.claim.theorem).c_str() : "");
  flush_output();
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
  const auto claims = lab::read_claims(options.tree + "/proofs/claims.json");
  Referee referee(options.tree);
  std::vector<lab::Claim> asked;
  for (const lab::Claim& claim : claims)
    if (options.only.empty() || claim.id == options.only || claim.check == options.only)
      asked.push_back(claim);
  if (asked.empty())
    throw reference::BadInput("--only " + options.only, "no claim and no check has this name",
                              "use an id of proofs/claims.json");
  for (const lab::Claim& claim : asked) referee.require_check(claim);
  std::size_t held = 0;
  std::size_t failed = 0;
  nlohmann::ordered_json json{{"claims", nlohmann::ordered_json::array()}};
  if (!options.json) std::printf("claims of the paper and of tempera, each decided now\n");
  ProgressLine progress;
  for (const lab::Claim& claim : asked) {
    progress.show_step(held + failed, asked.size(), claim.id);
    const Line line = referee.decide(claim);
    progress.clear();
    ++(line.verdict.holds ? held : failed);
    if (options.json)
      json["claims"].push_back(to_json(line));
    else
      print(line);
  }
  if (!options.json) {
    if (options.only.empty()) {
      std::printf(
          "planted defects, each with the smallest pair of states that shows it "
          "(compiled probability for the exact one)\n");
      for (const lab::Exhibit& exhibit : exhibits(options.tree)) {
        if (exhibit.caught)
          std::printf("  caught %-48s %s: '%s' to '%s': %s for %s\n", exhibit.defect.c_str(),
                      exhibit.caught->kernel.c_str(), exhibit.caught->x.c_str(),
                      exhibit.caught->y.c_str(), exhibit.caught->compiled.c_str(),
                      exhibit.caught->exact.c_str());
        else
          std::printf("  MISSED %s on %s\n", exhibit.defect.c_str(), exhibit.model.c_str());
      }
    }
    std::printf(
        "%zu claims hold, %zu fail. Proofs are named here and checked by `make -C proofs`, "
        "which ./test runs.\n",
        held, failed);
  } else {
    json["hold"] = held;
    json["fail"] = failed;
    std::cout << json.dump() << '\n';
  }
  if (failed > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_verify(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "verify", "Decide every claim of proofs/claims.json now; non-zero exit if one fails");
  auto options = std::make_shared<VerifyOptions>();
  add_text(*command, "--tree", options->tree, "FOLDER",
           "Source tree of tempera, for claims and models (default: the one that this command was "
           "built from)");
  add_text(*command, "--only", options->only, "NAME", "One claim's id, or one check's name");
  command->add_flag("--json", options->json, "Print the table as JSON");
  command->footer(
      "Examples:\n  tempera verify\n  tempera verify --only four_state_tv\n  tempera verify "
      "--json");
  command->callback([options] { run_verify(*options); });
}

}  // namespace tempera::cli
