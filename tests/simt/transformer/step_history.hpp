#pragma once

#include <map>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "gpu/llm/transformer/architectures/qwen3.hpp"
#include "gpu/llm/transformer/transformer.hpp"

namespace tempera::tests {

/// What the layers of a model are.
enum class StepLayers {
  attending,  ///< one that attends
  recurrent,  ///< one that is recurrent, and one that attends
};

/// A random history of records that are extended, forked and dropped, in batches of any rows, on
/// two models of the same weights: one by whole steps of the device, on fibers, the other row by
/// row on the host.
class StepHistory {
 public:
  /// kernels: on fibers, with a TokenStep.
  StepHistory(const gpu::Kernels& kernels, unsigned seed,
              StepLayers layers = StepLayers::attending);

  gpu::Transformer& on_device() { return *device_.model; }

  /// One batch: each row draws a token of its own ladder. A record computes the token that it drew
  /// last, another one, several, or none.
  /// @return how many rows differ, in the token or in a bit of its scores
  std::size_t differences_of_a_batch(std::size_t rows);

  /// One batch of the same records, one token each, the one that was drawn last.
  std::size_t differences_of_a_decode_step();

  /// Batches of forks of one record that share its first 256 positions, beside one that shares
  /// nothing, and then without some of these forks, so that slots are nobody's.
  std::size_t differences_of_long_forks();

 private:
  struct Side {
    std::unique_ptr<gpu::Transformer> model;
    std::unique_ptr<gpu::RowLottery> rows;
    gpu::DeviceMemory<float> logits{};
  };
  struct Twin {
    std::unique_ptr<gpu::Cache> on_device;
    std::unique_ptr<gpu::Cache> on_host;
    gpu::TokenId drawn = 0;
  };
  using Text = std::vector<gpu::TokenId>;

  std::size_t draw(const std::vector<std::size_t>& chosen, const std::vector<Text>& added);
  Text random_text(std::size_t length);
  Twin fork_of(const Twin& twin, std::size_t length) const;

  std::mt19937 random_;
  Side device_;
  Side host_;
  std::vector<Twin> records_;
  std::vector<std::size_t> last_batch_;
  std::uint32_t turn_ = 0;
};

/// The models of these tests.
gpu::DecoderConfig step_config();
std::unique_ptr<gpu::Transformer> step_model(const gpu::Kernels& kernels, StepLayers layers);

}  // namespace tempera::tests
