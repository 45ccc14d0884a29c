#pragma once

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "gpu/device/device_memory.hpp"
#include "gpu/device/simt/simt.hpp"

// A fixed order of launches as one thing to queue, and the two ways in which a step speaks with the
// host: what it stages for the device, and what it reads back.

namespace tempera::gpu::simt::inline TEMPERA_SIMT_FORM {

/// The launches of a step with all their arguments, captured once and replayed: on a device a CUDA
/// graph, of kernels alone; on fibers the same launches run again in the same order. Whatever
/// changes from one replay to the next is read from device memory.
class StepGraph {
 public:
  StepGraph() = default;
  StepGraph(StepGraph&& other) noexcept { *this = std::move(other); }
  StepGraph& operator=(StepGraph&& other) noexcept {
    std::swap(launches_, other.launches_);
    std::swap(allocations_, other.allocations_);
    std::swap(captured_, other.captured_);
    return *this;
  }

  /// Captures what `queue()` launches on the stream; nothing of it runs. `queue` is called twice:
  /// first without launching anything, so that all its memory is there when it is captured.
  /// @throw Bug if the second call still asks for memory, or launches nothing
  template <class Queue>
  void capture(Stream& stream, const Queue& queue) {
    with(stream, Queueing::rehearse, queue);
    allocations_ = device_allocations();
    const std::uint64_t own_allocations = device_allocations_of_thread();
    const std::uint64_t before = stream.launches;
    captured_ = with(stream, Queueing::record, queue);
    launches_ = stream.launches - before;
    stream.launches = before;
    if (device_allocations_of_thread() != own_allocations)
      throw Bug("a captured step asks for memory");
    if (launches_ == 0) throw Bug("a captured step launches nothing");
    if (captured_.size() != launches_) throw Bug("a captured step is more than its kernels");
  }

  /// Whether it has been captured, and no memory that it knows has moved since.
  bool is_sound() const { return launches_ != 0 && allocations_ == device_allocations(); }
  /// Kernels that one replay launches.
  std::uint64_t launches() const { return launches_; }
  /// Queues them after what the stream has.
  void replay(Stream& stream) const;

 private:
#if defined(__CUDACC__)
  /// An instance of a CUDA graph.
  class Captured {
   public:
    Captured() = default;
    Captured(cudaGraphExec_t instance, std::size_t nodes) : instance_(instance), nodes_(nodes) {}
    Captured(Captured&& other) noexcept { *this = std::move(other); }
    Captured& operator=(Captured&& other) noexcept {
      std::swap(instance_, other.instance_);
      std::swap(nodes_, other.nodes_);
      return *this;
    }
    ~Captured() {
      if (instance_ != nullptr) cudaGraphExecDestroy(instance_);
    }
    cudaGraphExec_t instance() const { return instance_; }
    std::size_t size() const { return nodes_; }

   private:
    cudaGraphExec_t instance_ = nullptr;
    std::size_t nodes_ = 0;
  };
#else
  using Captured = std::vector<std::function<void(Stream&)> >;
#endif

  void queue_captured(Stream& stream) const;
  /// What a call of `queue` has recorded; nothing if it rehearses.
  template <class Queue>
  static Captured with(Stream& stream, Queueing queueing, const Queue& queue);

