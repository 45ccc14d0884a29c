#include "serve/sessions/client_account.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tempera::serve {

ClientAccount::ClientAccount(const ClientLimits& limits, Time now)
    : limits_(limits),
      tokens_left_(static_cast<double>(limits.tokens_per_minute)),
      refilled_(now) {}

void ClientAccount::refill(Time now) {
  const std::chrono::duration<double> passed = now - refilled_;
  if (passed.count() <= 0.0) return;
  const auto each_minute = static_cast<double>(limits_.tokens_per_minute);
  tokens_left_ = std::min(each_minute, tokens_left_ + each_minute * passed.count() / 60.0);
  refilled_ = now;
}

std::unique_ptr<ClientPlace> ClientAccount::begin(Time now, Refusal& refusal) {
  const std::scoped_lock lock(mutex_);
  if (limits_.requests > 0 && requests_ >= limits_.requests) {
    refusal = {"this key may have " + std::to_string(limits_.requests) +
                   " requests at once, and has them; try again when one has been answered",
               std::chrono::seconds(5)};
    return nullptr;
  }
  if (limits_.tokens_per_minute > 0) {
    refill(now);
    if (tokens_left_ < 1.0) {
      const double seconds =
          (1.0 - tokens_left_) * 60.0 / static_cast<double>(limits_.tokens_per_minute);
      refusal.retry_after =
          std::chrono::seconds(static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e9))));
      refusal.message = "this key may take " + std::to_string(limits_.tokens_per_minute) +
                        " tokens a minute, and has taken more; try again in " +
                        std::to_string(refusal.retry_after.count()) + " seconds";
      return nullptr;
    }
  }
  std::unique_ptr<ClientPlace> place(new ClientPlace(shared_from_this()));
  ++requests_;
  return place;
}

void ClientAccount::pay(std::uint64_t tokens, Time now) {
  if (limits_.tokens_per_minute == 0) return;
  const std::scoped_lock lock(mutex_);
  refill(now);
  tokens_left_ -= static_cast<double>(tokens);
}

void ClientAccount::end() {
  const std::scoped_lock lock(mutex_);
  --requests_;
}

}  // namespace tempera::serve
