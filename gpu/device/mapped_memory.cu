#include <new>
#include <utility>

#include "gpu/device/mapped_memory.hpp"

#if defined(TEMPERA_DEVICE_CUDA)
#include <cuda.h>
#include <cuda_runtime.h>
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

class MappedByDriver final : public MappedMemory {
 public:
  MappedByDriver(const Driver& driver, int device, std::size_t granularity, std::size_t reserved,
                 CUdeviceptr begin)
      : driver_(driver),
        device_(device),
        granularity_(granularity),
        reserved_(reserved),
        begin_(begin) {}
  ~MappedByDriver() override {
    cudaDeviceSynchronize();  // what still reads it
    if (mapped_ > 0) driver_.unmap(begin_, mapped_);
    driver_.give_back(begin_, reserved_);
  }
  MappedByDriver(const MappedByDriver&) = delete;
  MappedByDriver& operator=(const MappedByDriver&) = delete;

  std::byte* data() override { return reinterpret_cast<std::byte*>(begin_); }

  void grow(std::size_t size) override {
    const std::size_t wanted = (size + granularity_ - 1) / granularity_ * granularity_;
    if (wanted > reserved_) throw std::bad_alloc();
    if (wanted > mapped_) map_until(wanted);
  }

  static CUmemAllocationProp properties(int device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    return properties;
  }

 private:
  void map_until(std::size_t wanted) {
    const std::size_t bytes = wanted - mapped_;
    const CUdeviceptr address = begin_ + mapped_;
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
    mapped_ = wanted;
  }

  Driver driver_;
  int device_;
  std::size_t granularity_;
  std::size_t reserved_;
  std::size_t mapped_ = 0;
  CUdeviceptr begin_;
};

}  // namespace

std::unique_ptr<MappedMemory> MappedMemory::make() {
  Driver driver;
  int device = 0;
  std::size_t free = 0;
  std::size_t total = 0;
  // The first of these calls makes the context that the driver's functions need.
  if (cudaMemGetInfo(&free, &total) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess ||
      !driver.is_whole())
    return nullptr;
  int can_map = 0;
  const CUmemAllocationProp what = MappedByDriver::properties(device);
  std::size_t granularity = 0;
  if (driver.attribute(&can_map, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) !=
          CUDA_SUCCESS ||
      can_map == 0 ||
      driver.granularity(&granularity, &what, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS)
    return nullptr;
  const std::size_t reserved = (total + granularity - 1) / granularity * granularity;
  CUdeviceptr begin = 0;
  if (driver.reserve(&begin, reserved, 0, 0, 0) != CUDA_SUCCESS) return nullptr;
  return std::make_unique<MappedByDriver>(driver, device, granularity, reserved, begin);
}

#else

std::unique_ptr<MappedMemory> MappedMemory::make() { return nullptr; }

#endif

}  // namespace tempera::gpu
