#pragma once

#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "gpu/llm/transformer/kernels/cuda/product_launch.hpp"
#include "tests/catch.hpp"
#include "tests/simt/transformer/contract.hpp"

namespace tempera::tests {

constexpr std::size_t hopper_shared_bytes = 227 * 1024;

/// A product, its inputs for `rows` rows, and its results by the contract.
struct Problem {
  unsigned in;
  unsigned out;
  unsigned rows;
  Bfloat16s weights;
  Bfloat16s inputs;  // [rows, in]
  std::vector<std::uint32_t> fragments;
  Floats expected;  // [rows, out]

  Problem(unsigned inputs_count, unsigned outputs_count, unsigned seed, unsigned rows_count = 70)
      : in(inputs_count), out(outputs_count), rows(rows_count) {
    std::mt19937 random(seed);
    weights = random_bfloat16s(std::size_t{out} * in, 0.3f, random);
    inputs = random_bfloat16s(std::size_t{rows} * in, 1.0f, random);
    fragments = packed_fragments(weights, out, in);
    expected.resize(std::size_t{rows} * out);
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned o = 0; o < out; ++o) expected[row * out + o] = by_contract(row, o);
    }
  }

  float by_contract(unsigned row, unsigned output, std::size_t segment = 512) const {
    return contract_product({&weights[std::size_t{output} * in], in},
                            {&inputs[std::size_t{row} * in], in}, segment);
  }

  /// The rows in slots 0, 1, ….
  Bfloat16s inputs_of(const std::vector<unsigned>& chosen) const {
    Bfloat16s result;
    for (const unsigned row : chosen) {
      result.insert(result.end(), &inputs[std::size_t{row} * in],
                    &inputs[std::size_t{row} * in] + in);
    }
    return result;
  }
  Floats expected_of(const std::vector<unsigned>& chosen) const {
    Floats result;
    for (const unsigned row : chosen) {
      result.insert(result.end(), &expected[std::size_t{row} * out],
                    &expected[std::size_t{row} * out] + out);
    }
    return result;
  }
};

template <class Epilogue>
using ProductLaunch = void (*)(gpu::simt::Stream&, const gpu::ProductPlan&,
                               const gpu::ProductOperands&, const Epilogue&);

/// A launch with memory of exactly the size that the plan asks for.
template <class Epilogue>
void run_product(gpu::simt::Stream& stream, const gpu::ProductPlan& plan,
                 const std::vector<std::uint32_t>& fragments, const Bfloat16s& inputs,
                 const Epilogue& epilogue, ProductLaunch<Epilogue> launch = gpu::launch_product) {
  std::vector<gpu::simt::Vector16> aligned_fragments(fragments.size() / 4);
  std::memcpy(aligned_fragments.data(), fragments.data(), fragments.size() * 4);
  std::vector<gpu::simt::Vector16> aligned_inputs(inputs.size() / 8 + 1);
  std::memcpy(aligned_inputs.data(), inputs.data(), inputs.size() * 2);
  Floats scratch(plan.scratch_floats(), std::numeric_limits<float>::quiet_NaN());
  std::vector<std::uint32_t> counters(plan.counters());
  launch(stream, plan,
         {aligned_fragments.data(),
          {reinterpret_cast<const std::uint16_t*>(aligned_inputs.data())},
          scratch.data(),
          counters.data()},
         epilogue);
  for (const std::uint32_t counter : counters) REQUIRE(counter == 0);
}

/// The results of those rows.
inline Floats stored(const Problem& problem, const std::vector<unsigned>& rows,
                     const gpu::ProductPlan& plan, gpu::simt::Stream& stream) {
  Floats outputs(rows.size() * problem.out, std::numeric_limits<float>::quiet_NaN());
  run_product(stream, plan, problem.fragments, problem.inputs_of(rows),
              gpu::StoreProduct{outputs.data(), nullptr});
  return outputs;
}

/// bf16(g / (1 + exp(−g)) · u) of both problems' results for inputs of the first.
inline Bfloat16s gated_results(const Problem& gate, const Problem& up,
                               const std::vector<unsigned>& rows) {
  Bfloat16s results;
  for (const unsigned row : rows) {
    for (unsigned o = 0; o < gate.out; ++o) {
      const float g = gate.expected[row * gate.out + o];
      const float u = contract_product({&up.weights[std::size_t{o} * up.in], up.in},
                                       {&gate.inputs[std::size_t{row} * gate.in], gate.in});
      results.push_back(gpu::to_bfloat16(g / (1.0f + gpu::float32_exponential(-g)) * u));
    }
  }
  return results;
}

}  // namespace tempera::tests
