#include "lab/law.hpp"

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/whole_number.hpp"

namespace tempera::cli {
namespace {

struct LawOptions {
  std::string model;
  std::size_t horizon = 0;
  std::vector<double> powers;
  std::vector<std::string> restart;
  bool json = false;
};

nlohmann::ordered_json to_json(const lab::LawReport& report) {
  nlohmann::ordered_json json;
  json["states"] = report.states;
  auto& matrix = json["matrix"] = nlohmann::ordered_json::array();
  for (std::size_t x = 0; x < report.matrix.rows(); ++x) {
    auto row = nlohmann::ordered_json::array();
    for (std::size_t y = 0; y < report.matrix.columns(); ++y)
      row.push_back(reference::to_string(report.matrix(x, y)));
    matrix.push_back(std::move(row));
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
  std::cout << "the compiled sampler on " << options.model << ", horizon " << options.horizon
            << ", powers";
  for (const double power : options.powers) std::cout << ' ' << power;
  std::cout << ": " << report.states.size() << " states, " << seconds << " s\n";
  std::cout << "  TV of its stationary law to the rational target  "
            << lab::to_scientific(report.tv_to_target) << "   (float32 logits included)\n"
            << "  TV to the target of its own float32 logits       "
            << lab::to_scientific(report.tv_own) << "   (the sampler's own error)\n"
            << "  TV after one step from that target               "
            << lab::to_scientific(report.tv_one_step) << '\n';
  if (report.worst_entry)
    std::cout << "  largest difference of an entry from reference/   "
              << lab::to_scientific(*report.worst_entry) << '\n';
  else
    std::cout
        << "  largest difference of an entry from reference/   not computed: a power is not an "
           "integer\n";
  std::cout << "stationary law:\n";
  for (std::size_t s = 0; s < report.states.size(); ++s)
    std::cout << "  " << lab::to_scientific(lab::to_real(report.stationary[s])) << "  "
              << report.states[s] << '\n';
}

void run_law(const LawOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  lab::LawQuestion question{options.horizon, options.powers, {}};
  for (const std::string& probability : options.restart)
    question.restart.push_back(reference::parse_rational(probability, "--restart"));
  if (!question.restart.empty()) reference::RestartLaw(question.restart, "--restart");
  const reference::FiniteModel model = reference::load_finite_model(options.model);
  const lab::FiniteLogits logits(model);
  const lab::LawReport report = lab::compiled_law(logits.enumerable(), &model, question);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (options.json)
    std::cout << to_json(report).dump() << '\n';
  else
    print(report, options, elapsed.count());
}

}  // namespace

void add_law(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "law", "The exact law of the compiled sampler on a finite model, by enumerating every draw");
  auto options = std::make_shared<LawOptions>();
  command->add_option("model", options->model, "Finite model (JSON)")->required();
  command->add_option("--horizon", options->horizon, "Horizon T in tokens")
      ->required()
      ->check(whole_number);
  CLI::Option* power = command->add_option("--power", options->powers,
                                           "Power of a single chain: its local move is enumerated");
  command
      ->add_option("--powers", options->powers,
                   "Powers of the ladder, such as 1,2: a local sweep and one ordered sweep are")
      ->delimiter(',')
      ->excludes(power);
  command
      ->add_option("--restart", options->restart,
                   "Restart law over 1..T as rationals, such as 1/2,1/4,1/4 (default: uniform)")
      ->delimiter(',');
  command->add_flag("--json", options->json, "Print the whole law as JSON, rationals as p/q");
  command->callback([options] {
    if (options->powers.empty())
      throw CLI::RequiredError("law: --power A or --powers A,B,...", CLI::ExitCodes::RequiredError);
    run_law(*options);
  });
}

}  // namespace tempera::cli
