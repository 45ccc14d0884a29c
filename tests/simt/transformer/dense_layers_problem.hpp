// The layers of a dense decoder with random weights, and records with random pages.
#pragma once

#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gpu/llm/transformer/cache/page_shape.hpp"
#include "gpu/llm/transformer/kernels/cuda/cuda_device.cuh"
#include "gpu/llm/transformer/kernels/cuda/dense_layers_launch.hpp"
#include "tests/gpu/llm/transformer/pages_at.hpp"
#include "tests/simt/transformer/placed_records.hpp"
#include "tests/simt/transformer/quantised_matrix.hpp"

namespace tempera::tests {

struct LayerSizes {
  std::size_t hidden, inner, heads, key_heads, head, layers;
};

struct LayersProblem {
  LayerSizes sizes;
  gpu::AttentionShape shape;
  std::shared_ptr<std::vector<QuantisedMatrix>> matrices =
      std::make_shared<std::vector<QuantisedMatrix>>();  // four a layer, the same of every copy
  std::vector<Floats> vectors{};                         // five a layer
  gpu::PageShape pages;
  std::vector<gpu::simt::Vector16> memory{};
  std::vector<std::uint32_t> positions{}, first_page{}, table{};
  Floats states{}, cosines{}, sines{};

  LayersProblem(const LayerSizes& of, const std::vector<std::uint32_t>& lengths, std::uint32_t seed,
                const std::string& dtype = "BF16")
      : sizes(of),
        shape{of.heads,
              of.key_heads,
              of.head,
              of.heads * of.head,
              (of.heads + of.key_heads) * of.head,
              (of.heads + 2 * of.key_heads) * of.head},
        pages{of.layers, of.key_heads, of.head, of.hidden, gpu::Arithmetic::tensor_core} {
    std::mt19937 random(seed);
    for (std::size_t layer = 0; layer < of.layers; ++layer) {
      const auto matrix = [&](std::size_t in, std::size_t out, std::size_t parts = 1) {
        matrices->emplace_back(
            in, std::vector<QuantisedMatrix::Part>(parts, {dtype, (out + 15) / 16 * 16}),
            seed + static_cast<std::uint32_t>(matrices->size()));
      };
      matrix(of.hidden, shape.row_floats);
      matrix(of.heads * of.head, of.hidden);
      matrix(of.hidden, of.inner, 2);
      matrix(of.inner, of.hidden);
      for (const std::size_t size : {of.hidden, of.hidden, shape.row_floats, of.head, of.head})
        vectors.push_back(random_floats(size, 1.0F, random));
    }
    place_records(lengths, positions, first_page, table);
    const auto elements = random_bfloat16s(table.size() * pages.layout().bytes() / 2, 1.0F, random);
    memory.resize(elements.size() / 8);
    std::memcpy(memory.data(), elements.data(), elements.size() * 2);
    states = random_floats(lengths.size() * of.hidden, 1.0F, random);
    cosines = random_floats(1024 * of.head / 2, 1.0F, random);
    sines = random_floats(1024 * of.head / 2, 1.0F, random);
  }

  /// Takes the states through the layers; the pages are those that it leaves.
  void run(const gpu::CudaKernels& kernels, bool norms, bool own_records = true) {
    const std::size_t rows = positions.size();
    const gpu::PageMemory view = gpu::pages_at(memory.data(), table.size(), pages.layout());
    std::vector<gpu::DenseLayer> layers;
    for (std::size_t layer = 0; layer < sizes.layers; ++layer) {
      const auto matrix = [&](std::size_t i) { return (*matrices)[4 * layer + i].packed.view(); };
      const auto vector = [&](std::size_t i) { return vectors[5 * layer + i].data(); };
      layers.push_back({vector(0), matrix(0), norms ? nullptr : vector(2),
                        norms ? vector(3) : nullptr, norms ? vector(4) : nullptr, matrix(1),
                        vector(1), matrix(2), matrix(3), pages.keys(view, layer),
                        pages.values(view, layer)});
    }
    gpu::TokenRows batch{rows, 513, nullptr, positions.data(), first_page.data(), table.data()};
    batch.own_records = own_records;
    const auto bfloat16s = [rows](std::size_t size) {
      return std::vector<gpu::simt::Vector16>(rows * size / 8 + 1);
    };
    auto normed = bfloat16s(sizes.hidden);
    auto attended = bfloat16s(sizes.heads * sizes.head);
    auto gated = bfloat16s(sizes.inner);
    Floats projected(rows * shape.row_floats, std::numeric_limits<float>::quiet_NaN());
    const auto inputs = [](std::vector<gpu::simt::Vector16>& of) {
      return gpu::ProductInputs{nullptr, reinterpret_cast<std::uint16_t*>(of.data())};
    };
    kernels.run_dense_layers({shape,
                              sizes.inner,
                              1e-6F,
                              {cosines.data(), sines.data()},
                              states.data(),
                              inputs(normed),
                              projected.data(),
                              inputs(attended),
                              inputs(gated)},
                             layers, batch);
  }
};

/// In the states, and whether the pages differ.
inline std::size_t differences(const LayersProblem& found, const LayersProblem& expected) {
  return different(found.states, expected.states) +
         (std::memcmp(found.memory.data(), expected.memory.data(),
                      found.memory.size() * sizeof found.memory[0]) == 0
              ? 0U
              : 1U);
}

/// Kernels of which a product in the layers is cut to its single segments, as `adding` says.
inline void cut_products(const gpu::CudaKernels& kernels, const LayersProblem& problem,
                         unsigned units, gpu::Adding adding) {
  gpu::CudaKernels::Device& device = kernels.device();
  const auto make_plan = [&](std::size_t i, std::size_t out, bool gated) {
    device.plan_of((*problem.matrices)[i].packed.view(), problem.positions.size(), out, gated,
                   gpu::joined_blocks(device, problem.shape));
  };
  make_plan(0, problem.shape.row_floats, false);
  make_plan(1, problem.sizes.hidden, false);
  make_plan(2, problem.sizes.inner, true);
  make_plan(3, problem.sizes.hidden, false);
  for (auto& [key, plan] : device.plans.all()) {
    if (plan.segments == 1) continue;
    plan.part_segments = 1;
    plan.parts = plan.segments;
    plan.window = 1;
    plan.job_units = units;
    plan.adding = adding;
  }
}

inline gpu::CudaKernels joined_kernels(std::uint64_t seed) {
  return gpu::CudaKernels(seed, std::nullopt, gpu::StepForm::joined);
}

}  // namespace tempera::tests
