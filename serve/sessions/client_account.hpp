#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "serve/protocol/client_keys.hpp"

namespace tempera::serve {

class ClientPlace;

/// Counts what a client takes against its limits. Any thread may call.
///
/// Tokens are paid for as they are drawn: a request begins while any are left, so that its answer
/// never depends on what is left, and the next one waits until its debt is paid.
class ClientAccount : public std::enable_shared_from_this<ClientAccount> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ClientAccount(const ClientLimits& limits, Time now);

  /// Why a request is not taken now.
  struct Refusal {
    std::string message;
    std::chrono::seconds retry_after;
  };
  /// A place among the requests of the client, or nothing: then `refusal` says why.
  std::unique_ptr<ClientPlace> begin(Time now, Refusal& refusal);
  /// Tokens that were read or drawn for the client.
  void pay(std::uint64_t tokens, Time now);

 private:
  friend ClientPlace;
  void refill(Time now);
  void end();

  const ClientLimits limits_;
  std::mutex mutex_;
  std::size_t requests_ = 0;
  double tokens_left_;  ///< below 0: a debt
  Time refilled_;
};

/// A request's place among those of its client, until it is destroyed.
class ClientPlace {
 public:
  ~ClientPlace() { account_->end(); }
  ClientPlace(const ClientPlace&) = delete;
  ClientPlace& operator=(const ClientPlace&) = delete;

  void pay(std::uint64_t tokens) { account_->pay(tokens, std::chrono::steady_clock::now()); }

 private:
  friend ClientAccount;
  explicit ClientPlace(std::shared_ptr<ClientAccount> account) : account_(std::move(account)) {}

  std::shared_ptr<ClientAccount> account_;
};

}  // namespace tempera::serve
