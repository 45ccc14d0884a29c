#include "gpu/core/lottery/cuda/queue_draw.cuh"
#include "gpu/core/lottery/cuda/row_steps.hpp"

namespace tempera::gpu {

namespace {

#if defined(__CUDACC__)
simt::Stream stream_of(const DrawLaunch&) { return {}; }
std::uint64_t multiprocessors() {
  int device = 0;
  int count = 0;
  simt::require_success(cudaGetDevice(&device), "the device");
  simt::require_success(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
                        "the device's multiprocessors");
  return static_cast<std::uint64_t>(count);
}
constexpr const char* form_name = "cuda";
#else
simt::Stream stream_of(const DrawLaunch& launch) { return {.seed = launch.thread_order}; }
std::uint64_t multiprocessors() { return 1; }
constexpr const char* form_name = "cuda, on fibers";
#endif

class CudaRowSteps final : public RowSteps {
 public:
  explicit CudaRowSteps(const DrawLaunch& launch)
      : blocks_(launch.blocks != 0 ? launch.blocks : 4 * multiprocessors()),
        stream_(stream_of(launch)) {}

  const char* name() const override { return form_name; }
  /// The row's own is found with the sums.
  void find_largest(const RowBatch& batch) const override { queue_chunk_largest(batch, stream_); }
  void sum_tickets(const RowBatch& batch) const override {
    queue_ticket_sums(batch, batch.chunk_largest, batch.chunks, blocks_, stream_);
  }
  void draw_winners(const RowBatch& batch) const override { queue_winners(batch, stream_); }
  void write_tickets(const RowBatch& batch, std::uint64_t* tickets) const override {
    queue_tickets(batch, tickets, stream_);
  }
  void score_normalizers(const RowBatch& batch, std::uint64_t rungs) const override {
    queue_normalizers(batch, rungs, stream_);
  }

 private:
  std::uint64_t blocks_;
  mutable simt::Stream stream_;  // only counts what is queued on it
};

}  // namespace

std::unique_ptr<const RowSteps> make_cuda_row_steps(const DrawLaunch& launch) {
  return std::make_unique<CudaRowSteps>(launch);
}

}  // namespace tempera::gpu
