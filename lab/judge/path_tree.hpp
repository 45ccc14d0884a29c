#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lab/judge/judged_case.hpp"

namespace tempera::lab {

/// One draw on a path of a program.
struct PathDraw {
  std::string address;  ///< file:line of the call, if the program says it
  std::size_t winner;
  reference::Rational probability;
};
using ProgramPath = std::vector<PathDraw>;

/// A path that has no end: it raised an error, or drew until it was cut off.
struct LostPath {
  std::string why;  ///< the text of the error
  std::string at;   ///< file:line, if the program says it
  ProgramPath draws;
  reference::Rational probability;
};

/// What a program's paths come to from a state, or from where it merges: where they end, and at
/// which merges they go on.
struct PathEnds {
  KernelRow ends;
  std::map<std::string, reference::Rational> merges;
  void add(const PathEnds& other);
};

/// The laws of what follows each merge of one run of a program, shared by the processes that walk
/// it, and by the states that it steps from.
class MergedPaths {
 public:
  /// Whether nobody has followed this merge yet.
  bool enter(const std::string& key);
  void add(const std::string& key, const PathEnds& part);
  /// Where the paths end that go on at merges: each law is resolved once. What goes round for ever
  /// ends at lost_state.
  /// @pre what follows every merge has been walked
  KernelRow resolved(const PathEnds& from);

 private:
  void resolve_all();

  std::mutex mutex_;
  std::map<std::string, PathEnds> laws_;
  std::map<std::string, KernelRow> known_;  // resolved
};

/// Adds up the tree of decisions that a forking program writes depth first: a decision, then the
/// subtree of each of its winners in turn.
class PathTree {
 public:
  /// is_first: of the processes that share out a tree, each of which walks all that is above where
  /// subtrees are dealt out: the first one's alone is counted.
  /// is_of_many: of the trees of several states, none dealt out, whose merges are followed once.
  explicit PathTree(MergedPaths& merged, bool is_first = true, bool is_of_many = false)
      : merged_(merged), is_first_(is_first), is_of_many_(is_of_many) {
    laws_.emplace_back();
  }

  void fork(const std::vector<reference::Rational>& tickets, const std::string& address,
            bool is_dealt);
  void end(const JudgedState& state);
  /// The present path has no end.
  void lose(const std::string& why, const std::string& at);
  /// A subtree that another process takes.
  void skip();
  /// Whether the program is to go on here, being the first.
  bool merge(const std::string& key);

  /// The whole law at once, of a program that is run again for each path, and the likeliest of its
  /// paths that have no end.
  void replace_by(const KernelRow& row, std::optional<LostPath> lost);

  /// Whether all subtrees are there.
  bool is_whole() const { return is_whole_; }
  std::size_t paths() const { return paths_; }
  std::size_t decisions() const { return open_.size(); }
  /// How much of the tree has been walked, from 0 to 1, if all winners of a decision have equal
  /// subtrees.
  double share_done() const;
  const PathEnds& ends() const { return laws_.front(); }
  /// The draws of the present path.
  ProgramPath path() const;
  /// The likeliest path that has no end.
  const std::optional<LostPath>& lost() const { return lost_; }
  /// Keeps the likeliest path to this state, for path_to().
  void look_for(const JudgedState& to) { wanted_ = to; }
  const std::optional<ProgramPath>& path_to() const { return found_; }

 private:
  struct Open {
    std::vector<std::pair<std::size_t, reference::Rational>> winners;  // with their probabilities
    std::size_t at = 0;
    std::string address;
    std::optional<std::string> merge;  // in place of a decision
    bool is_dealt = false;
  };
  void done();
  bool counts() const { return is_first_ || dealt_ > 0; }

  MergedPaths& merged_;
  std::vector<Open> open_;
  std::vector<reference::Rational> shares_{1};  // of the path down to each of open_
  std::vector<PathEnds> laws_;                  // of the whole, and of each merge on the path
  std::map<std::string, bool> own_merges_;      // above where subtrees are dealt out
  bool is_first_, is_of_many_;
  std::size_t dealt_ = 0;  // decisions on the path whose branches are dealt out
  std::size_t paths_ = 0;
  bool is_whole_ = false;
  std::optional<JudgedState> wanted_;
  std::optional<ProgramPath> found_;
  std::optional<LostPath> lost_;
  reference::Rational found_share_ = 0;
};

}  // namespace tempera::lab