  std::uint64_t launches_ = 0;
  std::uint64_t allocations_ = 0;
  Captured captured_;
};

#if defined(__CUDACC__)

template <class Queue>
StepGraph::Captured StepGraph::with(Stream& stream, Queueing queueing, const Queue& queue) {
  struct Restore {
    Stream& stream;
    ~Restore() {
      stream.queueing = Queueing::run;
      stream.recorded = nullptr;
      stream.last_recorded = nullptr;
    }
  } restore{stream};
  stream.queueing = queueing;
  if (queueing == Queueing::rehearse) {
    queue();
    return {};
  }
  cudaGraph_t graph = nullptr;
  // Kernel by kernel, not by capture: while a stream is captured, nothing in the process may go to
  // the default stream, and other threads copy there.
  require_success(cudaGraphCreate(&graph, 0), "graph of a step");
  stream.recorded = graph;
  try {
    queue();
  } catch (...) {
    cudaGraphDestroy(graph);
    throw;
  }
  cudaGraphExec_t instance = nullptr;
  std::size_t nodes = 0;
  cudaError_t error = cudaGraphGetNodes(graph, nullptr, &nodes);
  if (error == cudaSuccess) error = cudaGraphInstantiateWithFlags(&instance, graph, 0);
  cudaGraphDestroy(graph);
  require_success(error, "graph of a step");
  return {instance, nodes};
}

inline void StepGraph::queue_captured(Stream& stream) const {
  require_success(cudaGraphLaunch(captured_.instance(), stream.stream), "launch of a step");
  stream.launches += launches_;
}

#else

template <class Queue>
StepGraph::Captured StepGraph::with(Stream& stream, Queueing queueing, const Queue& queue) {
  struct Restore {
    Stream& stream;
    ~Restore() {
      stream.queueing = Queueing::run;
      stream.recorded.clear();
    }
  } restore{stream};
  stream.queueing = queueing;
  queue();
  return std::move(stream.recorded);
}

inline void StepGraph::queue_captured(Stream& stream) const {
  for (const auto& launch : captured_) launch(stream);
}

#endif

inline void StepGraph::replay(Stream& stream) const {
  stream.watched = nullptr;
  if (stream.watch) stream.watch();
  queue_captured(stream);
  if (stream.watch) stream.watch();
  ++stream.replays;
}

/// Bytes that the host writes and a stream brings to the device, without waiting: on a device from
/// memory that stays where it is.
class StagedBytes {
 public:
  StagedBytes() = default;
  StagedBytes(const StagedBytes&) = delete;
  StagedBytes& operator=(const StagedBytes&) = delete;
  ~StagedBytes() { release(); }

  /// Makes room for `size` bytes; what it held is gone.
  void resize(std::size_t size) {
    release();
    on_device_.resize(size);
#if defined(__CUDACC__)
    void* bytes = nullptr;
    require_success(cudaMallocHost(&bytes, size), "memory of the host for a step");
    on_host_ = static_cast<std::byte*>(bytes);
#else
    on_host_.resize(size);
#endif
  }
  std::size_t size() const { return on_device_.size(); }

#if defined(__CUDACC__)
  std::byte* host() { return on_host_; }
#else
  std::byte* host() { return on_host_.data(); }
#endif
  std::byte* device() { return on_device_.data(); }

  /// Queues the copy of the first `size` bytes to the device. The host may write to them again when
  /// it has read back something of a later launch.
  void send(Stream& stream, std::size_t size) {
    count_device_copy();
#if defined(__CUDACC__)
    require_success(cudaMemcpyAsync(device(), host(), size, cudaMemcpyHostToDevice, stream.stream),
                    "copy to the device");
#else
    static_cast<void>(stream);
    std::memcpy(device(), host(), size);
#endif
  }
  /// Queues the copy of the first `size` bytes from the device, and waits for it and for all that
  /// the stream had before: the one wait of a step.
  void read_back(Stream& stream, std::size_t size) {
    ++stream.waits;
    count_device_copy();
#if defined(__CUDACC__)
    require_success(cudaMemcpyAsync(host(), device(), size, cudaMemcpyDeviceToHost, stream.stream),
                    "copy from the device");
    require_success(cudaStreamSynchronize(stream.stream), "a step on the device");
#else
    std::memcpy(host(), device(), size);
#endif
  }

 private:
  void release() {
#if defined(__CUDACC__)
    if (on_host_ != nullptr) cudaFreeHost(on_host_);
    on_host_ = nullptr;
#endif
  }

  DeviceMemory<std::byte> on_device_;
#if defined(__CUDACC__)
  std::byte* on_host_ = nullptr;
#else
  std::vector<std::byte> on_host_;
#endif
};

}  // namespace tempera::gpu::simt::inline TEMPERA_SIMT_FORM
