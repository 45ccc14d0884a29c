#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "gpu/core/engine/fair_queue.hpp"

namespace tempera::gpu {

/// Who has memory first, of those that wait for a pass and of those in the batch that is being
/// made.
///
/// Clients may hold caches in equal numbers, and so may the requests of one client: whoever holds
/// the most gives way, by its last. Within a request the caches have their order. Whoever asks
/// ahead of time gives way to all who do not. Every operation takes a time that grows with the
/// number of shares, and only with the logarithm of the number of those who wait.
template <class Waiter>
class MemoryOrder {
 public:
  /// Smaller is first: whether it was asked ahead of time, the cache's number, and the number of
  /// the wait.
  using Rank = std::tuple<bool, std::uint64_t, std::uint64_t>;
  struct Place {
    Share share;
    Rank rank;
  };

  /// holds: whether it has something to give back.
  void join(const Place& place, Waiter* waiter, bool holds) {
    line_of(place).waiting.emplace(place.rank, waiter);
    if (holds) hold(place, waiter);
  }
  /// Takes it out altogether. Nothing happens if it is not there.
  void leave(const Place& place) {
    let_go(place);
    const auto client = clients_.find(place.share.client);
    if (client == clients_.end()) return;
    const auto line = client->second.lines.find(place.share.request);
    if (line == client->second.lines.end()) return;
    line->second.waiting.erase(place.rank);
    if (!line->second.waiting.empty() || !line->second.holding.empty()) return;
    client->second.lines.erase(line);
    if (client->second.lines.empty()) clients_.erase(client);
  }
  /// It waits no more: it is in the batch, where it holds what the pass takes. @pre it waits
  void take(const Place& place) {
    Line& line = line_of(place);
    const auto waiting = line.waiting.find(place.rank);
    hold(place, waiting->second);
    line.waiting.erase(waiting);
  }
  /// It has nothing to give back any more, and waits on.
  void let_go(const Place& place) {
    const auto client = clients_.find(place.share.client);
    if (client == clients_.end()) return;
    const auto line = client->second.lines.find(place.share.request);
    if (line != client->second.lines.end())
      client->second.holding -= line->second.holding.erase(place.rank);
  }

  /// The first of all that wait; null if none does.
  Waiter* first() const {
    const typename Line::Waiters::value_type* found = nullptr;
    for (const auto& [number, client] : clients_)
      for (const auto& [request, line] : client.lines)
        if (!line.waiting.empty() &&
            (found == nullptr || line.waiting.begin()->first < found->first))
          found = &*line.waiting.begin();
    return found == nullptr ? nullptr : found->second;
  }
  /// The first of a share. @pre one of it waits
  Waiter* first(const Share& share) const {
    return clients_.at(share.client).lines.at(share.request).waiting.begin()->second;
  }

  /// Who is to give back what it holds for the one at this place; null if there is none.
  /// is_first: whether it is the first of all, to which everybody gives way.
  Waiter* gives_way_to(const Place& place, bool is_first) const {
    const bool is_ahead = std::get<0>(place.rank);
    if (!is_ahead)
      for (const auto& [number, client] : clients_)
        for (const auto& [request, line] : client.lines)
          if (line.holds_ahead()) return line.last();
    const Client& client = clients_.at(place.share.client);
    const Line& own = client.lines.at(place.share.request);
    const std::size_t itself = own.holding.contains(place.rank) ? 0 : 1;
    const auto gives = [&](const Line* line) {
      return line != nullptr && (!is_ahead || line->holds_ahead());
    };
    const Client* largest = nullptr;
    for (const auto& [number, other] : clients_)
      if (&other != &client && (largest == nullptr || largest->holding < other.holding))
        largest = &other;
    if (largest != nullptr && largest->holding > (is_first ? 0 : client.holding + itself))
      if (const Line* line = largest->largest_but(nullptr); gives(line)) return line->last();
    const Line* const other = client.largest_but(&own);
    if (gives(other) && other->holding.size() > (is_first ? 0 : own.holding.size() + itself))
      return other->last();
    if (own.holding.empty() || own.holding.rbegin()->first <= place.rank) return nullptr;
    return own.last();
  }

 private:
  /// A request's own.
  struct Line {
    using Waiters = std::map<Rank, Waiter*>;
    Waiters waiting;
    Waiters holding;

    Waiter* last() const { return holding.rbegin()->second; }
    bool holds_ahead() const { return !holding.empty() && std::get<0>(holding.rbegin()->first); }
  };
  struct Client {
    std::map<std::uint64_t, Line> lines;
    std::size_t holding = 0;  ///< the sum over the lines

    /// The line other than `but` with the most that hold; among equals that with the last of them,
    /// so that the first of all is never it.
    const Line* largest_but(const Line* but) const {
      const Line* found = nullptr;
      for (const auto& [request, line] : lines)
        if (&line != but && !line.holding.empty() &&
            (found == nullptr || std::tuple(found->holding.size(), found->holding.rbegin()->first) <
                                     std::tuple(line.holding.size(), line.holding.rbegin()->first)))
          found = &line;
      return found;
    }
  };

  Line& line_of(const Place& place) {
    return clients_[place.share.client].lines[place.share.request];
  }
  void hold(const Place& place, Waiter* waiter) {
    Client& client = clients_[place.share.client];
    client.holding += client.lines[place.share.request].holding.emplace(place.rank, waiter).second;
  }

  std::map<std::uint64_t, Client> clients_;
};

}  // namespace tempera::gpu
