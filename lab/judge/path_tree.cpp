#include "lab/judge/path_tree.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tempera::lab {

using reference::Rational;

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

KernelRow MergedPaths::resolved(const PathEnds& from) {
  // Depth first without recursion: a law is resolved once all that it goes on to are.
  const auto is_ready = [&](const PathEnds& law, std::vector<std::string>& missing) {
    for (const auto& [key, share] : law.merges)
      if (!known_.contains(key)) missing.push_back(key);
    return missing.empty();
  };
  const auto sum = [&](const PathEnds& law) {
    KernelRow row = law.ends;
    for (const auto& [key, share] : law.merges)
      for (const auto& [state, part] : known_.at(key)) row[state] += share * part;
    return row;
  };
  std::vector<std::string> open;
  for (const auto& [key, share] : from.merges) open.push_back(key);
  while (!open.empty()) {
    const std::string key = open.back();
    std::vector<std::string> missing;
    if (open.size() > 1'000'000) throw Bug("a merge follows from itself");
    if (known_.contains(key)) {
      open.pop_back();
    } else if (is_ready(laws_.at(key), missing)) {
      known_.emplace(key, sum(laws_.at(key)));
      open.pop_back();
    } else {
      open.insert(open.end(), missing.begin(), missing.end());
    }
  }
  return sum(from);
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

void PathTree::replace_by(const KernelRow& row) {
  if (is_first_) laws_.front().ends = row;
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
