#include <new>

#include "gpu/device/address_range.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include <cuda.h>
#include <cuda_runtime.h>
#else
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#endif

namespace tempera::gpu {

#if defined(TEMPERA_DEVICE_CUDA)

namespace {

/// A function of the driver, which is not linked with; null if it has none of this name.
template <class Function>
bool find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess) return false;
  function = reinterpret_cast<Function>(found);
  return true;
}

struct Driver {
  decltype(&cuDeviceGetAttribute) attribute = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) give_back = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) allow = nullptr;

  bool is_whole() {
    return find("cuDeviceGetAttribute", attribute) &&
           find("cuMemGetAllocationGranularity", granularity) &&
           find("cuMemAddressReserve", reserve) && find("cuMemAddressFree", give_back) &&
           find("cuMemCreate", create) && find("cuMemRelease", release) && find("cuMemMap", map) &&
           find("cuMemUnmap", unmap) && find("cuMemSetAccess", allow);
  }
};

class RangeOfDriver final : public AddressRange {
 public:
  RangeOfDriver(const Driver& driver, int device, std::size_t granularity, std::size_t memory,
                std::size_t reserved, CUdeviceptr begin)
      : driver_(driver),
        device_(device),
        granularity_(granularity),
        memory_(memory),
        reserved_(reserved),
        begin_(begin) {}
  ~RangeOfDriver() override { driver_.give_back(begin_, reserved_); }
  RangeOfDriver(const RangeOfDriver&) = delete;
  RangeOfDriver& operator=(const RangeOfDriver&) = delete;

  std::byte* begin() override { return reinterpret_cast<std::byte*>(begin_); }
  std::size_t memory() const override { return memory_; }
  std::size_t granularity() const override { return granularity_; }

  void map(std::size_t offset, std::size_t bytes) override {
    const CUdeviceptr address = begin_ + offset;
    const CUmemAllocationProp what = properties(device_);
    CUmemGenericAllocationHandle memory{};
    if (driver_.create(&memory, bytes, &what, 0) != CUDA_SUCCESS) throw std::bad_alloc();
    const bool is_mapped = driver_.map(address, bytes, 0, memory, 0) == CUDA_SUCCESS;
    driver_.release(memory);  // it stays as long as it is mapped
    if (!is_mapped) throw std::bad_alloc();
    CUmemAccessDesc access{};
    access.location = what.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (driver_.allow(address, bytes, &access, 1) != CUDA_SUCCESS ||
        cudaMemset(reinterpret_cast<void*>(address), 0, bytes) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess) {
      driver_.unmap(address, bytes);
      throw std::bad_alloc();
    }
  }
  void unmap(std::size_t offset, std::size_t bytes) override {
    cudaDeviceSynchronize();  // what still reads it
    driver_.unmap(begin_ + offset, bytes);
  }

  static CUmemAllocationProp properties(int device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    return properties;
  }

 private:
  Driver driver_;
  int device_;
  std::size_t granularity_;
  std::size_t memory_;
  std::size_t reserved_;
  CUdeviceptr begin_;
};

}  // namespace

std::unique_ptr<AddressRange> AddressRange::make(std::size_t spare) {
  Driver driver;
  int device = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  // The first of these calls makes the context that the driver's functions need.
  if (cudaMemGetInfo(&free, &total) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess ||
      !driver.is_whole())
    return nullptr;
  int can_map = 0;
  const CUmemAllocationProp what = RangeOfDriver::properties(device);
  std::size_t granularity = 0;
  if (driver.attribute(&can_map, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) !=
          CUDA_SUCCESS ||
      can_map == 0 ||
      driver.granularity(&granularity, &what, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS)
    return nullptr;
  const std::size_t reserved = (total / granularity + 1 + spare) * granularity;
  CUdeviceptr begin = 0;
  if (driver.reserve(&begin, reserved, 0, 0, 0) != CUDA_SUCCESS) return nullptr;
  return std::make_unique<RangeOfDriver>(driver, device, granularity, total, reserved, begin);
}

#else

namespace {

/// Of the host, whose system gives memory to what is written and to nothing else.
class RangeOfHost final : public AddressRange {
 public:
  RangeOfHost(std::size_t granularity, std::size_t memory, std::size_t reserved, void* begin)
      : granularity_(granularity), memory_(memory), reserved_(reserved), begin_(begin) {}
  ~RangeOfHost() override { munmap(begin_, reserved_); }
  RangeOfHost(const RangeOfHost&) = delete;
  RangeOfHost& operator=(const RangeOfHost&) = delete;

  std::byte* begin() override { return static_cast<std::byte*>(begin_); }
  std::size_t memory() const override { return memory_; }
  std::size_t granularity() const override { return granularity_; }

  void map(std::size_t offset, std::size_t bytes) override {
    if (mprotect(begin() + offset, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  void unmap(std::size_t offset, std::size_t bytes) override {
    reserve(begin() + offset, bytes, MAP_FIXED);
  }

  static void* reserve(void* address, std::size_t bytes, int flags) {
    return mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1,
                0);
  }

 private:
  std::size_t granularity_;
  std::size_t memory_;
  std::size_t reserved_;
  void* begin_;
};

}  // namespace

std::unique_ptr<AddressRange> AddressRange::make(std::size_t spare) {
  struct sysinfo system {};
  const long page = sysconf(_SC_PAGESIZE);
  if (page <= 0 || sysinfo(&system) != 0) return nullptr;
  const auto granularity = static_cast<std::size_t>(page);
  const std::size_t memory = (std::size_t{system.totalram} + system.totalswap) * system.mem_unit;
  const std::size_t reserved = (memory / granularity + 1 + spare) * granularity;
  void* const begin = RangeOfHost::reserve(nullptr, reserved, 0);
  if (begin == MAP_FAILED) return nullptr;
  return std::make_unique<RangeOfHost>(granularity, memory, reserved, begin);
}

#endif

}  // namespace tempera::gpu
