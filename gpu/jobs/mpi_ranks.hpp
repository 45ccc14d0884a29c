#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "gpu/jobs/deal.hpp"

namespace tempera::gpu {

/// The processes that mpirun or srun has started together, in a build with MPI (TEMPERA_MPI). They
/// share out a run's answers one by one, because answers differ in length: a number in rank 0's
/// memory, which every rank adds to by MPI_Fetch_and_op, says which run is the next.
class MpiRanks {
 public:
  virtual ~MpiRanks() = default;
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  /// The deal of runs that cost so much: the dearest first, each to the rank that asks, `ahead`
  /// of them at a time. To be made by all ranks, and begun by all: what their folders hold already
  /// is dealt to no other.
  virtual std::unique_ptr<Deal> deal(std::span<const double> costs, std::size_t ahead) = 0;
  /// To be called now and then, so that other ranks need not wait for this one.
  virtual void progress() = 0;
  /// Returns when all ranks have called it.
  virtual void wait_for_all() = 0;
  /// The last call. A process that fails leaves it out, and its launcher ends the others.
  virtual void finish() = 0;
};

/// The ranks that this process is one of; nothing if it is alone, or the build has no MPI.
std::unique_ptr<MpiRanks> join_mpi_ranks();

}  // namespace tempera::gpu
