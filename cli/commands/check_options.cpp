#include "cli/commands/check_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/json_document.hpp"
#include "base/text_file.hpp"
#include "cli/commands/fractions.hpp"
#include "cli/commands/shipped_tree.hpp"
#include "cli/terminal/columns.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/option_values.hpp"
#include "lab/judge/default_cases.hpp"
#include "lab/judge/drawn_models.hpp"

namespace tempera::cli {
namespace {

using reference::Rational;

/// The law of a file, in the tokens of a model.
lab::JudgedTarget law_of_file(const std::string& path, const reference::FiniteModel& model) {
  const std::string form = "write {\"states\": {\"a e\": \"1/3\", ...}}";
  const auto document =
      parse_json(read_text_file(path, "give power:P, powers:P,P, base or a file"), path);
  const JsonObject object(document, path, form);
  object.check_keys({"states"}, {});
  const JsonObject states = object.object("states");
  lab::JudgedTarget target;
  target.law.emplace();
  for (const auto& [name, value] : object.at("states").items()) {
    std::vector<reference::Token> tokens;
    for (std::size_t begin = 0; begin <= name.size() && !name.empty();) {
      const std::size_t end = std::min(name.find(' ', begin), name.size());
      const auto token = model.find_token(name.substr(begin, end - begin));
      if (!token)
        throw BadInput(path,
                       states.path_of(name) + " has a token that " + model.source() + " lacks",
                       "join its tokens by one space");
      tokens.push_back(*token);
      begin = end + 1;
    }
    (*target.law)[tokens] =
        reference::parse_rational(states.text(name), path + ": " + states.path_of(name));
  }
  return target;
}

}  // namespace

lab::JudgedTarget target_of(const std::string& text, const reference::FiniteModel& model,
                            reference::Irrational irrational) {
  const auto powers = [&](const std::string& list) {
    lab::JudgedTarget target;
    for (const Rational& power : parse_fractions(list, "--target"))
      target.powers.emplace_back(power, "--target", irrational);
    return target;
  };
  if (text == "base") return powers("1");
  if (text.starts_with("power:")) {
    lab::JudgedTarget target = powers(text.substr(6));
    if (target.powers.size() > 1)
      throw BadInput("--target", in_quotes(text) + " has several powers",
                     "give powers:" + text.substr(6) + " for a state of several records");
    return target;
  }
  if (text.starts_with("powers:")) return powers(text.substr(7));
  return law_of_file(text, model);
}

reference::Irrational irrational_of(const Rational& within) {
  return within > 0 ? reference::Irrational::rounded : reference::Irrational::refused;
}

std::size_t rungs_of(const std::string& target) {
  return target.starts_with("powers:") ? parts_between_commas(target).size() : 1;
}

namespace {

std::vector<AskedCase> named_cases(const CheckOptions& options, bool names_horizon,
                                   std::size_t rungs) {
  if (!options.models.empty()) {
    std::vector<AskedCase> cases;
    for (const std::string& file : parts_between_commas(options.models))
      cases.push_back({file, options.horizon});
    return cases;
  }
  std::vector<AskedCase> cases;
  for (const lab::DefaultCase& one : lab::default_cases(shipped_tree(options.tree), rungs)) {
    const bool is_known = std::any_of(
        cases.begin(), cases.end(), [&](const AskedCase& asked) { return asked.file == one.file; });
    if (!names_horizon)
      cases.push_back({one.file, one.horizon});
    else if (one.at_any_horizon && !is_known)
      cases.push_back({one.file, options.horizon});
  }
  return cases;
}

}  // namespace

std::vector<AskedCase> asked_cases(const CheckOptions& options, bool names_horizon,
                                   std::size_t rungs) {
  std::vector<AskedCase> cases = named_cases(options, names_horizon, rungs);
  for (std::size_t i = 0; i < options.random; ++i) {
    auto model = lab::drawn_model(options.seed, i);
    const std::size_t horizon = lab::horizon_of_few_states(model, rungs, options.horizon);
    cases.push_back({model.name(), horizon, std::move(model)});
  }
  return cases;
}

std::vector<std::string> notes_of(const lab::ProgramKernel& program, bool is_whole) {
  std::vector<std::string> notes;
  if (const auto& loss = program.loss())
    notes.push_back("left out: paths without an end, the likeliest from (" + loss->from +
                    ") of model " + loss->model + ", horizon " + std::to_string(loss->horizon) +
                    ": " + lab::text_of(loss->path));
  for (const std::string& seed : program.seeds())
    notes.push_back(is_whole ? "seed given by the program and left out: " + seed
                             : "seeded within a step, and answered by its own stream, which is the "
                               "same in every step: " +
                                   seed);
  return notes;
}

void add_notes(nlohmann::ordered_json& json, const lab::ProgramKernel& program) {
  json["lost"] = nullptr;
  if (const auto& loss = program.loss()) {
    const lab::Notation notation(lab::numbers_of(loss->path.draws));
    json["lost"] = {{"model", loss->model},
                    {"horizon", loss->horizon},
                    {"from", loss->from},
                    {"why", loss->path.why},
                    {"at", loss->path.at},
                    {"probability", reference::to_string(loss->path.probability)},
                    {"draws", path_text(loss->path.draws, notation)}};
  }
  json["seeds"] = program.seeds();
}

Rational within_of(const CheckOptions& options) {
  if (options.within.empty()) return 0;
  const std::size_t e = options.within.find_first_of("eE");
  Rational within = parse_fraction(options.within.substr(0, e), "--within");
  if (e != std::string::npos) {
    const std::string digits = options.within.substr(e + 1);
    if (!digits.starts_with("-"))
      throw BadInput("--within", in_quotes(options.within) + " has no negative exponent",
                     "write 1e-9");
    for (auto n = parse_whole_number(digits.substr(1), "--within", {1, 300}); n > 0; --n)
      within /= 10;
  }
  if (within < 0)
    throw BadInput("--within", "is below 0", "give what rounding may do, such as 1e-12");
  return within;
}

lab::ProgramKernel::Limits limits_of(const CheckOptions& options) {
  lab::ProgramKernel::Limits limits;
  limits.timeout = std::chrono::seconds(options.timeout);
  limits.processes = options.processes > 0
                         ? options.processes
                         : std::max<std::size_t>(1, std::thread::hardware_concurrency());
  limits.is_pure = options.is_pure;
  limits.is_every_path = options.is_every_path;
  limits.within = within_of(options);
  if (options.seconds > 0.0)
    limits.until = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                       std::chrono::duration<double>(options.seconds));
  return limits;
}

