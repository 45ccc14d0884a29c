#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <utility>
#include <vector>

namespace tempera::gpu {

/// Names the request that some work is for, and its client. Clients have equal shares, and the
/// requests of one client have equal parts of its share.
struct Share {
  std::uint64_t client = 0;
  std::uint64_t request = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Share&, const Share&) = default;
};

/// A queue that serves clients in turn, of each its requests in turn, and of each request those who
/// wait in the order in which they came. Every operation takes a time that grows with the logarithm
/// of the number of clients and requests, and not with the number of those who wait.
template <class Waiter>
class FairQueue {
  using Line = std::list<Waiter*>;

 public:
  /// A place in the queue, by which a waiter can leave before its turn.
  struct Place {
    Share share;
    typename Line::iterator at;
  };

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  Place push(const Share& share, Waiter* waiter) {
    Line& line = clients_[share.client].lines[share.request];
    line.push_back(waiter);
    ++size_;
    return {share, std::prev(line.end())};
  }
  /// @pre the place is one of this queue, and nobody has left it
  void leave(const Place& place) {
    const auto client = clients_.find(place.share.client);
    const auto line = client->second.lines.find(place.share.request);
    line->second.erase(place.at);
    erase_if_empty(client, line);
  }
  /// The share whose turn it is, which leaves the queue. @pre not empty
  Share next_share() {
    const auto client = next_after(clients_, last_client_);
    last_client_ = client->first;
    const auto line = next_after(client->second.lines, client->second.last);
    client->second.last = line->first;
    return {client->first, line->first};
  }
  /// Takes out the next to be served. last_come: the last comer of its request. @pre not empty
  Waiter* take(bool last_come = false) {
    const Share share = next_share();
    const auto client = clients_.find(share.client);
    const auto line = client->second.lines.find(share.request);
    const auto at = last_come ? std::prev(line->second.end()) : line->second.begin();
    Waiter* const waiter = *at;
    line->second.erase(at);
    erase_if_empty(client, line);
    return waiter;
  }
  /// Leaves those of a share out until bring_back(): they have no turn, and their places stay good.
  void set_aside(const Share& share) {
    const auto client = clients_.find(share.client);
    if (client == clients_.end()) return;
    const auto line = client->second.lines.find(share.request);
    if (line == client->second.lines.end()) return;
    size_ -= line->second.size();
    aside_.emplace_back(share, std::move(line->second));
    client->second.lines.erase(line);
    if (client->second.lines.empty()) clients_.erase(client);
  }
  /// Lets those that were set aside wait on, before any that came meanwhile.
  void bring_back() {
    for (auto& [share, waiters] : aside_) {
      size_ += waiters.size();
      Line& line = clients_[share.client].lines[share.request];
      line.splice(line.begin(), waiters);
    }
    aside_.clear();
  }
  /// The number of clients that wait, and of the waiters of the smallest; of a client that waits
  /// alone, those of its requests.
  struct Shares {
    std::size_t count = 0;
    std::size_t least = 0;
    void add(std::size_t waiters) { least = count++ == 0 ? waiters : std::min(least, waiters); }
  };
  Shares shares() const {
    Shares of_clients;
    Shares of_requests;
    for (const auto& [number, client] : clients_) {
      std::size_t waiters = 0;
      for (const auto& [request, line] : client.lines) {
        of_requests.add(line.size());
        waiters += line.size();
      }
      of_clients.add(waiters);
    }
    return of_clients.count == 1 ? of_requests : of_clients;
  }
  /// Hands those who wait to `look` in any order; it must not change the queue.
  template <class Look>
  void for_each(const Look& look) const {
    for (const auto& [number, client] : clients_)
      for (const auto& [request, line] : client.lines)
        for (Waiter* const waiter : line) look(waiter);
  }

 private:
  struct Client {
    std::map<std::uint64_t, Line> lines;  ///< by request; none is empty
    std::uint64_t last = 0;               ///< the request that was served last
  };

  /// The entry whose turn comes after that of `last`, which may have gone.
  template <class Map>
  static auto next_after(Map& map, std::uint64_t last) {
    const auto next = map.upper_bound(last);
    return next == map.end() ? map.begin() : next;
  }
  template <class ClientEntry, class LineEntry>
  void erase_if_empty(ClientEntry client, LineEntry line) {
    --size_;
    if (!line->second.empty()) return;
    client->second.lines.erase(line);
    if (client->second.lines.empty()) clients_.erase(client);
  }

  std::map<std::uint64_t, Client> clients_;    ///< none is without a line
  std::vector<std::pair<Share, Line>> aside_;  ///< of shares that were set aside
  std::uint64_t last_client_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tempera::gpu
