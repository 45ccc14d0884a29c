#include "tests/devices/tempered_bits.hpp"

#include "gpu/device/device_system.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

std::vector<std::uint64_t> tempered_bits(LanguageModel& model, RowLottery& rows,
                                         const TemperedCase& runs, std::size_t largest_batch,
                                         WorkOrder order) {
  const Ladder ladder(runs.powers);
  PhiloxLottery lottery;
  Engine engine(model, rows, lottery, largest_batch, order);
  std::vector<Chain> all;
  for (std::uint32_t prompt = 0; prompt < runs.contexts.size(); ++prompt) {
    const std::shared_ptr<Cache> cache = model.empty_cache();
    for (std::uint32_t sample = 0; sample < runs.samples; ++sample) {
      all.push_back({engine, runs.contexts[prompt], ladder, runs.seed});
      all.back().prompt_index = prompt;
      all.back().sample_index = sample;
      all.back().prompt_cache = cache;
    }
  }
  std::vector<Progress> progress(all.size());
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < all.size(); ++i)
    tasks.push_back(parallel_power_tempering(all[i], runs.plan, progress[i]));
  engine.run(tasks);
  std::vector<std::uint64_t> bits;
  for (const Progress& one : progress) {
    for (const Record& record : one.replicas) {
      for (const TokenId token : record.token_ids()) bits.push_back(token);
      bits.push_back(to_bits(record.log_p0()));
      for (Rung k = 0; k < ladder.rungs(); ++k)
        bits.push_back(to_bits(record.sum_log_z(1, record.length(), k)));
    }
  }
  return bits;
}

std::string TensorCoreForm::words() const {
  return std::string(kernels.name()) + ", " + std::string(name_of(kernels.arithmetic())) +
         (steps == nullptr ? ", row by row" : ", by steps");
}

std::unique_ptr<RowLottery> TensorCoreForm::make_rows() const {
  return steps != nullptr ? make_cuda_row_lottery() : make_device_row_lottery();
}

std::vector<TensorCoreForm> tensor_core_forms() {
  const Kernels& own = default_kernels(own_arithmetic());
  static const CudaKernels launches(6, std::nullopt, StepForm::launches, own_arithmetic());
  static const CudaKernels joined(8, std::nullopt, StepForm::joined, own_arithmetic());
  if (device_system() == "CUDA")
    return {{own, false, &dynamic_cast<const CudaKernels&>(own), StepForm::graph},
            {launches, false, &launches, StepForm::launches},
            {joined, false, &joined, StepForm::joined}};
  static const CudaKernels graphs(5);
  static const CudaKernels of_ampere(5, std::nullopt, StepForm::graph,
                                     Arithmetic::tensor_core_ampere);
  return {{own, false, nullptr, StepForm::graph},
          {graphs, true, nullptr, StepForm::graph},
          {graphs, true, &graphs, StepForm::graph},
          {launches, true, &launches, StepForm::launches},
          {joined, true, &joined, StepForm::joined},
          {default_kernels(Arithmetic::tensor_core_ampere), false, nullptr, StepForm::graph},
          {of_ampere, true, &of_ampere, StepForm::graph}};
}

std::vector<TensorCoreForm> forms_of_8_bit_pages() {
  const Kernels& own = default_kernels(own_arithmetic_of_8_bit_pages());
  if (device_system() == "CUDA")
    return {{own, false, &dynamic_cast<const CudaKernels&>(own), StepForm::graph}};
  static const CudaKernels graphs(5, std::nullopt, StepForm::graph,
                                  Arithmetic::tensor_core_8_bit_pages);
  return {{own, false, nullptr, StepForm::graph},
          {default_kernels(Arithmetic::tensor_core_ampere_8_bit_pages), false, nullptr,
           StepForm::graph},
          {graphs, true, &graphs, StepForm::graph}};
}

}  // namespace tempera::gpu
