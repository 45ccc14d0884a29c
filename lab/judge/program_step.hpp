#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/enumerate/decision_walk.hpp"
#include "lab/judge/lost_paths.hpp"
#include "lab/judge/path_tree.hpp"
#include "lab/judge/program_requests.hpp"

namespace tempera::lab {

/// All paths of one step of a program from a state, each of its lines answered.
class ProgramStep {
 public:
  struct Settings {
    std::size_t requests = 10'000;   ///< of one path
    std::size_t records = 1;         ///< of a state
    bool is_pure = false;            ///< each path is run once
    std::size_t pass = 0;            ///< over the states: each follows merges anew
    bool is_every_path = false;      ///< nothing is merged that the program does not declare
    reference::Rational within = 0;  ///< mass that may be lost on paths without an end
    std::function<bool()> is_over;   ///< whether to give up
    /// Told of each path, and how much of the tree has been walked (0 if that is not known).
    std::function<void(double)> one_path;
    std::function<void(const std::string&)> seeded;  ///< told of each seed that the program says
  };
  ProgramStep(ChildProgram& program, const JudgedCase& judged, const Settings& settings)
      : program_(program), requests_(program, judged), judged_(judged), settings_(settings) {}

  /// What a process walks of the tree: part `mine` of `of`.
  struct Share {
    std::size_t mine = 0, of = 1;
  };
  /// @throw BadInput if the program misbehaves
  /// @throw Interrupted once is_over says so
  void run(const JudgedState& from, const Share& share, PathTree& tree);
  /// Whether it has said that it takes one case after another.
  bool takes_cases() const { return takes_cases_; }
  /// Lines that it has written on its way, to be compared with those of another run.
  const std::vector<std::string>& transcript() const { return transcript_; }
  void hold_against(const std::vector<std::string>& before) { before_ = &before; }
  /// Whether it has merged, so that what it writes depends on what others have followed.
  bool has_merged() const { return has_merged_; }

 private:
  using Decisions = DecisionWalk<reference::Rational>;

  /// A line of a program, and what it is answered.
  struct Exchange {
    std::string line, answer;
    enum class Kind { question, draw, below } kind = Kind::question;
  };
  class Ahead;
  /// Walks every path of a program that draws and does not fork, by running it again, each twice.
  /// Answers that are known are sent ahead of their requests.
  void replay(const JudgedState& from, const std::vector<std::string>& questions,
              const std::string& first_line, PathTree& tree);
  /// Follows a path to its end, whose first `known` exchanges have been before and are answered
  /// ahead. Nothing if it has none.
  std::optional<JudgedState> run_path(const JudgedState& from, Decisions& decisions, Ahead& ahead,
                                      std::string line, std::size_t known,
                                      std::vector<Exchange>& path, LostPath& lost);
  Exchange answered(const nlohmann::json& asked, const std::string& line, Decisions& decisions);
  [[noreturn]] void refuse_other(const JudgedState& from, const std::string& before,
                                 const std::string& now) const;
  [[noreturn]] void refuse_error(const JudgedState& from, const nlohmann::json& error,
                                 const PathTree& tree) const;
  void check_lost(const JudgedState& from, const std::optional<LostPath>& likeliest,
                  const reference::Rational& all) const;
  std::string key_of(const nlohmann::json& asked, const std::string& line) const;

  ChildProgram& program_;
  ProgramRequests requests_;
  const JudgedCase& judged_;
  const Settings& settings_;
  bool takes_cases_ = false, has_merged_ = false;
  std::map<std::string, Exchange> answers_;               // to questions that were asked before
  std::map<std::string, std::vector<Rational>> tickets_;  // of draws that were asked before
  std::vector<std::string> transcript_;
  const std::vector<std::string>* before_ = nullptr;
};

/// How all numbers of one counterexample are written, so that they can be compared: as fractions if
/// a person can read each of them, else as decimals.
class Notation {
 public:
  explicit Notation(const std::vector<reference::Rational>& numbers);
  std::string text_of(const reference::Rational& number) const;
  /// The draws of a path, in order: "sampler.py:12 1 with 1/3, …".
  std::string text_of(const ProgramPath& path) const;
  /// The last draws of a path that has no end.
  std::string text_of_last(const ProgramPath& path) const;

 private:
  bool is_of_fractions_;
};

/// What is said of a path that has no end: why, where, its probability and its last draws.
std::string text_of(const LostPath& lost);
/// The same without why.
std::string place_text(const LostPath& lost);

/// The numbers of a path, for the notation of what it is shown with.
std::vector<reference::Rational> numbers_of(const ProgramPath& path);

}  // namespace tempera::lab
