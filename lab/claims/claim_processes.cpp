#include "lab/claims/claim_processes.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "gpu/device/thread_limit.hpp"

namespace tempera::lab {
namespace {

/// What a process writes of a claim that it has decided; the detail's bytes follow.
struct ResultHeader {
  std::size_t claim;
  ClaimOutcome outcome;
  double seconds;
  std::size_t detail_bytes;
};

/// The number of the next claim that no process has taken yet, in memory that all of them share.
class SharedCounter {
 public:
  SharedCounter() {
    void* const memory = mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) next_ = new (memory) std::atomic<std::size_t>(0);
  }
  ~SharedCounter() {
    if (next_ != nullptr) munmap(next_, sizeof *next_);
  }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  bool is_there() const { return next_ != nullptr; }
  std::size_t take() const { return next_->fetch_add(1); }

 private:
  std::atomic<std::size_t>* next_ = nullptr;
};

bool write_all(int to, const std::string& bytes) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t now = ::write(to, bytes.data() + written, bytes.size() - written);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return false;
    written += static_cast<std::size_t>(now);
  }
  return true;
}

/// A process's work: takes claims until none is left. It ends early if a check throws; the process
/// that started it decides that claim again.
int decide_in_turn(const ClaimRunner& runner, const std::vector<Claim>& claims,
                   const SharedCounter& next, std::size_t threads, int to) {
  try {
    const gpu::ThreadLimit limit(threads);
    for (std::size_t claim = next.take(); claim < claims.size(); claim = next.take()) {
      const ClaimResult result = runner.decide(claims[claim]);
      ResultHeader header{};
      header.claim = claim;
      header.outcome = result.outcome;
      header.seconds = result.seconds;
      header.detail_bytes = result.detail.size();
      std::string bytes(sizeof header, '\0');
      std::memcpy(bytes.data(), &header, sizeof header);
      if (!write_all(to, bytes + result.detail)) return 1;
    }
    return 0;
  } catch (...) {
    return 1;
  }
}

/// A process that decides claims, and what it has written; killed with the object if it still runs.
class ClaimProcess {
 public:
  ClaimProcess(const ClaimRunner& runner, const std::vector<Claim>& claims,
               const SharedCounter& next, std::size_t threads) {
    int ends[2];
    if (pipe(ends) != 0) return;
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      close(ends[0]);
      for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
      _exit(decide_in_turn(runner, claims, next, threads, ends[1]));
    }
    close(ends[1]);
    from_ = ends[0];
  }
  ClaimProcess(ClaimProcess&& other) noexcept
      : process_(std::exchange(other.process_, -1)),
        from_(std::exchange(other.from_, -1)),
        read_(std::move(other.read_)) {}
  ClaimProcess& operator=(ClaimProcess&&) = delete;
  ~ClaimProcess() {
    if (from_ >= 0) close(from_);
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  bool writes() const { return process_ > 0 && from_ >= 0; }
  int descriptor() const { return from_; }

  /// Reads what is there, and puts each result that is whole in its place.
  void read_into(std::vector<std::optional<ClaimResult>>& results,
                 const std::vector<Claim>& claims) {
    char bytes[4096];
    const ssize_t now = ::read(from_, bytes, sizeof bytes);
    if (now < 0 && errno == EINTR) return;
    if (now <= 0) {
      close(from_);
      from_ = -1;
      return;
    }
    read_.append(bytes, static_cast<std::size_t>(now));
    ResultHeader header;
    while (read_.size() >= sizeof header) {
      std::memcpy(&header, read_.data(), sizeof header);
      if (read_.size() - sizeof header < header.detail_bytes) return;
      results[header.claim] =
          ClaimResult{claims[header.claim], header.outcome,
                      read_.substr(sizeof header, header.detail_bytes), header.seconds};
      read_.erase(0, sizeof header + header.detail_bytes);
    }
  }

 private:
  pid_t process_ = -1;
  int from_ = -1;
  std::string read_;
};

}  // namespace

void decide_claims(const ClaimRunner& runner, const std::vector<Claim>& claims,
                   std::size_t processes, const std::function<void(const Claim&)>& begins,
                   const std::function<void(ClaimResult)>& decided) {
  std::vector<std::optional<ClaimResult>> results(claims.size());
  std::size_t next = 0;
  const auto hand_over = [&] {
    while (next < claims.size() && results[next]) decided(*std::move(results[next++]));
  };
  processes = std::min(processes, claims.size());
  const SharedCounter counter;
  if (processes > 1 && counter.is_there()) {
    // What is printed so far must not be printed by each process again.
    std::fflush(nullptr);
    std::cout.flush();
    const std::size_t threads =
        std::max<std::size_t>(1, std::thread::hardware_concurrency() / processes);
    std::vector<ClaimProcess> running;
    running.reserve(processes);
    while (running.size() < processes) running.emplace_back(runner, claims, counter, threads);
    for (;;) {
      std::vector<pollfd> waited;
      std::vector<ClaimProcess*> by;
      for (ClaimProcess& process : running) {
        if (!process.writes()) continue;
        waited.push_back({process.descriptor(), POLLIN, 0});
        by.push_back(&process);
      }
      if (waited.empty()) break;
      if (next < claims.size()) begins(claims[next]);
      if (poll(waited.data(), waited.size(), -1) < 0) {
        if (errno == EINTR) continue;
        break;
      }
      for (std::size_t i = 0; i < waited.size(); ++i)
        if (waited[i].revents != 0) by[i]->read_into(results, claims);
      hand_over();
    }
  }
  while (next < claims.size()) {
    begins(claims[next]);
    if (!results[next]) results[next] = runner.decide(claims[next]);
    hand_over();
  }
}

}  // namespace tempera::lab
