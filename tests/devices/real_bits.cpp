// Section "bits": at the size of a real model, that forms which change no bit change none: graphs,
// joined layers and launches; a row alone and in a batch; rows that share pages, together and
// alone; pages of 8 bits and `integer` in the same ways; a product in chunks and by four warps,
// however its results end.
#include <bit>
#include <map>
#include <type_traits>

#include "base/sha256.hpp"
#include "gpu/device/device_system.hpp"
#include "gpu/llm/transformer/kernels/cuda/integer_kernels.hpp"
#include "gpu/llm/transformer/kernels/cuda/warpgroup_plan.hpp"
#include "gpu/llm/transformer/model_shapes.hpp"
#include "gpu/llm/transformer/weights/filled_tensors.hpp"
#include "tests/devices/model_products.hpp"
#include "tests/devices/own_arithmetic.hpp"
#include "tests/devices/part.hpp"
#include "tests/devices/product_by_plan.hpp"
#include "tests/devices/some_inputs.hpp"
#include "tests/devices/step_times.hpp"
#include "tests/gpu/llm/transformer/default_kernels.hpp"

namespace tempera::gpu {

namespace {

using Caches = std::vector<std::unique_ptr<Cache>>;
using Tokens = std::vector<std::vector<ScoredToken>>;  ///< of each record, step after step

/// The comparisons of the section, each printed when it is made.
class Comparisons {
 public:
  void compare(const std::string& what, bool are_equal) {
    std::printf("{\"section\":\"bits\",\"what\":\"%s\",\"equal\":%s}\n", what.c_str(),
                are_equal ? "true" : "false");
    std::fflush(stdout);
    ++made_;
    if (!are_equal) different_.push_back(what);
  }
  Finding finding() const {
    Finding finding;
    finding.verdict = different_.empty() ? Finding::Verdict::holds : Finding::Verdict::fails;
    finding.words =
        std::to_string(different_.size()) + " of " + std::to_string(made_) + " comparisons differ";
    if (!different_.empty()) finding.words += ": " + different_.front();
    finding.numbers = {{"comparisons", made_}, {"different", different_}};
    return finding;
  }

