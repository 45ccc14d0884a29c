#pragma once

#include <functional>
#include <memory>

#include "gpu/llm/transformer/kernels/cuda/cuda_kernels.hpp"

namespace tempera::tests {

/// CudaKernels on fibers, each call of which a test can watch.
class ForwardingKernels : public gpu::Kernels {
 public:
  explicit ForwardingKernels(std::uint64_t seed) : cuda_(seed) {}

  const gpu::CudaKernels& cuda() const { return cuda_; }

  const char* name() const override { return cuda_.name(); }
  gpu::Arithmetic arithmetic() const override { return cuda_.arithmetic(); }
  std::unique_ptr<gpu::TokenStep> make_token_step() const override {
    return cuda_.make_token_step();
  }
  void embed(const gpu::MatrixView& a, const gpu::TokenRows& b, float* c) const override {
    called("embed", [&] { cuda_.embed(a, b, c); });
  }
  void normalize(const float* a, const float* b, std::size_t c, std::size_t d, float e,
                 const gpu::ProductInputs& f) const override {
    called("normalize", [&] { cuda_.normalize(a, b, c, d, e, f); });
  }
  void normalize_into_pages(const float* a, const float* b, const gpu::TokenRows& c, std::size_t d,
                            float e, const gpu::PagePart& f) const override {
    called("normalize_into_pages", [&] { cuda_.normalize_into_pages(a, b, c, d, e, f); });
  }
  void multiply(const gpu::MatrixView& a, const gpu::ProductInputs& b, std::size_t c, std::size_t d,
                float* e) const override {
    called("multiply", [&] { cuda_.multiply(a, b, c, d, e); });
  }
  void multiply_with_bias(const gpu::MatrixView& a, const gpu::ProductInputs& b, const float* c,
                          std::size_t d, std::size_t e, float* f) const override {
    called("multiply_with_bias", [&] { cuda_.multiply_with_bias(a, b, c, d, e, f); });
  }
  void multiply_and_add(const gpu::MatrixView& a, const gpu::ProductInputs& b, std::size_t c,
                        std::size_t d, float* e) const override {
    called("multiply_and_add", [&] { cuda_.multiply_and_add(a, b, c, d, e); });
  }
  void multiply_gated(const gpu::MatrixView& a, const gpu::ProductInputs& b, std::size_t c,
                      std::size_t d, const gpu::ProductInputs& e) const override {
    called("multiply_gated", [&] { cuda_.multiply_gated(a, b, c, d, e); });
  }
  void normalize_and_multiply(const gpu::RowNorm& a, const gpu::MatrixView& b, const float* c,
                              std::size_t d, std::size_t e, float* f) const override {
    called("normalize_and_multiply", [&] { cuda_.normalize_and_multiply(a, b, c, d, e, f); });
  }
  void normalize_and_multiply_gated(const gpu::RowNorm& a, const gpu::MatrixView& b, std::size_t c,
                                    std::size_t d, const gpu::ProductInputs& e) const override {
    called("normalize_and_multiply_gated",
           [&] { cuda_.normalize_and_multiply_gated(a, b, c, d, e); });
  }
  void rotate_into_pages(const gpu::AttentionShape& a, const float* b, const float* c, float d,
                         const gpu::RotaryTables& e, const gpu::TokenRows& f,
                         const gpu::PagePart& g, const gpu::PagePart& h, float* i) const override {
    called("rotate_into_pages", [&] { cuda_.rotate_into_pages(a, b, c, d, e, f, g, h, i); });
  }
  void attend(const gpu::AttentionShape& a, const float* b, const gpu::TokenRows& c,
              const gpu::PagePart& d, const gpu::PagePart& e,
              const gpu::ProductInputs& f) const override {
    called("attend", [&] { cuda_.attend(a, b, c, d, e, f); });
  }
  void rotate_and_attend(const gpu::AttentionShape& a, const float* b, const float* c, float d,
                         const gpu::RotaryTables& e, const gpu::TokenRows& f,
                         const gpu::PagePart& g, const gpu::PagePart& h, float* i,
                         const gpu::ProductInputs& j) const override {
    called("rotate_and_attend", [&] { cuda_.rotate_and_attend(a, b, c, d, e, f, g, h, i, j); });
  }
  void recur(const gpu::RecurrentShape& a, const gpu::RecurrentWeights& b, const gpu::TokenRows& c,
             const gpu::RecurrentStates& d, float* e, const gpu::ProductInputs& f) const override {
    called("recur", [&] { cuda_.recur(a, b, c, d, e, f); });
  }
  void gather_from_pages(const gpu::CachedRows& a, std::size_t b, const gpu::PagePart& c,
                         const gpu::ProductInputs& d) const override {
    called("gather_from_pages", [&] { cuda_.gather_from_pages(a, b, c, d); });
  }
  void normalize_and_gather(const float* a, const float* b, const gpu::TokenRows& c,
                            const gpu::CachedRows& d, std::size_t e, float f,
                            const gpu::PagePart& g, const gpu::ProductInputs& h) const override {
    called("normalize_and_gather", [&] { cuda_.normalize_and_gather(a, b, c, d, e, f, g, h); });
  }
  void multiply_head(const gpu::MatrixView& a, const gpu::ProductInputs& b, std::size_t c,
                     std::size_t d, const gpu::LogitRows& e) const override {
    called("multiply_head", [&] { cuda_.multiply_head(a, b, c, d, e); });
  }
  void copy_pages(const std::uint32_t* a, const std::uint32_t* b, std::size_t c,
                  const gpu::PageMemory& d) const override {
    called("copy_pages", [&] { cuda_.copy_pages(a, b, c, d); });
  }

 protected:
  /// Is called in place of every call, and runs it.
  virtual void called(const char* call, const std::function<void()>& run) const {
    static_cast<void>(call);
    run();
  }

 private:
  gpu::CudaKernels cuda_;
};

}  // namespace tempera::tests
