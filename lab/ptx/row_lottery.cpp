#include "lab/ptx/row_lottery.hpp"

#include <mutex>

#include "gpu/device/simt/fiber_threads.hpp"
#include "lab/ptx/named_kernels.hpp"

namespace tempera::lab::ptx {

#if defined(TEMPERA_DEVICE_CUDA)

std::unique_ptr<gpu::RowLottery> make_row_lottery() { return gpu::make_cuda_row_lottery(); }
std::uint64_t draw_launches() { return 0; }

#else

namespace draw_0 {
std::span<const CompiledKernel> kernels();  // written by to_cpp.py
}

namespace {

std::uint64_t launches = 0;
std::mutex one_at_a_time;  // simt::launch has one place to look in

simt::CompiledKernel find_draw(const void* text, const simt::Stream& /*on*/) {
  const std::string name = name_on_device(text);
  for (const CompiledKernel& kernel : draw_0::kernels()) {
    if (name != kernel.name) continue;
    ++launches;
    return kernel.run;
  }
  throw Bug("no PTX is kept of a kernel of the draw, " + name);
}

/// While it lives kernels are those of the draw's PTX.
class RunsPtx {
 public:
  RunsPtx() : before_(simt::find_compiled_kernel) { simt::find_compiled_kernel = find_draw; }
  RunsPtx(const RunsPtx&) = delete;
  RunsPtx& operator=(const RunsPtx&) = delete;
  ~RunsPtx() { simt::find_compiled_kernel = before_; }

 private:
  const std::lock_guard<std::mutex> alone_{one_at_a_time};
  simt::FindCompiledKernel before_;
};

class PtxRowLottery final : public gpu::RowLottery {
 public:
  const char* form() const override { return "PTX for sm_90, on fibers"; }
  std::vector<gpu::ScoredToken> draw(const gpu::DeviceMemory<float>& logits, std::size_t vocabulary,
                                     std::span<const gpu::RowDraw> draws,
                                     gpu::Lottery& lottery) override {
    const RunsPtx here;
    return text_->draw(logits, vocabulary, draws, lottery);
  }
  std::vector<gpu::ScoredToken> score(const gpu::DeviceMemory<float>& logits,
                                      std::size_t vocabulary,
                                      std::span<const gpu::RowToken> tokens) override {
    const RunsPtx here;
    return text_->score(logits, vocabulary, tokens);
  }
  std::vector<double> log_normalizers(const gpu::DeviceMemory<float>& logits,
                                      std::size_t vocabulary, std::size_t rows,
                                      std::span<const double> powers) override {
    const RunsPtx here;
    return text_->log_normalizers(logits, vocabulary, rows, powers);
  }

 private:
  // Two blocks, so that sums of tickets meet in memory.
  std::unique_ptr<gpu::RowLottery> text_ = gpu::make_cuda_row_lottery({.blocks = 2});
};

}  // namespace

std::unique_ptr<gpu::RowLottery> make_row_lottery() { return std::make_unique<PtxRowLottery>(); }
std::uint64_t draw_launches() { return launches; }

#endif

}  // namespace tempera::lab::ptx
