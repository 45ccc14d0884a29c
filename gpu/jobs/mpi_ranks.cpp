#include "gpu/jobs/mpi_ranks.hpp"

#ifdef TEMPERA_MPI
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/jobs/run_folder.hpp"
#endif

namespace tempera::gpu {

#ifdef TEMPERA_MPI
namespace {

/// Deals by a counter in rank 0's memory.
class CountedDeal final : public Deal {
 public:
  CountedDeal(std::span<const double> costs, std::size_t ahead, int size)
      : costs_(costs.begin(), costs.end()), ahead_(ahead), size_(size) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const MPI_Aint bytes = rank == 0 ? sizeof(std::int64_t) : 0;
    MPI_Win_allocate(bytes, sizeof(std::int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &counter_,
                     &window_);
    if (rank == 0) *counter_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window_);
  }
  ~CountedDeal() override = default;  // The window ends with MPI: freeing it waits for all ranks.
  CountedDeal(const CountedDeal&) = delete;
  CountedDeal& operator=(const CountedDeal&) = delete;

  void begin(std::span<const std::size_t> delivered, std::span<const std::size_t> under_way,
             const std::string& folder) override {
    std::vector<std::int64_t> mine(delivered.begin(), delivered.end());
    mine.insert(mine.end(), under_way.begin(), under_way.end());
    std::vector<bool> is_held(costs_.size());
    for (const std::int64_t run_index : all_of(mine)) {
      const auto index = static_cast<std::size_t>(run_index);
      if (index >= is_held.size() || is_held[index])
        throw BadInput(folder, "or another shard's folder holds an answer that is not its own",
                       start_elsewhere);
      is_held[index] = true;
    }
    own_.assign(under_way.begin(), under_way.end());
    for (std::size_t run_index = 0; run_index < costs_.size(); ++run_index)
      if (!is_held[run_index]) left_.push_back(run_index);
    std::stable_sort(left_.begin(), left_.end(),
                     [this](std::size_t a, std::size_t b) { return costs_[a] > costs_[b]; });
    runs_ = mine.size() +
            (left_.size() + static_cast<std::size_t>(size_) - 1) / static_cast<std::size_t>(size_);
  }

  std::optional<std::size_t> next() override {
    if (!own_.empty()) {
      const std::size_t run_index = own_.front();
      own_.pop_front();
      return run_index;
    }
    const std::int64_t one = 1;
    std::int64_t number = 0;
    MPI_Fetch_and_op(&one, &number, MPI_INT64_T, 0, 0, MPI_SUM, window_);
    MPI_Win_flush(0, window_);
    const auto index = static_cast<std::size_t>(number);
    return index < left_.size() ? std::optional(left_[index]) : std::nullopt;
  }

  std::size_t runs() const override { return runs_; }
  std::size_t ahead() const override { return ahead_; }

 private:
  /// The numbers of all ranks.
  std::vector<std::int64_t> all_of(const std::vector<std::int64_t>& mine) const {
    const int count = static_cast<int>(mine.size());
    std::vector<int> counts(static_cast<std::size_t>(size_));
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> begins(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
    std::vector<std::int64_t> all(static_cast<std::size_t>(begins.back() + counts.back()));
    MPI_Allgatherv(mine.data(), count, MPI_INT64_T, all.data(), counts.data(), begins.data(),
                   MPI_INT64_T, MPI_COMM_WORLD);
    return all;
  }

  std::vector<double> costs_;
  std::size_t ahead_;
  int size_;
  std::int64_t* counter_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  std::deque<std::size_t> own_;    ///< under way in this rank's folder
  std::vector<std::size_t> left_;  ///< to be dealt, the same in all ranks
  std::size_t runs_ = 0;
};

class Joined final : public MpiRanks {
 public:
  Joined() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const override { return static_cast<std::size_t>(size_); }
  std::unique_ptr<Deal> deal(std::span<const double> costs, std::size_t ahead) override {
    return std::make_unique<CountedDeal>(costs, ahead, size_);
  }
  void progress() override {
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  }
  void wait_for_all() override { MPI_Barrier(MPI_COMM_WORLD); }
  void finish() override {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<MpiRanks> join_mpi_ranks() {
  // A process that no launcher started would be made a program of its own by MPI, at a price, and
  // one whose launcher this MPI does not understand would be ended.
#ifdef OPEN_MPI
  constexpr const char* size = "OMPI_COMM_WORLD_SIZE";
#else
  constexpr const char* size = "PMI_SIZE";
#endif
  const bool is_launched = std::getenv(size) != nullptr || std::getenv("PMIX_RANK") != nullptr;
  if (!is_launched) return nullptr;
  auto ranks = std::make_unique<Joined>();
  if (ranks->size() > 1) return ranks;
  ranks->finish();
  return nullptr;
}
#else
std::unique_ptr<MpiRanks> join_mpi_ranks() { return nullptr; }
#endif

}  // namespace tempera::gpu