 private:
  std::size_t made_ = 0;
  std::vector<std::string> different_;
};

/// Three tokens of each of these forks of `caches`, drawn side by side.
Tokens drawn(Transformer& model, const Caches& caches, std::span<const std::uint32_t> records) {
  const auto rows = make_cuda_row_lottery();
  PhiloxLottery lottery;
  DeviceMemory<float> logits;
  const std::vector<double> powers{1.0, 1.8, 2.4};
  Caches forks;
  for (const std::uint32_t record : records)
    forks.push_back(caches[record]->fork(caches[record]->length()));
  Tokens tokens(records.size());
  for (std::uint32_t step = 0; step < 3; ++step) {
    std::vector<TokenId> next;
    for (std::size_t row = 0; row < records.size(); ++row)
      next.push_back(step == 0 ? 7 : tokens[row].back().id);
    std::vector<Pass> passes;
    std::vector<RowDraw> draws;
    for (std::size_t row = 0; row < records.size(); ++row) {
      passes.push_back({forks[row].get(), {&next[row], 1}});
      draws.push_back({powers, records[row] % 3, {5, {records[row], 0, 0, 0, step}}});
    }
    const auto scored = model.next_tokens(passes, draws, *rows, lottery, logits);
    for (std::size_t row = 0; row < records.size(); ++row) tokens[row].push_back(scored[row]);
  }
  return tokens;
}

std::vector<TokenId> prompt_of(std::uint32_t record, std::size_t length, std::size_t vocabulary) {
  std::vector<TokenId> tokens(length);
  for (std::size_t i = 0; i < length; ++i)
    tokens[i] = static_cast<TokenId>((i * 7919 + record * 104729) % vocabulary);
  return tokens;
}

/// Whole steps of a model of such kernels, in every one of these forms.
template <class CudaForm>
void compare_steps(Comparisons& all, const std::string& name, const ModelShape& shape,
                   const CudaForm& kernels, std::span<const StepForm> forms, std::size_t length,
                   std::size_t forks) {
  const auto model = filled_qwen3(shape.config, 3, kernels);
  Caches caches;
  DeviceMemory<float> logits;
  constexpr std::uint32_t records = 8;
  std::vector<std::vector<TokenId>> prompts;
  std::vector<Pass> passes;
  for (std::uint32_t record = 0; record < records; ++record) {
    prompts.push_back(prompt_of(record, length, model->vocabulary_size()));
    caches.push_back(model->empty_cache());
  }
  for (std::uint32_t record = 0; record < records; ++record)
    passes.push_back({caches[record].get(), prompts[record]});
  model->next_logits(passes, logits);
  const std::vector<std::uint32_t> every{0, 1, 2, 3, 4, 5, 6, 7};
  const Tokens expected = drawn(*model, caches, every);
  for (const StepForm form : forms) {
    const char* const form_name = form == StepForm::joined ? "joined" : "launch by launch";
    for (const std::size_t rows : {1U, 4U, 8U}) {
      Tokens found;
      with_form(kernels, form, [&] {
        for (std::size_t begin = 0; begin < records; begin += rows) {
          for (auto& tokens : drawn(*model, caches, std::span(every).subspan(begin, rows)))
            found.push_back(std::move(tokens));
        }
      });
      all.compare(name + ", " + form_name + ", B = " + std::to_string(rows), found == expected);
    }
  }
  if constexpr (std::is_same_v<CudaForm, CudaKernels>) {
    for (const JoinedTrial trial : joined_trials) {
      if (trial == JoinedTrial::none ||
          page_elements(kernels.arithmetic()) != PageElements::bfloat16)
        continue;
      for (const std::size_t rows : {1U, 8U}) {
        Tokens found;
        with_trial(kernels, trial,
                   [&] { found = drawn(*model, caches, std::span(every).first(rows)); });
        all.compare(name + ", joined, " + name_of(trial) + ", B = " + std::to_string(rows),
                    std::equal(found.begin(), found.begin() + rows, expected.begin()));
      }
    }
  }
  // A prompt in two parts, alone.
  Caches parts;
  parts.push_back(model->empty_cache());
  const std::span<const TokenId> prompt(prompts[0]);
  for (const auto& part : {prompt.first(length / 3), prompt.subspan(length / 3)}) {
    const Pass pass{parts[0].get(), part};
    model->next_logits({&pass, 1}, logits);
  }
  const std::vector<std::uint32_t> first{0};
  all.compare(name + ", a prompt in two parts", drawn(*model, parts, first)[0] == expected[0]);
  // Forks that share their pages, together and alone.
  Caches shared;
  std::vector<std::uint32_t> together;
  for (std::uint32_t fork = 0; fork < forks; ++fork) {
    shared.push_back(caches[fork / 4 % records]->fork(length));
    together.push_back(fork);
  }
  const Tokens of_all = drawn(*model, shared, together);
  bool are_equal = true;
  for (const std::uint32_t fork : {std::uint32_t{0}, std::uint32_t{5}, together.back()}) {
    const std::vector<std::uint32_t> alone{fork};
    are_equal = are_equal && drawn(*model, shared, alone)[0] == of_all[fork];
  }
  all.compare(name + ", " + std::to_string(forks) + " rows that share pages, and alone", are_equal);
  if constexpr (std::is_same_v<CudaForm, CudaKernels>) {
    // More rows by nine, so that multiples of 8 are fewer slots.
    for (std::uint32_t fork = 0; fork < 9; ++fork) {
      shared.push_back(caches[fork % records]->fork(length));
      together.push_back(static_cast<std::uint32_t>(forks) + fork);
    }
    Tokens by_eights;
    with_slots_by_eights(kernels, [&] { by_eights = drawn(*model, shared, together); });
    all.compare(name + ", " + std::to_string(together.size()) + " rows in slots by eights",
                by_eights == drawn(*model, shared, together));
  }
}

template <class T>
std::string digest_of(const DeviceMemory<T>& memory, std::size_t count) {
  const std::vector<T> values = memory.download(0, count);
  return sha256({reinterpret_cast<const char*>(values.data()), count * sizeof(T)});
}

/// A layer's products and its head, in chunks and by the best plan of four warps.
void compare_products(Comparisons& all, const ModelShape& shape, const CudaKernels& kernels,
                      std::span<const std::size_t> batches) {
  const ProductDevice device = product_device(kernels);
  if (!device.warpgroups) return;
  for (const ModelProduct& product : products_of(shape.config)) {
    FilledTensors tensors(7);
    const PackedMatrix matrix =
        product.is_gated()
            ? tensors.stacked({{"gate", product.out}, {"up", product.out}}, product.in,
                              kernels.arithmetic())
            : tensors.matrix("weights", product.out, product.in, kernels.arithmetic());
    const std::vector<ProductEnd> ends = product.is_head ? std::vector{ProductEnd::logits}
                                         : product.is_gated()
                                             ? std::vector{ProductEnd::gate}
                                             : std::vector{ProductEnd::store, ProductEnd::add};
    for (const std::size_t rows : batches) {
      if (product.is_head && rows > 64) continue;
      const auto sizes = [&](auto plan_for) {
        return plan_for(static_cast<unsigned>(rows), static_cast<unsigned>(product.in),
                        static_cast<unsigned>(product.out),
                        static_cast<unsigned>(matrix.out / lanes), product.is_gated());
      };
      const auto chunks =
          sizes([&](auto... size) { return plan_product(size..., device, WeightForm::quantised); });
      const auto warps = sizes([&](auto... size) { return plan_warpgroups(size..., device); });
      if (!warps) continue;
      auto inputs = some_inputs(rows * product.in);
      const std::size_t results = rows * product.out;
      for (const ProductEnd end : ends) {
        const auto digest = [&](const ProductPlan& plan) {
          DeviceMemory<float> floats(rows * padded(product.out));
          DeviceMemory<std::uint16_t> gated(results);
          DeviceMemory<float> largest(rows * (product.out + tile_outputs - 1) / tile_outputs +
                                      rows);
          multiply_by_plan(kernels, plan, matrix.view(), inputs.data(), end,
                           {floats.data(), gated.data(), largest.data()});
          return end == ProductEnd::gate ? digest_of(gated, results)
                 : end == ProductEnd::logits
                     ? digest_of(floats, results) + digest_of(largest, rows * (product.out / 16))
                     : digest_of(floats, results);
        };
        all.compare(std::string(shape.name) + ", " + product.name +
                        (end == ProductEnd::add ? ", added" : "") +
                        ", B = " + std::to_string(rows) + ", in chunks and by four warps",
                    digest(chunks) == digest(*warps));
      }
    }
  }
}

}  // namespace

Finding bits_at_real_size() {
  const bool on_device = device_system() == "CUDA";
  const ModelShape& shape = *find_model_shape(on_device ? "qwen3-8b" : "tiny");
  const std::size_t length = on_device ? 600 : 20;
  Comparisons all;
  const CudaKernels& kernels = measured_kernels();
  if (on_device) {
    constexpr std::size_t batches[] = {40, 64, 200, 512};
    compare_products(all, shape, kernels, batches);
  } else {
    constexpr std::size_t batches[] = {40};
    compare_products(all, shape, kernels, batches);
  }
  const std::size_t forks = on_device ? 64 : 8;
  constexpr StepForm forms[] = {StepForm::joined, StepForm::launches};
  compare_steps(all, std::string(shape.name), shape, kernels, forms, length, forks);
  const CudaKernels eight_bits(9, std::nullopt, StepForm::graph, own_arithmetic_of_8_bit_pages());
  compare_steps(all, std::string(shape.name) + ", pages of 8 bits", shape, eight_bits, forms,
                length, forks);
  // A smaller one: no device has said how fast these simple kernels are.
  const ModelShape& simple = *find_model_shape(on_device ? "qwen3-4b" : "tiny");
  compare_steps(all, std::string(simple.name) + ", integer", simple, CudaIntegerKernels(9),
                std::span(forms).last(1), length / 2, 8);
  return all.finding();
}

}  // namespace tempera::gpu
