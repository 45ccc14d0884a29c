#include "lab/judge/path_tree.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"

namespace tempera::lab {

using reference::Rational;

namespace {

Rational probability_of(const ProgramPath& path) {
  Rational probability = 1;
  for (const PathDraw& draw : path) probability *= draw.probability;
  return probability;
}

}  // namespace

void PathEnds::add(const PathEnds& other) {
  for (const auto& [state, share] : other.ends) ends[state] += share;
  for (const auto& [key, share] : other.merges) merges[key] += share;
}

bool MergedPaths::enter(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  return laws_.try_emplace(key).second;
}

void MergedPaths::add(const std::string& key, const PathEnds& part) {
  const std::scoped_lock lock(mutex_);
  laws_[key].add(part);
}

// The laws are linear equations, law = ends + Σ share · law of a merge, in which a program that
// tries until it likes what it drew goes round. Each merge is put into those that go on at it, in
// an order in which what follows comes first where nothing goes round.
void MergedPaths::resolve_all() {
  std::map<std::string, PathEnds> open;
  std::map<std::string, std::set<std::string>> before;  // who goes on at a merge
  for (const auto& [key, law] : laws_) {
    if (known_.contains(key)) continue;
    PathEnds rest{law.ends, {}};
    for (const auto& [next, share] : law.merges) {
      if (const auto found = known_.find(next); found != known_.end()) {
        for (const auto& [state, part] : found->second) rest.ends[state] += share * part;
      } else {
        rest.merges[next] += share;
        before[next].insert(key);
      }
    }
    open.emplace(key, std::move(rest));
  }
  std::vector<std::string> eliminated;
  std::map<std::string, PathEnds> laws;                 // of each when it was eliminated
  std::set<std::pair<std::size_t, std::string>> queue;  // fewest merges to go on at first
  for (const auto& [key, law] : open) queue.emplace(law.merges.size(), key);
  while (!queue.empty()) {
    const std::string key = queue.begin()->second;
    queue.erase(queue.begin());
    PathEnds law = std::move(open.at(key));
    open.erase(key);
    if (const auto self = law.merges.find(key); self != law.merges.end()) {
      const Rational leaves = 1 - self->second;
      law.merges.erase(self);
      if (leaves == 0) {
        law.ends = {{lost_state, Rational(1)}};
      } else {
        for (auto& [state, share] : law.ends) share /= leaves;
        for (auto& [next, share] : law.merges) share /= leaves;
      }
    }
    for (const std::string& earlier : before[key]) {
      const auto other = open.find(earlier);
      if (other == open.end()) continue;
      const auto edge = other->second.merges.find(key);
      if (edge == other->second.merges.end()) continue;
      queue.erase({other->second.merges.size(), earlier});
      const Rational share = edge->second;
      other->second.merges.erase(edge);
      for (const auto& [state, part] : law.ends) other->second.ends[state] += share * part;
      for (const auto& [next, part] : law.merges) {
        other->second.merges[next] += share * part;
        before[next].insert(earlier);
      }
      queue.emplace(other->second.merges.size(), earlier);
    }
    eliminated.push_back(key);
    laws.emplace(key, std::move(law));
  }
  // What one went on at when it was eliminated was eliminated after it.
  for (auto key = eliminated.rbegin(); key != eliminated.rend(); ++key) {
    const PathEnds& law = laws.at(*key);
    KernelRow row = law.ends;
    for (const auto& [next, share] : law.merges)
      for (const auto& [state, part] : known_.at(next)) row[state] += share * part;
    known_.emplace(*key, std::move(row));
  }
}

KernelRow MergedPaths::resolved(const PathEnds& from) {
  if (known_.size() < laws_.size()) resolve_all();
  KernelRow row = from.ends;
  for (const auto& [key, share] : from.merges)
    for (const auto& [state, part] : known_.at(key)) row[state] += share * part;
  return row;
}

void PathTree::fork(const std::vector<Rational>& tickets, const std::string& address,
                    bool is_dealt) {
  Open node;
  Rational total = 0;
  for (const Rational& ticket : tickets) total += ticket;
  for (std::size_t i = 0; i < tickets.size(); ++i)
    if (tickets[i] != 0) node.winners.emplace_back(i, tickets[i] / total);
  node.address = address;
  node.is_dealt = is_dealt;
  dealt_ += is_dealt ? 1 : 0;
  shares_.push_back(shares_.back() * node.winners.front().second);
  open_.push_back(std::move(node));
}

void PathTree::end(const JudgedState& state) {
  ++paths_;
  if (counts()) laws_.back().ends[state] += shares_.back();
  if (wanted_ == state && shares_.back() > found_share_) {
    found_share_ = shares_.back();
    found_ = path();
  }
  done();
}

void PathTree::lose(const std::string& why, const std::string& at) {
  ++paths_;
  if (counts()) laws_.back().ends[lost_state] += shares_.back();
  const ProgramPath draws = path();
  const Rational probability = probability_of(draws);
  if (!lost_ || probability > lost_->probability) lost_ = {why, at, draws, probability};
  done();
}

void PathTree::skip() { done(); }

double PathTree::share_done() const {
  if (is_whole_) return 1.0;
  double done = 0.0, width = 1.0;
  for (const Open& node : open_) {
    if (node.merge) continue;
    width /= static_cast<double>(node.winners.size());
    done += width * static_cast<double>(node.at);
  }
  return done;
}

bool PathTree::merge(const std::string& key) {
  // Above where subtrees are dealt out every process goes the same way.
  const bool is_shared = dealt_ > 0 || is_of_many_;
  const std::string name = (is_shared ? "below " : "above ") + key;
  if (counts()) laws_.back().merges[name] += shares_.back();
  const bool is_new = is_shared ? merged_.enter(name) : own_merges_.emplace(name, true).second;
  if (!is_new) {
    done();
    return false;
  }
  Open node;
  node.merge = name;
  open_.push_back(std::move(node));
  shares_.emplace_back(1);
  laws_.emplace_back();
  return true;
}

void PathTree::done() {
  while (!open_.empty()) {
    Open& last = open_.back();
    shares_.pop_back();
    if (last.merge) {
      merged_.add(*last.merge, laws_.back());
      laws_.pop_back();
    } else {
      if (++last.at < last.winners.size()) {
        shares_.push_back(shares_.back() * last.winners[last.at].second);
        return;
      }
      dealt_ -= last.is_dealt ? 1 : 0;
    }
    open_.pop_back();
  }
  is_whole_ = true;
}

void PathTree::replace_by(const KernelRow& row, std::optional<LostPath> lost) {
  if (is_first_) laws_.front().ends = row;
  lost_ = std::move(lost);
  is_whole_ = true;
}

ProgramPath PathTree::path() const {
  ProgramPath path;
  for (const Open& node : open_)
    if (!node.merge)
      path.push_back({node.address, node.winners[node.at].first, node.winners[node.at].second});
  return path;
}

}  // namespace tempera::lab
