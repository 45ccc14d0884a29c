#include "gpu/llm/transformer/kernels/cuda/plan_clock.hpp"

#if defined(__CUDACC__)
#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <new>

#include "gpu/device/device_memory.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/cuda/product_launch.hpp"
#endif

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

#if defined(__CUDACC__)

namespace {

std::size_t cache_bytes() {
  int device = 0;
  int bytes = 0;
  simt::require_success(cudaGetDevice(&device), "no CUDA device");
  simt::require_success(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device),
                        "CUDA device");
  return static_cast<std::size_t>(bytes);
}

/// A stream, two events on it, and the memory that a product takes besides its weights.
class PlanClock {
 public:
  PlanClock(const MatrixView& matrix, const ProductCase& product)
      : matrix_(matrix),
        gated_(product.gated),
        inputs_(std::size_t{product.rows} * product.in),
        outputs_(std::size_t{product.rows} * product.out),
        evicted_(2 * cache_bytes()) {
    simt::require_success(cudaStreamCreate(&stream_.stream), "a CUDA stream");
    for (cudaEvent_t* event : {&begin_, &end_})
      simt::require_success(cudaEventCreate(event), "an event");
  }
  PlanClock(const PlanClock&) = delete;
  PlanClock& operator=(const PlanClock&) = delete;
  ~PlanClock() {
    for (cudaEvent_t event : {begin_, end_})
      if (event != nullptr) cudaEventDestroy(event);
    if (stream_.stream != nullptr) cudaStreamDestroy(stream_.stream);
  }

  double seconds_of(const ProductPlan& plan) {
    scratch_.ensure_size(plan.scratch_floats());
    counters_.ensure_size(plan.counters());
    const ProductOperands operands{reinterpret_cast<const simt::Vector16*>(matrix_.fragments),
                                   {.rows = inputs_.data()},
                                   scratch_.data(),
                                   counters_.data(),
                                   matrix_.quantised,
                                   matrix_.blocks};
    simt::require_success(cudaMemsetAsync(evicted_.data(), 0, evicted_.size(), stream_.stream),
                          "a device's cache");
    simt::require_success(cudaEventRecord(begin_, stream_.stream), "an event");
    if (gated_)
      launch_product(stream_, plan, operands,
                     GateProduct{reinterpret_cast<std::uint16_t*>(outputs_.data())});
    else
      launch_product(stream_, plan, operands, StoreProduct{outputs_.data(), nullptr});
    simt::require_success(cudaEventRecord(end_, stream_.stream), "an event");
    simt::require_success(cudaEventSynchronize(end_), "a timed product");
    float milliseconds = 0.0F;
    simt::require_success(cudaEventElapsedTime(&milliseconds, begin_, end_), "an event");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  MatrixView matrix_;
  bool gated_;
  DeviceMemory<std::uint16_t> inputs_;
  DeviceMemory<float> outputs_;
  DeviceMemory<std::byte> evicted_;
  DeviceMemory<float> scratch_;
  DeviceMemory<std::uint32_t> counters_;
  simt::Stream stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

TimePlan plan_clock(const MatrixView& matrix, const ProductCase& product) {
  // Made when the first plan is timed, for most products have theirs already.
  auto clock = std::make_shared<std::unique_ptr<PlanClock>>();
  return [=](const ProductPlan& plan) {
    if (!*clock) *clock = std::make_unique<PlanClock>(matrix, product);
    return (*clock)->seconds_of(plan);
  };
}

std::string name_of_plans() {
  std::string name = device_description().value_or("unknown");
  std::ifstream driver("/proc/driver/nvidia/version");
  if (std::string line; std::getline(driver, line)) name += "; " + line;
  // The program, or the library, that has the kernels: its size and when it was built.
  Dl_info own{};
  std::error_code ignored;
  if (dladdr(reinterpret_cast<const void*>(&name_of_plans), &own) != 0 &&
      own.dli_fname != nullptr) {
    const std::filesystem::path file(own.dli_fname);
    name +=
        "; " + std::to_string(std::filesystem::file_size(file, ignored)) + " bytes of " +
        std::to_string(std::filesystem::last_write_time(file, ignored).time_since_epoch().count());
  }
  return name;
}

#else

TimePlan plan_clock(const MatrixView&, const ProductCase&) { return {}; }
std::string name_of_plans() { return {}; }

#endif

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
