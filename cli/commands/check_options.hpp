#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/judge/program_kernel.hpp"
#include "lab/judge/program_step.hpp"
#include "reference/numbers/rational.hpp"
#include "settings/exact_wish.hpp"

// What `tempera check` is asked, and what judging a kernel and judging a whole program share.
namespace tempera::cli {

struct CheckOptions {
  std::string program, models, target = "power:2", within, tree;
  std::size_t horizon = 3;
  std::size_t timeout = 60, processes = 0;
  std::size_t random = 0, seed = 0;  ///< drawn models, and what names them
  double seconds = 0.0;              ///< 0: as long as it takes
  bool json = false, is_whole = false, is_pure = false, is_every_path = false;
  // What names the algorithm that a whole program is compared with.
  std::string algorithm, powers;
  gpu::ExactWish wish;  ///< how the algorithm runs
};

struct AskedCase {
  std::string file;  ///< or the name of a drawn model
  std::size_t horizon;
  std::optional<reference::FiniteModel> drawn = std::nullopt;
  reference::FiniteModel model() const {
    return drawn ? *drawn : reference::load_finite_model(file);
  }
};

/// The cases to judge, those of short horizons first.
std::vector<AskedCase> asked_cases(const CheckOptions& options, bool names_horizon,
                                   std::size_t rungs);
/// How far rounding may move a probability: a fraction, a decimal, or 1e-9.
reference::Rational within_of(const CheckOptions& options);
/// power:P, powers:P,P, base, or a file with a law over records.
lab::JudgedTarget target_of(const std::string& text, const reference::FiniteModel& model,
                            reference::Irrational irrational);
/// Whether powers may be irrational: rounded, if rounding is allowed for.
reference::Irrational irrational_of(const reference::Rational& within);
std::size_t rungs_of(const std::string& target);
lab::ProgramKernel::Limits limits_of(const CheckOptions& options);

/// One number by itself: a fraction that a person can read, else its decimal.
std::string shown(const reference::Rational& value);
/// Prints the text in the lines beneath a table.
void say(const std::string& text);
/// What the program printed, and if it fails its traceback.
void print_printed(const std::vector<std::string>& lines);
/// Whether records of one length all have one probability, so that mistakes between them are
/// unseen.
bool is_symmetric(const lab::JudgedCase& judged);
/// What a program takes from now on: for one case, say.
class ProgramClock {
 public:
  explicit ProgramClock(const lab::ProgramKernel& program) : before_(program.paths()) {}
  double seconds() const;
  /// How far the case is that is walked.
  std::string text(const lab::ProgramKernel::Progress& now) const;
  /// How many paths of all those were run since then.
  std::size_t paths_of(std::size_t all) const { return all - before_; }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t before_;
};
/// "by the draws …"
std::string path_text(const lab::ProgramPath& path, const lab::Notation& notation);

/// What was left out of the laws and which seeds were given, in sentences.
std::vector<std::string> notes_of(const lab::ProgramKernel& program, bool is_whole);
/// The same as JSON: "lost" and "seeds".
void add_notes(nlohmann::ordered_json& json, const lab::ProgramKernel& program);

void check_kernel(const CheckOptions& options, bool names_horizon);
void check_whole_program(const CheckOptions& options, bool names_horizon);

}  // namespace tempera::cli