std::string shown(const Rational& value) {
  return lab::Notation(std::vector<Rational>{value}).text_of(value);
}

void say(const std::string& text) {
  std::printf("  %s\n", wrapped(text, table_columns, 4).c_str());
}

void print_printed(const std::vector<std::string>& lines) {
  constexpr std::size_t most = 10;
  if (lines.empty()) return;
  std::printf("the program printed%s:\n", lines.size() > most ? ", among other lines" : "");
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
    std::printf("  | %s\n", fitted(lines[i], table_columns - 4).c_str());
}

bool is_symmetric(const lab::JudgedCase& judged) {
  std::map<std::size_t, Rational> of_length;
  const reference::FixedHorizonSpace space(judged.model(), judged.horizon());
  for (std::size_t x = 0; x < space.size(); ++x)
    if (of_length.try_emplace(space[x].tokens.size(), space.likelihood(x)).first->second !=
        space.likelihood(x))
      return false;
  return true;
}

double ProgramClock::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::string ProgramClock::text(const lab::ProgramKernel::Progress& now) const {
  const double seconds = this->seconds();
  const std::size_t paths = paths_of(now.paths);
  const auto whole = [](double x) { return std::to_string(std::llround(x)); };
  std::string text = std::to_string(paths) + " paths, " +
                     whole(static_cast<double>(paths) / std::max(seconds, 1e-3)) + " a second";
  if (now.share > 0.0 && now.share <= 1.0)
    text += ", " + whole(100.0 * now.share) + " % of this model, about " +
            whole(seconds * (1.0 - now.share) / now.share) + " s more for it";
  return text;
}

std::string path_text(const lab::ProgramPath& path, const lab::Notation& notation) {
  return path.empty() ? "without a draw" : "by the draws " + notation.text_of(path);
}

}  // namespace tempera::cli
